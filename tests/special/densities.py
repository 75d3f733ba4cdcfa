#!/usr/bin/env python3
"""Prints the table densities.txt: log densities, log distribution functions and their derivatives at chosen points, computed with 120 digits.

    python3 tests/special/densities.py > tests/special/densities.txt     (mpmath 1.3.0)

A line has the name of the function, its arguments, its value, and its derivatives by all arguments, where those by counts are `-`. After each of these
numbers stands its condition: how much it changes, to first order, if the arguments change by a factor of e. There are 50 points for each function:
some in the tails and for large parameters, the others at random.
"""

import random
from mpmath import atan, besseli, betainc, cos, erfc, exp, expm1, gammainc, inf, log, log1p, loggamma, mp, mpf, pi, quad, sqrt

mp.dps = 120


def lower(a, x):
    return gammainc(a, 0, x, regularized=True)


def upper(a, x):
    return gammainc(a, x, inf, regularized=True)


def log_gamma_density(x, a, b):
    return a * log(b) - loggamma(a) + (a - 1) * log(x) - b * x


def log_beta(a, b):
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def log_choose(n, k):
    return loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1)


def incomplete_beta(a, b, x):
    return betainc(a, b, 0, x, regularized=True)


def normal(x, m, s):
    return -((x - m) / s) ** 2 / 2 - log(s) - log(2 * pi) / 2


def neg_binomial_2(n, m, f):
    return loggamma(n + f) - loggamma(n + 1) - loggamma(f) + n * log(m / (m + f)) + f * log(f / (m + f))


def ncdf_tail(z):
    return erfc(-z / sqrt(mpf(2))) / 2


# Name: the function, the kinds of its arguments, and points that are chosen. A kind is the logarithmic range of positive numbers, `real`, `unit`, `angle`, or the range of counts.
REAL, UNIT, ANGLE = "real", "unit", "angle"
SCALE = (-3, 3)
TAILS = [(0, 0, 1), (30, 0, 1), (-30, 0, 1), (1e5, 1, 2), (-1e5, 1, 2), (1e150, 0, 1), (3, 3, 1e-5), (1e-9, 0, 1)]
MODERATE = [(0, 0, 1), (8, 0, 1), (-8, 0, 1), (36, 1, 1), (-36, 1, 1), (90, 0, 2), (-90, 0, 2)]
POSITIVE = [(1e-3, 0.5, 1), (1e-10, 0.25, 2), (1e4, 1e4, 1), (1.002e6, 1e6, 1), (40, 2, 3), (1e-2, 3, 1), (0.5, 1, 1), (0.5, 1e-3, 1), (9e5, 1e6, 1)]
# Near the middle, far away, with few and with many degrees of freedom.
STUDENT = [(0, 3, 0, 1), (1e-9, 2, 0, 1), (0.6, 1e6, 0, 1), (-4, 1e9, 0, 1), (4, 1e6, 0, 1), (-30, 1e4, 0, 1), (1e150, 2, 0, 1), (-1e150, 2, 0, 1)]
STUDENT += [(1e200, 0.01, 0, 1), (-1e200, 1, 0, 1), (-2, 1e-3, 0, 1), (0.31, 1, 0, 1), (0.32, 1, 0, 1), (-0.7, 7, 0, 1), (-0.71, 7, 0, 1)]
# The tails, and means of which the other side of the circle is nearer.
VON_MISES = [(-3, 0, 1e4), (-1, 0, 700), (3, 0, 50), (0.01, 0, 1e5), (1, 0.5, 0), (-3.1, 3, 5), (-3.1, 3, 1e3), (3.1, -3, 5), (-0.2, 3, 20), (2, -1, 30), (1, 40, 2), (3.1, 3, 0.5)]

