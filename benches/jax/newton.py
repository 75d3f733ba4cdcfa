"""The roots of x^3 + x = a by Newton's method, each with its own number of steps."""
import jax
import jax.numpy as jnp


def root(a):
    def step(s):
        x, _ = s
        return x - (x * x * x + x - a) / (3 * x * x + 1), x

    return jax.lax.while_loop(lambda s: s[0] < s[1], step, (a + 1, jnp.full_like(a, jnp.inf)))[0]


def program(a):
    return jax.vmap(root)(a)
