#!/usr/bin/env python3
"""Prints the table values.txt: functions and their derivatives at chosen points, computed with 60 digits.

    python3 tests/special/values.py > tests/special/values.txt     (mpmath 1.3.0)

A line has the type, the name of the function, its arguments, its value, its first derivatives by all arguments, and for
functions of one argument the second derivative. All are rounded to the type. `-` is what the functions leave open, and a second
derivative that overflows.
"""

import struct
from mpmath import (acosh, asin, acos, asinh, atan, atanh, atan2, besseli, besselj, beta, diff, erf, erfc, erfinv, exp, expm1, factorial, gammainc, hyp1f1, hyp2f1, inf, log,
                    log1p, loggamma, mp, mpf, nan, ncdf, pi, polygamma, re, rf, sech, sign, sqrt, tanh, workdps)

mp.dps = 60


def single(x):
    """The nearest number of single precision, as its shortest digits."""
    try:
        y = struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        y = float("inf") if x > 0 else float("-inf")
    if y != y or y in (float("inf"), float("-inf")) or y == 0:
        return y, repr(y)
    for digits in range(1, 10):
        text = "%.*e" % (digits - 1, y)
        if struct.unpack("f", struct.pack("f", float(text)))[0] == y:
            return y, text
    raise ValueError(x)


def double(x):
    return float(x), repr(float(x))


def normal_pdf(x):
    return exp(-x * x / 2) / sqrt(2 * pi)


def log_ncdf(x):
    # log(1 - q) for the upper tail q.
    return log(ncdf(x)) if x < 0 else log1p(-ncdf(-x))


def hazard(x):
    return normal_pdf(x) / ncdf(x)


def sigmoid(x):
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def softplus(x):
    return log1p(exp(x)) if x < 0 else x + log1p(exp(-x))


def logit(p):
    return inf if p == 1 else -inf if p == 0 else log(p) - log1p(-p)


def i0e(n, x):
    """The derivative of order n of e^-x I0(x) at |x|."""
    return (-2) ** n * rf(mpf(1) / 2, n) / factorial(n) * hyp1f1(n + mpf(1) / 2, n + 1, -2 * abs(x))


def i1e(n, x):
    return i0e(n, x) + i0e(n + 1, x)


LARGE = ["1e30", "1e150", "1e155", "1e200", "1e300", "-1e200"]
SMALL = ["0", "1e-300", "1e-20", "1e-8", "-1e-8", "1e-3"]
PLAIN = ["0.1", "0.3", "-0.3", "0.5", "0.55", "0.7", "-0.9", "1", "1.5", "-2", "3", "5", "-7.5"]
UNIT = ["0.9", "0.999", "0.9999999", "-0.99999999999", "0.9999999999999999", "-0.9999999999999999"]
STEEP = ["9", "-9", "12", "17", "-20", "30", "-37", "40", "-50", "60", "88", "-90", "100", "-100", "300", "-300", "350", "-370", "700",
         "-700", "740", "-740", "800", "-1000", "1000"]
NEAR_ONE = ["0.25", "0.26", "0.49", "0.4999999", "0.5000000001", "0.51", "0.74", "0.75"]

