"""Attention with several heads."""
import jax
import jax.numpy as jnp


def head(q, k, v):
    return jax.nn.softmax(q @ k.T * 0.125) @ v


def program(q, k, v):
    return jax.vmap(head)(q, k, v)
