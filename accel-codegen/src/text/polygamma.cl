// The polygamma functions, by the same method as accel-core's: Euler-Maclaurin for positive arguments, reflection for negative ones.

constant f64 bernoulli[12] = {
    8.333333333333333e-2, -1.388888888888889e-3, 3.306878306878307e-5, -8.267195767195768e-7,
    2.0876756987868097e-8, -5.284190138687493e-10, 1.3382536530684678e-11, -3.389680296322583e-13,
    8.586062056277844e-15, -2.174868698558062e-16, 5.50900282836023e-18, -1.3954464685812523e-19,
};

static f64 integer_power(f64 x, int n) {
    f64 y = 1;
    for (; n > 0; n /= 2, x *= x) if (n % 2) y *= x;
    return y;
}

static f64 zeta_form(int n, f64 x) {
    const f64 s = n + 1.0, sign = n % 2 ? 1.0 : -1.0;
    // (n - 1)! / x^n, which the result approaches for large x.
    f64 scale = 1 / x;
    for (int i = 1; i < n; i++) scale *= i / x;
    if (isinf(scale) || scale == 0) return sign * scale;
    f64 sum = 0, y = x;
    for (; y < 15 + s; y += 1) sum += integer_power(x / y, n + 1);
    f64 tail = y / n + 0.5, rising = s / y;
    for (int i = 0; i < 12; i++) {
        tail += bernoulli[i] * rising;
        const f64 k = 2 * i + 1;
        rising *= (s + k) / y * ((s + k + 1) / y);
    }
    sum += integer_power(x / y, n + 1) * tail;
    return sign * scale * (n / x * sum);
}

static f64 digamma(f64 x) {
    // The positive zero, where the general formula would cancel.
    const f64 root = 1.4616321449683622, d = x - root;
    if (fabs(d) < 0.2) {
        f64 sum = -9.241265521729427e-17, power = 1;
        for (int k = 1; k <= 20; k++) {
            power *= d / k;
            sum += zeta_form(k, root) * power;
        }
        return sum;
    }
    f64 y = x, below = 0;
    for (; y < 15; y += 1) below += 1 / y;
    const f64 z = 1 / (y * y);
    f64 term = z, series = 0;
    for (int i = 0; i < 12; i++) {
        const f64 k = 2 * i + 2;
        series += bernoulli[i] * term;
        term *= k * (k + 1) * z;
    }
    return log(y) - 0.5 / y - series - below;
}

// The derivative of order `n` of `pi cot(pi x)`: a polynomial in the cotangent.
static f64 cot_derivative(int n, f64 x) {
    const f64 r = x - round(x), pi = 3.141592653589793;
    const f64 cot = fabs(r) <= 0.25 ? 1 / tan(pi * r) : copysign(tan(pi * (0.5 - fabs(r))), r);
    f64 p[258] = { 0, 1 }, next[258];
    for (int k = 1; k <= n; k++) {
        for (int i = 0; i <= k + 1; i++) next[i] = 0;
        for (int i = 1; i <= k; i++) {
            const f64 d = -p[i] * i / k;
            next[i - 1] += d;
            next[i + 1] += d;
        }
        for (int i = 0; i <= k + 1; i++) p[i] = next[i];
    }
    f64 value = 0;
    for (int i = n + 1; i >= 0; i--) value = value * cot + p[i];
    value *= pi;
    for (int i = 1; i <= n; i++) value *= i * pi;
    return value;
}

static f64 polygamma(int n, f64 x) {
    const f64 sign = n % 2 ? -1.0 : 1.0;
    if (isnan(x) || x == -INFINITY) return NAN;
    if (x <= 0 && x == floor(x)) return n > 0 ? -sign * INFINITY : x == 0 ? -1 / x : NAN;
    const f64 y = x > 0 ? x : 1 - x;
    const f64 value = n == 0 ? digamma(y) : zeta_form(n, y);
    return x > 0 ? value : sign * value - cot_derivative(n, x);
}