# The function, its first and its second derivative.
ONE = {
    "tanh": (tanh, lambda x: sech(x) ** 2, lambda x: -2 * tanh(x) * sech(x) ** 2, SMALL + PLAIN + STEEP),
    "sech": (sech, lambda x: -sech(x) * tanh(x), lambda x: sech(x) * (tanh(x) ** 2 - sech(x) ** 2), SMALL + PLAIN + STEEP),
    "exp_m1": (expm1, exp, exp, SMALL + PLAIN + [s for s in STEEP if s not in ("800", "1000", "740")]),
    "asinh": (asinh, lambda x: 1 / sqrt(1 + x * x), lambda x: -x / sqrt(1 + x * x) ** 3, SMALL + PLAIN + LARGE),
    "acosh": (acosh, lambda x: 1 / sqrt(x * x - 1), lambda x: -x / sqrt(x * x - 1) ** 3,
              ["1.0000000000000002", "1.0000001", "1.1", "2", "10", "1e30", "1e150", "1e155", "1e200", "1e300"]),
    "atan": (atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2,
             SMALL + PLAIN + ["1e8", "-1e9", "2e9", "1e30", "1e100", "1e150", "1e155"]),
    "asin": (asin, lambda x: 1 / sqrt(1 - x * x), lambda x: x / sqrt(1 - x * x) ** 3, SMALL + PLAIN[:7] + UNIT),
    "acos": (acos, lambda x: -1 / sqrt(1 - x * x), lambda x: -x / sqrt(1 - x * x) ** 3, SMALL + PLAIN[:7] + UNIT),
    "atanh": (atanh, lambda x: 1 / (1 - x * x), lambda x: 2 * x / (1 - x * x) ** 2,
              SMALL + PLAIN[:7] + UNIT + ["-0.999999999", "0.999999999"]),
    "ln_1p": (log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2, SMALL + PLAIN[:7] + UNIT + ["1e30", "1e200", "1e300"]),
    "log2": (lambda x: log(x) / log(2), lambda x: 1 / (x * log(2)), lambda x: -1 / (x * x * log(2)),
             ["1e-300", "1e-150", "0.5", "3", "1e30", "1.7e308"]),
    "log10": (lambda x: log(x) / log(10), lambda x: 1 / (x * log(10)), lambda x: -1 / (x * x * log(10)),
              ["1e-300", "1e-150", "0.5", "3", "1e30", "1.7e308"]),
    "lgamma": (lambda x: re(loggamma(x)), lambda x: polygamma(0, x), lambda x: polygamma(1, x),
               ["1e-300", "0.1", "0.5", "1.5", "3.7", "30", "1e10", "1e300", "-0.5", "-1.5", "-2.2", "-2.4570247382208",
                "-0.50408", "-0.5040830082644554", "-1.57", "-2.457", "-2.5", "-2.6", "-2.61072", "-2.8", "-2.82", "-9.5", "-19.74", "-19.8", "-2.7476826467274", "-2.9", "-3.1", "-3.143580888349", "-3.955", "-4.03936183", "-5.5",
                "-6.0013", "-6.0014", "-7.9999751", "-10.0000003", "-13.99999999998853", "-16.000000000000046", "-30.25"]),
    "digamma": (lambda x: polygamma(0, x), lambda x: polygamma(1, x), lambda x: polygamma(2, x),
                ["1e-100", "0.1", "0.5", "1.3", "1.4616321449683622", "1.699", "3.063", "7.77", "14.9", "30", "1e10", "1e100",
                 "-0.48", "-1.97", "-4.77", "-9.75", "-19.94"]),
    "trigamma": (lambda x: polygamma(1, x), lambda x: polygamma(2, x), lambda x: polygamma(3, x),
                 ["1e-100", "0.1", "0.5", "1.5", "30", "1e10", "1e100", "1e150"]),
    "polygamma_3": (lambda x: polygamma(3, x), lambda x: polygamma(4, x), lambda x: polygamma(5, x),
                    ["1e-50", "0.5", "30", "1e10", "1e40", "1e60"]),
}

LOGISTIC = SMALL + PLAIN + STEEP
NORMAL = SMALL + PLAIN + ["-1.0001", "5", "8", "9", "12", "37", "-9", "-13", "-20", "-6.99", "-7", "-7.01", "-30", "-35.7", "-37.4"]
ONE |= {
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * sigmoid(-x), lambda x: -sigmoid(x) * sigmoid(-x) * tanh(x / 2), LOGISTIC),
    "log_sigmoid": (lambda x: -softplus(-x), lambda x: sigmoid(-x), lambda x: -sigmoid(x) * sigmoid(-x), LOGISTIC),
    "softplus": (softplus, sigmoid, lambda x: sigmoid(x) * sigmoid(-x), LOGISTIC),
    "logit": (logit, lambda p: 1 / (p * (1 - p)) if 0 < p < 1 else inf, lambda p: (2 * p - 1) / (p * (1 - p)) ** 2,
              ["0", "1", "1e-310", "1e-100", "1e-8", "0.1", "0.9", "0.9999", "0.9999999999999999"] + NEAR_ONE),
    "normal_cdf": (ncdf, normal_pdf, lambda x: -x * normal_pdf(x), NORMAL + ["-38", "-40", "100"]),
    "log_normal_cdf": (log_ncdf, hazard, lambda x: -hazard(x) * (x + hazard(x)), NORMAL + ["-38", "-40", "-100", "-1000"]),
    "erf": (erf, lambda x: 2 / sqrt(pi) * exp(-x * x), lambda x: -4 * x / sqrt(pi) * exp(-x * x), SMALL + PLAIN + ["12.3", "-20.7", "26"]),
    "erfc": (erfc, lambda x: -2 / sqrt(pi) * exp(-x * x), lambda x: 4 * x / sqrt(pi) * exp(-x * x), SMALL + PLAIN + ["12.3", "20.7", "26"]),
    "erfinv": (erfinv, lambda x: sqrt(pi) / 2 * exp(erfinv(x) ** 2), lambda x: pi / 2 * erfinv(x) * exp(2 * erfinv(x) ** 2),
               SMALL + PLAIN[:7] + UNIT + ["0.25", "-0.75"]),
}

