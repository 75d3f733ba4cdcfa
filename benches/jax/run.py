"""Runs a reference program in JAX.

    run.py MODULE FOLDER RUNS    prints the median milliseconds of RUNS runs of the jitted program, after a first run
    run.py MODULE FOLDER first   prints the milliseconds of the first call, tracing and compilation included

MODULE is a file beside this one; its function `program` is the program. FOLDER/arguments.json lists the types and shapes of the
arguments, whose numbers are the files FOLDER/0, FOLDER/1 and so on. All numbers of the results are written to FOLDER/results, in
double precision.
"""
import importlib
import json
import sys
import time
from pathlib import Path

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)


def main():
    module, folder, runs = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    described = json.loads((folder / "arguments.json").read_text())
    arguments = [
        jax.numpy.asarray(np.fromfile(folder / str(i), dtype=a["type"]).reshape(a["shape"])) for i, a in enumerate(described)
    ]
    jax.block_until_ready(arguments)
    program = jax.jit(importlib.import_module(module).program)

    def timed():
        start = time.perf_counter()
        results = jax.block_until_ready(program(*arguments))
        return results, 1e3 * (time.perf_counter() - start)

    results, first = timed()
    numbers = [np.asarray(r, dtype=np.float64).ravel() for r in jax.tree_util.tree_leaves(results)]
    np.concatenate(numbers).tofile(folder / "results")
    print(first if runs == "first" else np.median([timed()[1] for _ in range(int(runs))]))


main()