FUNCTIONS = {
    "normal_lpdf": (normal, (REAL, REAL, SCALE), [p for p in TAILS if abs(p[0]) < 1e100]),
    "normal_lcdf": (lambda x, m, s: log(ncdf_tail((x - m) / s)), (REAL, REAL, (-1, 1)), MODERATE),
    "normal_lccdf": (lambda x, m, s: log(ncdf_tail((m - x) / s)), (REAL, REAL, (-1, 1)), MODERATE),
    "student_t_lpdf": (
        lambda x, n, m, s: loggamma((n + 1) / 2) - loggamma(n / 2) - log(n * pi) / 2 - log(s) - (n + 1) / 2 * log1p(((x - m) / s) ** 2 / n),
        (REAL, SCALE, REAL, SCALE),
        [(0, 1, 0, 1), (30, 3, 0, 1), (1e150, 2, 0, 1), (1e200, 1, 0, 1), (1, 1e9, 0, 1), (5, 1e6, 0, 1), (-40, 1e7, 0, 1), (1e-8, 0.01, 0, 1), (2, 19.9, 0, 1)],
    ),
    "student_t_lcdf": (lambda x, n, m, s: log(student_t((x - m) / s, n)), (REAL, (-1.5, 2), REAL, (-0.5, 1)), STUDENT),
    "student_t_lccdf": (lambda x, n, m, s: log(student_t((m - x) / s, n)), (REAL, (-1.5, 2), REAL, (-0.5, 1)), STUDENT),
    "cauchy_lpdf": (lambda x, m, s: -log(pi) - log(s) - log1p(((x - m) / s) ** 2), (REAL, REAL, SCALE), TAILS),
    "cauchy_lcdf": (lambda x, m, s: log(atan2_part((x - m) / s)), (REAL, REAL, SCALE), TAILS),
    "cauchy_lccdf": (lambda x, m, s: log(atan2_part((m - x) / s)), (REAL, REAL, SCALE), TAILS),
    "laplace_lpdf": (lambda x, m, s: -abs(x - m) / s - log(2 * s), (REAL, REAL, SCALE), TAILS[1:5]),
    "laplace_lcdf": (lambda x, m, s: log_laplace((x - m) / s), (REAL, REAL, (-1, 1)), MODERATE[1:]),
    "laplace_lccdf": (lambda x, m, s: log_laplace((m - x) / s), (REAL, REAL, (-1, 1)), MODERATE[1:]),
    "logistic_lpdf": (lambda x, m, s: log_logistic((x - m) / s) + log_logistic((m - x) / s) - log(s), (REAL, REAL, (-1, 3)), TAILS[:5]),
    "logistic_lcdf": (lambda x, m, s: log_logistic((x - m) / s), (REAL, REAL, (-1, 1)), MODERATE),
    "logistic_lccdf": (lambda x, m, s: log_logistic((m - x) / s), (REAL, REAL, (-1, 1)), MODERATE),
    "von_mises_lpdf": (
        lambda x, m, k: k * cos(x - m) - log(2 * pi) - log(besseli(0, k)),
        (REAL, REAL, SCALE),
        [(0, 0, 1e-8), (1, 0.5, 0), (0.01, 0, 1e5), (3, 0, 700), (3, 0, 1e4), (1, 0, 0.999), (1, 0, 1.001)],
    ),
    "von_mises_lcdf": (lambda x, m, k: von_mises(x, m, k), (ANGLE, REAL, (-2, 2)), VON_MISES),
    "von_mises_lccdf": (lambda x, m, k: von_mises(-x, -m, k), (ANGLE, REAL, (-2, 2)), VON_MISES),
    "lognormal_lpdf": (lambda x, m, s: normal(log(x), m, s) - log(x), (SCALE, REAL, SCALE), [(1e-300, 0, 1), (1e300, 0, 1), (1, 0, 1)]),
    "lognormal_lcdf": (lambda x, m, s: log(ncdf_tail((log(x) - m) / s)), (SCALE, REAL, (-1, 1)), [(1e-15, 0, 1), (1e15, 0, 1)]),
    "lognormal_lccdf": (lambda x, m, s: log(ncdf_tail((m - log(x)) / s)), (SCALE, REAL, (-1, 1)), [(1e-15, 0, 1), (1e15, 0, 1)]),
    "exponential_lpdf": (lambda x, b: log(b) - b * x, (SCALE, SCALE), [(0, 2), (1e-300, 1), (1e5, 1), (1, 1e8)]),
    "exponential_lcdf": (lambda x, b: log(-expm1(-b * x)), (SCALE, (-2, 1)), [(1e-300, 1), (30, 1), (300, 1)]),
    "exponential_lccdf": (lambda x, b: -b * x, (SCALE, SCALE), [(1e-300, 1), (1e5, 1)]),
    "gamma_lpdf": (log_gamma_density, (SCALE, SCALE, SCALE), POSITIVE),
    "gamma_lcdf": (lambda x, a, b: log(lower(a, b * x)), ((-1, 1), (-1, 1), (-1, 1)), [(1e-3, 2, 1), (30, 2, 1), (90, 100, 1), (130, 100, 1)]),
    "gamma_lccdf": (lambda x, a, b: log(upper(a, b * x)), ((-1, 1), (-1, 1), (-1, 1)), [(1e-3, 2, 1), (30, 2, 1), (90, 100, 1), (130, 100, 1), (500, 3, 1)]),
    "inv_gamma_lpdf": (
        lambda x, a, b: log_gamma_density(1 / x, a, b) - 2 * log(x),
        (SCALE, SCALE, SCALE),
        [(1e-5, 2, 1), (1e10, 0.5, 1), (1, 1e6, 1e6), (1.001, 1e6, 1e6), (0.1, 1, 1)],
    ),
    "inv_gamma_lcdf": (lambda x, a, b: log(upper(a, b / x)), ((-1, 1), (-1, 1), (-1, 1)), [(0.02, 2, 1), (1e3, 2, 1)]),
    "inv_gamma_lccdf": (lambda x, a, b: log(lower(a, b / x)), ((-1, 1), (-1, 1), (-1, 1)), [(0.02, 2, 1), (1e3, 2, 1)]),
    "beta_lpdf": (
        lambda x, a, b: (a - 1) * log(x) + (b - 1) * log1p(-x) - log_beta(a, b),
        (UNIT, SCALE, SCALE),
        [(0.5, 1e6, 1e6), (0.501, 1e6, 1e6), (1e-100, 0.5, 0.5), (0.001, 2, 2e3), (1e-6, 3, 1e6), (0.25, 1, 1), (0.99, 100, 1)],
    ),
    "beta_lcdf": (lambda x, a, b: log(incomplete_beta(a, b, x)), (UNIT, (-1, 1), (-1, 1)), [(1e-10, 2, 3), (0.999, 2, 3), (0.5, 100, 100)]),
    "beta_lccdf": (lambda x, a, b: log(incomplete_beta(b, a, 1 - x)), (UNIT, (-1, 1), (-1, 1)), [(1e-10, 2, 3), (0.999, 2, 3), (0.5, 100, 100)]),
    "bernoulli_logit_lpmf": (lambda y, a: log_logistic(a) if y else log_logistic(-a), ([0, 1], REAL), [(0, 0), (1, 40), (0, 40), (1, -800), (0, -800)]),
    "poisson_lpmf": (
        lambda n, r: n * log(r) - r - loggamma(n + 1),
        ([0, 60], SCALE),
        [(0, 1e-10), (0, 700), (1000000, 1e6), (1001000, 1e6), (3, 1e-5), (100, 1e4)],
    ),
    "poisson_lcdf": (lambda n, r: log(upper(n + 1, r)), ([0, 60], (-1, 1.5)), [(0, 1e-3), (0, 100), (100, 90), (3, 60)]),
    "poisson_lccdf": (lambda n, r: log(lower(n + 1, r)), ([0, 60], (-1, 1.5)), [(0, 1e-3), (0, 100), (100, 90), (60, 3)]),
    "poisson_log_lpmf": (
        lambda n, a: n * a - exp(a) - loggamma(n + 1),
        ([0, 60], REAL),
        [(3, -800), (0, -800), (1000000, 13.8155), (1001000, 13.8155), (20, -50), (5, 6)],
    ),
    "binomial_lpmf": (
        lambda n, m, t: log_choose(m, n) + n * log(t) + (m - n) * log1p(-t),
        ([0, 20], [20, 60], UNIT),
        [(0, 10, 0.1), (10, 10, 0.1), (500000, 1000000, 0.5), (501000, 1000000, 0.5), (3, 1000000, 1e-6), (0, 0, 0.5), (5, 20, 1e-12)],
    ),
    "binomial_lcdf": (lambda n, m, t: log(incomplete_beta(m - n, n + 1, 1 - t)), ([0, 19], [20, 60], UNIT), [(0, 10, 0.9), (9, 10, 0.01)]),
    "binomial_lccdf": (lambda n, m, t: log(incomplete_beta(n + 1, m - n, t)), ([0, 19], [20, 60], UNIT), [(0, 10, 0.9), (9, 10, 0.01)]),
    "neg_binomial_2_lpmf": (
        neg_binomial_2,
        ([0, 60], SCALE, SCALE),
        [(0, 1, 1), (5, 4, 1e10), (5, 4, 1e-5), (100000, 1e5, 1e3), (3, 1e-8, 1), (1000, 1, 1)],
    ),
    "neg_binomial_2_lcdf": (lambda n, m, f: log(incomplete_beta(f, n + 1, f / (m + f))), ([0, 60], (-1, 1.5), (-1, 1)), [(0, 1, 1), (3, 60, 10)]),
    "neg_binomial_2_lccdf": (lambda n, m, f: log(incomplete_beta(n + 1, f, m / (m + f))), ([0, 60], (-1, 1.5), (-1, 1)), [(0, 1, 1), (60, 3, 10)]),
}