# The points where they vanish are the first, second and fifth zeros.
BESSEL = SMALL + PLAIN + ["2.404825557695773", "5.520078110286311", "14.930917708487787", "3.8317059702075125", "7.015586669815619",
                          "16.470630050877634", "-12", "24.99", "25.3", "40", "100", "1e3", "-1e6", "1e10", "1e22", "1e100", "1e300"]
# The derivative of i1e vanishes at 1.545, and those of even order at 0 depend on the side.
SCALED = SMALL + PLAIN + ["10", "-20.5", "29.99", "30", "-40", "100", "1e3", "1e6", "1e16", "1e100", "1e300"]
ONE |= {
    "j0": (lambda x: besselj(0, x), lambda x: -besselj(1, x), lambda x: (besselj(2, x) - besselj(0, x)) / 2, BESSEL),
    "j1": (lambda x: besselj(1, x), lambda x: (besselj(0, x) - besselj(2, x)) / 2, lambda x: (besselj(3, x) - 3 * besselj(1, x)) / 4, BESSEL),
    "i0e": (lambda x: i0e(0, x), lambda x: sign(x) * i0e(1, x), lambda x: i0e(2, x) if x else nan, SCALED),
    "i1e": (lambda x: besseli(1, x) * exp(-abs(x)), lambda x: nan if 1.4 < x < 1.7 else i1e(1, x), lambda x: sign(x) * i1e(2, x) if x else nan, SCALED),
}

# The function and its two partial derivatives.
HUGE = [("3", "4"), ("-3", "4"), ("3", "-4"), ("1e200", "1e200"), ("1e-200", "1e-200"), ("1e-200", "-3e-200"), ("1e300", "2"),
        ("1e-307", "3e-307"), ("1e18", "1e18"), ("1e-22", "-2e-22"), ("1e30", "1e30"), ("2", "1e-300")]
TWO = {
    "atan2": (atan2, lambda a, b: b / (a * a + b * b), lambda a, b: -a / (a * a + b * b), HUGE),
    "hypot": (lambda a, b: sqrt(a * a + b * b), lambda a, b: a / sqrt(a * a + b * b), lambda a, b: b / sqrt(a * a + b * b),
              HUGE + [("5e-324", "1e-323"), ("5e-324", "5e-324"), ("1e-45", "-3e-45"), ("1e-40", "2e-45")]),
    "log_add_exp": (lambda a, b: max(a, b) + log1p(exp(-abs(a - b))), lambda a, b: sigmoid(a - b), lambda a, b: sigmoid(b - a),
                    [("3", "3"), ("0", "0"), ("1000", "1000"), ("-1000", "-1000"), ("1", "2"), ("2", "1"), ("0", "-40"), ("-745", "0"),
                     ("1e300", "1e300"), ("1e300", "-1e300"), ("1e30", "3"), ("-80", "10"), ("5", "-700")]),
    "xlogy": (lambda x, y: x * log(y) if x else mpf(0), lambda x, y: log(y) if x or y else mpf(0), lambda x, y: x / y if x else mpf(0),
              [("0", "0"), ("0", "2"), ("0", "1e-300"), ("3", "0.5"), ("-2", "1e300"), ("1e-300", "1e-300"), ("1", "1"), ("2", "1e30")]),
}


