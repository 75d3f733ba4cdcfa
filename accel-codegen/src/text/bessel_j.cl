// Bessel functions of the first kind: by the recurrence from large orders downwards (Miller's algorithm), and for large arguments by
// Hankel's asymptotic series (Abramowitz and Stegun, 9.12 and 9.2.5).

static f64 bessel_j(int n, f64 x) {
    const f64 r = fabs(x), sign = x < 0 && n % 2 ? -1.0 : 1.0;
    if (isnan(x)) return x;
    if (isinf(x)) return 0;
    if (r < 1e-8) {
        f64 y = sign;
        for (int k = 1; k <= n; k++) y *= r / (2 * k);
        return y;
    }
    if (r < 25 || r < n * n / 2.0) {
        const f64 large = fmax((f64)n, r);
        // b is the function of order k, a that of order k + 1. Each has a small part, since errors add up.
        f64 a = 0, a1 = 0, b = 1e-250, b1 = 0, value = 0, sum = 0, sum1 = 0;
        for (int k = 2 * (int)((large + 10 * cbrt(large) + 14) / 2); k > 0; k--) {
            if (k == n) value = b;
            if (k % 2 == 0) {
                const f64 s = sum + 2 * b, v = s - sum;
                sum1 += (sum - (s - v)) + (2 * b - v) + 2 * b1;
                sum = s;
            }
            const f64 q = 2 * k / r, q1 = fma(-q, r, 2.0 * k) / r, p = q * b, d = p - a, v = d - p;
            const f64 d1 = fma(q, b, -p) + q * b1 + q1 * b + (p - (d - v)) - (a + v) - a1;
            a = b, a1 = b1, b = d + d1, b1 = (d - b) + d1;
            if (fabs(b) > 1e200) {
                a *= 1e-250, a1 *= 1e-250, b *= 1e-250, b1 *= 1e-250, value *= 1e-250, sum *= 1e-250, sum1 *= 1e-250;
            }
        }
        return sign * ((n == 0 ? b : value) / (sum + b + (sum1 + b1)));
    }
    // The terms of P and Q, alternately, with alternating signs.
    f64 even = 0, odd = 0, term = 1;
    for (int k = 0; k < 60 && fabs(term) > 1e-18; k++) {
        const f64 signed_term = k & 2 ? -term : term, m = 2 * k + 1;
        if (k % 2) odd += signed_term; else even += signed_term;
        term *= (4.0 * n * n - m * m) / (8 * (k + 1) * r);
    }
    // sqrt(2) times the cosine and the sine of r - (2 n + 1) pi / 4
    f64 c = cos(r) + sin(r), s = sin(r) - cos(r);
    for (int k = 0; k < n % 4; k++) {
        const f64 t = c;
        c = s, s = -t;
    }
    return sign * (even * c - odd * s) / (sqrt(3.141592653589793) * sqrt(r));
}