def student_t(z, n):
    w = n / (n + z * z)
    tail = betainc(n / 2, mpf(1) / 2, 0, w, regularized=True) / 2 if abs(z) > mpf(10) ** -40 else (1 - betainc(mpf(1) / 2, n / 2, 0, 1 - w, regularized=True)) / 2
    return tail if z < 0 else 1 - tail


def von_mises(x, m, k):
    """The logarithm of the integral of the density from -pi to x."""
    nearest = [m + 2 * pi * j for j in range(int(-m / (2 * pi)) - 2, int(-m / (2 * pi)) + 3)]
    most = max([k * cos(x - m), k * cos(-pi - m)] + [k for n in nearest if -pi < n < x])
    width = 1 / sqrt(k + 1)
    points = {-pi, x}
    for p in [-pi, x] + nearest:
        points |= {p + width * j for j in range(-24, 25, 6 if width > 0.2 else 3)}
    points = sorted(p for p in points if -pi <= p <= x)
    return log(quad(lambda t: exp(k * cos(t - m) - most), points, method="gauss-legendre")) + most - log(2 * pi * besseli(0, k))


def log_laplace(z):
    return z - log(mpf(2)) if z < 0 else log1p(-exp(-z) / 2)


def log_logistic(z):
    return -log1p(exp(-z)) if z > 0 else z - log1p(exp(z))