# Below 1; around the changes of the method, at a = 1, 3 and 10; large ones, also far from each other.
GAMMA = [("1e-300", "0.5"), ("1e-20", "1e-20"), ("1e-6", "0.96"), ("1e-5", "1e-100"), ("0.1", "1e-300"), ("0.3", "1e-8"), ("0.5", "0.25"),
         ("0.5", "0.999"), ("0.7", "0.7"), ("0.9999", "0.9"), ("0.9", "0.01"), ("1e-300", "1"), ("1e-12", "1.5"), ("1e-5", "40"), ("0.2", "1"),
         ("0.5", "3"), ("0.5", "30"), ("0.9", "700"), ("1", "0"), ("1", "1e-20"), ("1", "0.5"), ("1", "1"), ("1", "2"), ("1.0001", "0.999"),
         ("1.5", "0"), ("1.5", "1e-100"), ("1.5", "1.4"), ("1.5", "1.6"), ("2.999", "3.1"), ("3", "2.9"), ("3.25", "0.01"), ("4.3", "20"),
         ("6.5", "6.5"), ("7.7", "7.2"), ("7.7", "300"), ("9.99", "9"), ("9.99", "740"), ("9.99", "1e-15"), ("10", "0"), ("10", "10"),
         ("10.5", "1e-10"), ("10.5", "7"), ("12", "15.9"), ("12", "16.1"), ("15", "60"), ("20", "650"), ("30", "29"), ("30", "32"), ("50", "5"),
         ("70", "30.3"), ("80.3", "29.4"), ("100", "75"), ("100", "250"), ("150.5", "151"), ("300", "0.001"), ("300", "100"), ("300", "700"),
         ("1e3", "1e3"), ("1e3", "600"), ("1e3", "1700"), ("3e3", "2991.5"), ("1e4", "1.003e4"), ("1e4", "7e3"), ("1e5", "99900"),
         ("1e6", "1.001e6"), ("1e6", "995e3"), ("1e6", "970001"), ("1e5", "101e3")]


def gamma_inc(a, x):
    return gammainc(a, 0, x, regularized=True)


def gamma_inc_upper(a, x):
    return gammainc(a, x, inf, regularized=True)


def gamma_density(a, x):
    return (inf if a < 1 else mpf(a == 1)) if x == 0 else exp((a - 1) * log(x) - x - loggamma(a))


def gamma_inc_by_a(a, x):
    # From the smaller part, which 60 digits do not round to 1.
    derivative = lambda of: diff(lambda a: of(a, x), a, h=mpf(10) ** -25 * a)
    return mpf(0) if x == 0 else derivative(gamma_inc) if x < a else -derivative(gamma_inc_upper)


TWO |= {
    "gamma_inc": (gamma_inc, gamma_inc_by_a, gamma_density, GAMMA),
    "gamma_inc_upper": (gamma_inc_upper, lambda a, x: -gamma_inc_by_a(a, x), lambda a, x: -gamma_density(a, x), GAMMA),
}


# At both ends; small, and one or both small; on both sides of the mean and of the changes of the method; large.
BETA = [(a, b, x) for a, b, xs in [
    ("1", "1", "0 0.25 0.5 1"), ("2", "3", "0 1e-30 0.1 0.4 0.7 1"), ("0.5", "1", "0 1"), ("1", "0.5", "0.75 1"), ("0.5", "0.5", "1e-10 0.3 0.7"),
    ("1e-10", "1", "1e-11 0.5"), ("1", "1e-10", "0.3 0.9999999999999991"), ("1e-3", "1e3", "1e-6 0.9e-6 0.1"), ("1e-20", "1e-20", "0.5 0.9"),
    ("0.1", "0.2", "0.01 0.9"), ("0.01", "0.01", "1e-100 0.3"), ("0.3", "0.3", "1e-300 0.999"), ("1e-300", "0.5", "0.5"), ("1e-300", "1e-300", "0.5"),
    ("1e-5", "3", "1e-100 0.2"), ("3", "1e-5", "0.1 0.7 0.9999"), ("3.3", "1e-5", "0.99999"), ("700", "1e-8", "0.5 0.99999"), ("0.999", "0.999", "0.5"),
    ("1", "1e-3", "0.2 0.9 0.9999999999999999"), ("2", "0.99", "0.7"), ("2", "0.2", "0.85 0.95"), ("7", "0.29", "0.96"), ("1", "0.9", "0.6"),
    ("244.8", "5e-4", "0.99994"), ("0.25", "8", "0.02 0.2"), ("1.1475", "3.0625", "0.053"), ("5", "5", "1e-30 0.999"), ("9.9", "9.9", "0.51"),
    ("9.99", "10.01", "0.1 0.6"), ("10", "10", "0.5"), ("11.3", "4.75", "0.525"), ("20", "4", "0.8 0.9"), ("12", "0.8", "0.97"),
    ("30", "0.5", "0.9 0.99 0.999999"), ("50", "50", "0.1 0.9"), ("100", "200", "0.3 0.33 0.4"), ("300", "2", "0.9"), ("0.7", "1e3", "2e-4 2e-3"),
    ("1e3", "0.5", "0.9995"), ("1e3", "1e3", "0.5 0.52"), ("1e4", "30", "0.996 0.997"), ("0.3", "1e5", "1e-6"), ("1e5", "0.3", "0.99999"),
    ("1.5", "1e6", "3e-6"), ("2", "1e6", "1e-6"), ("1e6", "2", "0.99999 0.999999"), ("1e6", "1e6", "0.5 0.5001")] for x in xs.split()]

