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

// The positive zero of digamma, and the largest negative ones, between two poles each, and what remains.
constant f64 roots[21] = {
    1.4616321449683622, -0.5040830082644554, -1.5734984731623904, -2.6107208684441447, -3.635293366436901,
    -4.653237761743142, -5.6671624415568855, -6.678418213073427, -7.687788325031626, -8.695764163816401,
    -9.702672540001863, -10.708740838254144, -11.714133061228955, -12.718971025749207, -13.723347457363827,
    -14.727334416018529, -15.730988906332882, -16.734356723955734, -17.73747515997759, -18.7403749447801,
    -19.74308167259022,
};
constant f64 rests[21] = {
    9.549995429965697e-17, -8.15428206243813e-18, -1.574185691077347e-17, 9.881960746978353e-17,
    5.454396163173039e-17, -2.5492686201468193e-16, -3.2153051074948335e-18, 3.470798723495241e-16,
    -1.351562494643672e-16, -3.2859903716289447e-16, -3.2563178405401477e-16, -6.287211750540301e-16,
    8.598250154343834e-16, -4.752312432106917e-16, 4.528278691518058e-16, -3.6618399963139786e-17,
    1.0551956373365842e-16, -1.2039501631800144e-15, -5.125776230727235e-16, 7.757330874026816e-16,
    6.505672516695227e-16,
};

static f64 cot_pi(f64 x) {
    const f64 r = x - round(x), pi = 3.141592653589793;
    return fabs(r) <= 0.25 ? 1 / tan(pi * r) : copysign(tan(pi * (0.5 - fabs(r))), r);
}

// Of a finite number that is no pole; up to 15 by the zero between the same two poles, so that nothing cancels.
static f64 digamma(f64 x) {
    const f64 reflected = x < -20 ? -3.141592653589793 * cot_pi(x) : 0, above = x > 0 && x < 1 ? -1 / x : 0;
    if (x < -20) x = 1 - x;
    if (above != 0) x += 1;
    f64 factorial = 1, series = 0;
    if (x >= 15) {
        f64 power = 1 / (x * x);
        for (int i = 0; i < 12; i++) {
            series += bernoulli[i] * factorial * power;
            factorial *= (2 * i + 2) * (2 * i + 3);
            power /= x * x;
        }
        return log(x) - 0.5 / x - series + reflected;
    }
    const int root = x > 0 ? 0 : -(int)floor(x);
    const f64 rest = rests[root], d = (x - roots[root]) - rest;
    f64 r = roots[root], sum = 0, errors = 0;
    for (; r < 15; r += 1, x += 1) {
        const f64 term = 1 / ((r + rest) * x), next = sum + term, added = next - sum;
        errors += (sum - (next - added)) + (term - added);
        sum = next;
    }
    const f64 first = -d * (x + r) / (x * r * (x * r));
    f64 difference = first, power = 1;
    for (int i = 0; i < 12; i++) {
        series += bernoulli[i] * factorial * difference;
        factorial *= (2 * i + 2) * (2 * i + 3);
        power /= r * r;
        difference = difference / (x * x) + power * first;
    }
    return d * sum + (log1p(d / r) + (0.5 * d / (r * x) - series) + d * errors) + above;
}

// The derivative of order `n` of `pi cot(pi x)`: a polynomial in the cotangent.
static f64 cot_derivative(int n, f64 x) {
    const f64 cot = cot_pi(x), pi = 3.141592653589793;
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
    if (n == 0) return digamma(x);
    const f64 y = x > 0 ? x : 1 - x;
    const f64 value = zeta_form(n, y);
    return x > 0 ? value : sign * value - cot_derivative(n, x);
}
