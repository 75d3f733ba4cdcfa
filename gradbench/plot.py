#!/usr/bin/env python3
"""plot.py LOG...: writes an SVG to standard output: times against the size of the workloads, one panel for each eval.

The logs are those of GradBench (`gradbench run -o LOG`): one message or response per line. The time of a workload is its smallest one.
Of accel, the plot shows the times of the function and its derivative, of other tools those of the derivative."""

import json
import math
import sys

# The size of a workload: as a formula in the plot, and as a function of the eval's input. `hello`, `particle` and `saddle` have none.
SIZES = {
    "lse": ("n", lambda i: len(i["x"])),
    "llsq": ("n·m", lambda i: i["n"] * len(i["x"])),
    "kmeans": ("k·n·d", lambda i: len(i["centroids"]) * len(i["points"]) * len(i["points"][0])),
    "gmm": ("n·k·d²", lambda i: i["n"] * i["k"] * i["d"] ** 2),
    "ba": ("p", lambda i: i["p"]),
    "det": ("ℓ!", lambda i: math.factorial(i["ell"])),
    "ode": ("n·s", lambda i: len(i["x"]) * i["s"]),
    "lstm": ("l·c", lambda i: len(i["main_params"]) // 2 * len(i["sequence"])),
    "ht": ("c", lambda i: len(i["data"]["correspondences"])),
}
DERIVATIVES = {"gradient", "dir", "jacobian"}
# What is plotted: a tool, whether it is the derivative, a name and a colour.
SERIES = [
    ("codipack", True, "CoDiPack", "#9f7aea"),
    ("jax", True, "JAX", "#38a169"),
    ("manual", True, "by hand (C++)", "#a0aec0"),
    ("adept", True, "Adept", "#d69e2e"),
    ("adol-c", True, "ADOL-C", "#b83280"),
    ("accel", False, "accel: function", "#2b6cb0"),
    ("accel", True, "accel: derivative", "#c05621"),
]
WIDTH, HEIGHT, COLUMNS = 300, 220, 3
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 28, 40


def read(path, points):
    """Adds to `points[eval][tool, whether it is the derivative]` a pair of size and milliseconds for each workload of a log."""
    asked, tool = {}, None
    with open(path) as log:
        for line in log:
            entry = json.loads(line)
            message, response = entry.get("message"), entry.get("response")
            if response and "tool" in response:
                tool = response["tool"]
            if message and message["kind"] == "evaluate" and message["module"] in SIZES:
                size = SIZES[message["module"]][1](message["input"])
                asked[message["id"]] = (message["module"], message["function"], size)
            elif response and response["id"] in asked and response.get("success"):
                module, function, size = asked.pop(response["id"])
                times = [t["nanoseconds"] for t in response["timings"] if t["name"] == "evaluate"]
                series = tool, function in DERIVATIVES
                points.setdefault(module, {}).setdefault(series, []).append((size, min(times) / 1e6))


def decades(values):
    """The powers of ten around the values, as exponents."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def power(exponent):
    """A power of ten as text."""
    superscripts = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return {0: "1", 1: "10"}.get(exponent, "10" + str(exponent).translate(superscripts))


def panel(module, series, x0, y0):
    """The lines of SVG of one eval, whose panel's corner is at (x0, y0)."""
    all_points = [p for tool, derivative, _, _ in SERIES for p in series.get((tool, derivative), [])]
    xs, ys = decades([p[0] for p in all_points]), decades([p[1] for p in all_points])
    left, right, top, bottom = x0 + LEFT, x0 + WIDTH - RIGHT, y0 + TOP, y0 + HEIGHT - BOTTOM
    along = lambda v, ends, a, b: a + (math.log10(v) - ends[0]) / (ends[1] - ends[0]) * (b - a)
    out = [f'<text x="{left}" y="{y0 + 18}" class="title">{module}</text>']
    for e in range(xs[0], xs[1] + 1):
        x = along(10.0**e, xs, left, right)
        out.append(f'<path class="grid" d="M{x:.1f} {top}V{bottom}"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{power(e)}</text>')
    for e in range(ys[0], ys[1] + 1):
        y = along(10.0**e, ys, bottom, top)
        out.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>')
        out.append(f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{power(e)}</text>')
    out.append(f'<text x="{(left + right) / 2}" y="{bottom + 31}" text-anchor="middle">{SIZES[module][0]}</text>')
    for tool, derivative, _, colour in SERIES:
        points = sorted(series.get((tool, derivative), []))
        places = [(along(x, xs, left, right), along(y, ys, bottom, top)) for x, y in points]
        # Workloads of equal size but different shape differ in time, so a line through them would not be a function.
        if len({x for x, _ in points}) == len(points):
            out.append(f'<polyline stroke="{colour}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        out.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places)
    return out


def main():
    points = {}
    for path in sys.argv[1:]:
        read(path, points)
    if not points:
        sys.exit(__doc__)
    modules = [m for m in SIZES if m in points]
    rows = math.ceil(len(modules) / COLUMNS)
    width, height = WIDTH * min(COLUMNS, len(modules)), HEIGHT * rows + 24
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">')
    print("<style>.title{font-size:14px;font-weight:bold}.grid{stroke:#ddd}polyline{fill:none;stroke-width:1.5}</style>")
    print(f'<rect width="{width}" height="{height}" fill="white"/>')
    for i, module in enumerate(modules):
        print("\n".join(panel(module, points[module], i % COLUMNS * WIDTH, i // COLUMNS * HEIGHT)))
    x, y = LEFT, HEIGHT * rows + 12
    print(f'<text x="{x}" y="{y}">ms over size</text>')
    seen = [s for s in SERIES if any(s[:2] in series for series in points.values())]
    for i, (_, _, name, colour) in enumerate(seen):
        at = x + 90 + 108 * i
        print(f'<circle cx="{at}" cy="{y - 4}" r="3.5" fill="{colour}"/><text x="{at + 8}" y="{y}">{name}</text>')
    print("</svg>")


if __name__ == "__main__":
    main()
