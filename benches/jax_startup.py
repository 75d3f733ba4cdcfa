"""Milliseconds of JAX's first call of the jitted GMM value and gradient, tracing and compilation included.

    jax_startup.py PEERS FILE    PEERS is the folder with jax_adbench.py, whose objective this is
"""
import sys
import time

peers, file = sys.argv[1:]
sys.path.insert(0, peers)
# jax_adbench is a program: as a module it runs too, here with nothing to do.
sys.argv[1:] = ["expected"]

import jax
from jax_adbench import gmm, read_gmm

params, (x, gamma, m) = read_gmm(file)
# JAX itself starts before the clock does.
jax.block_until_ready(jax.numpy.zeros(1))

start = time.perf_counter()
gradient = jax.jit(jax.value_and_grad(lambda p, x: gmm(p, (x, gamma, m))))
jax.block_until_ready(gradient(params, x))
print(1e3 * (time.perf_counter() - start))
