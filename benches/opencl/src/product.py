import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
# Otherwise products of f32 have the precision of tf32.
jax.config.update("jax_default_matmul_precision", "highest")

precision, n = sys.argv[1], int(sys.argv[2])
random = np.random.default_rng(1)
a, b = (jnp.asarray(random.uniform(-1, 1, (n, n)), precision) for _ in range(2))
product = jax.jit(jnp.matmul)


def timed():
    start = time.perf_counter()
    jax.block_until_ready(product(a, b))
    return time.perf_counter() - start


timed(), timed()
print(1e3 * np.median([timed() for _ in range(20)]))