def atan2_part(z):
    return atan(-1 / z) / pi if z < 0 else mpf(1) / 2 + atan(z) / pi


def point(kinds, numbers):
    def one(kind):
        if kind == REAL:
            return float("%.6g" % numbers.gauss(0, 2))
        if kind == UNIT:
            return float("%.6g" % numbers.random())
        if kind == ANGLE:
            return float("%.6g" % numbers.uniform(-3.14, 3.14))
        if isinstance(kind, list):
            return numbers.randint(*kind)
        return float("%.6g" % 10 ** numbers.uniform(*kind))
    return tuple(one(kind) for kind in kinds)


def derivative(function, kinds, k):
    """The derivative by argument k, as a function."""
    def by(xs):
        step = mpf(10) ** -(mp.dps // 5 + 1)
        h = abs(xs[k]) * step + (step if kinds[k] in (REAL, ANGLE) else 0)
        f = lambda j: function([x + j * h if i == k else x for i, x in enumerate(xs)])
        if h == 0:
            # At the end of the domain.
            h = step
            return (-3 * f(0) + 4 * f(1) - f(2)) / (2 * h)
        return (f(1) - f(-1)) / (2 * h)
    return by


def line(name, function, kinds, xs):
    numbers = [k for k, kind in enumerate(kinds) if not isinstance(kind, list)]
    exact = [mpf(x) for x in xs]
    value = lambda xs: function(*xs)
    words = [name] + [repr(float(x)) if k in numbers else str(x) for k, x in enumerate(xs)]
    for f in [value] + [derivative(value, kinds, k) if k in numbers else None for k in range(len(xs))]:
        if f is None:
            words += ["-", "-"]
            continue
        # What a relative change of the arguments by one makes, to first order.
        change = sum(abs(exact[k] * derivative(f, kinds, k)(exact)) for k in numbers)
        words += [repr(float(f(exact))), "%.2g" % change]
    return " ".join(words)


for name, (function, kinds, chosen) in FUNCTIONS.items():
    # Integrals take long.
    mp.dps = 60 if name.startswith("von_mises_lc") else 120
    numbers = random.Random(name)
    points = chosen + [point(kinds, numbers) for _ in range(50 - len(chosen))]
    for xs in points:
        print(line(name, function, kinds, xs))