# Where 1 - x is rounded.
UPPER = [("0.5", "1e9", "1e-9 1e-8"), ("1e-3", "1e7", "3e-7"), ("2", "1e12", "3e-12")]
UPPER = [(a, b, x) for a, b, xs in UPPER for x in xs.split()]


def beta_below(a, b, x):
    """The regularised incomplete beta function, which is small below the mean."""
    return x ** a * (1 - x) ** b / (a * beta(a, b)) * hyp2f1(1, a + b, a + 1, x)


def beta_inc(a, b, x):
    return x if x in (0, 1) else beta_below(a, b, x) if x * (a + b) < a else 1 - beta_below(b, a, 1 - x)


def beta_inc_upper(a, b, x):
    """Where 1 - x may be rounded."""
    with workdps(200):
        return 1 - x if x in (0, 1) else 1 - beta_below(a, b, x) if x * (a + b) < a else beta_below(b, a, 1 - x)


def beta_density(a, b, x):
    end = lambda a, b: inf if a < 1 else b * (a == 1)
    return end(a, b) if x == 0 else end(b, a) if x == 1 else exp((a - 1) * log(x) + (b - 1) * log1p(-x)) / beta(a, b)


def beta_inc_by(k):
    def derivative(*at):
        a, b, x = at
        below = x * (a + b) < a
        f = beta_below if below else lambda a, b, x: -beta_below(b, a, 1 - x)
        return mpf(0) if x in (0, 1) else diff(lambda z: f(*at[:k], z, *at[k + 1:]), at[k], h=mpf(10) ** -25 * at[k])

    return derivative


def minus(f):
    return lambda *at: -f(*at)


THREE = {
    "beta_inc": (beta_inc, beta_inc_by(0), beta_inc_by(1), beta_density, BETA),
    "beta_inc_upper": (beta_inc_upper, minus(beta_inc_by(0)), minus(beta_inc_by(1)), minus(beta_density), BETA + UPPER),
}


def field(of, rounded, *xs):
    try:
        y = rounded(of(*xs))
        return "-" if y[0] != y[0] else y[1]
    except (ValueError, ZeroDivisionError):
        return "-"


for ty, rounded in (("f64", double), ("f32", single)):
    for table in (ONE, TWO, THREE):
        for name, (*functions, points) in table.items():
            seen = set()
            for point in points:
                point = (point,) if isinstance(point, str) else point
                xs = [rounded(float(x)) for x in point]
                # What is not a number of the type, or is twice the same, is left out.
                nonzero = all(x != 0 or float(p) == 0 for (x, _), p in zip(xs, point))
                key = tuple(text for _, text in xs)
                if nonzero and key not in seen and all(abs(x) != float("inf") for x, _ in xs):
                    seen.add(key)
                    numbers = [mpf(x) for x, _ in xs]
                    fields = [field(f, rounded, *numbers) for f in functions]
                    if table is ONE:
                        fields[2] = fields[2].replace("-inf", "-").replace("inf", "-")
                    print(ty, name, *key, *fields)
