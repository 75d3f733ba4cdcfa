"""The derivative of the last state of the logistic map by each factor. 1,000 steps."""
import jax
import jax.numpy as jnp


def last(r):
    y, _ = jax.lax.scan(lambda y, _: (r * y * (1.0 - y), None), 0.4, None, length=1000)
    return y


def program(factors):
    return jax.vmap(jax.grad(last))(factors)
