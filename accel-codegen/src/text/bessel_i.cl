// The modified Bessel functions, by the same method as accel-core's: a mean over angles, and the asymptotic series.

// 1 - cos(pi k / 32)
constant f64 heights[17] = {
    0.0, 0.004815273327803114, 0.019214719596769552, 0.043059664267791134, 0.07612046748871325, 0.11807873565164496,
    0.16853038769745476, 0.22698954663726303, 0.2928932188134525, 0.3656067158363545, 0.44442976698039777,
    0.5286032631740023, 0.6173165676349103, 0.7097153227455376, 0.8049096779838717, 0.9019828596704395, 1.0,
};

static f64 bessel_i(int n, f64 x) {
    const int power = n > 1 ? n - 1 : 0;
    const f64 magnitude = fabs(x), z = 2 * magnitude;
    f64 value;
    if (isinf(x)) {
        value = 0;
    } else if (magnitude < 30) {
        f64 sum = 0, rest = 0;
        for (int k = 0; k <= 32; k++) {
            const f64 c = k <= 16 ? heights[k] : 2 - heights[32 - k];
            f64 term = (k % 32 ? 1.0 : 0.5) * exp(-magnitude * c);
            if (n == 1) term *= c * (2 - c);
            for (int i = 0; i < power; i++) term *= c;
            const f64 next = sum + term;
            rest += (sum - next) + term;
            sum = next;
        }
        value = (sum + rest) / 32;
        if (n == 1) value *= magnitude;
    } else {
        const f64 a = n == 1 ? 1.5 : power + 0.5, b = n == 1 ? -0.5 : 0.5;
        f64 series = 0;
        for (int k = 40; k >= 0; k--) series = 1 + series * ((a + k) * (b + k) / ((k + 1.0) * z));
        value = series / (4 * sqrt(3.141592653589793 * (magnitude / 8)));
        for (int k = 0; k < power; k++) value *= (2 * k + 1) / z;
    }
    return n == 1 ? copysign(value, x) : value;
}
