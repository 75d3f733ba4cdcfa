"""Poisson regression on sparse data: the negative log-likelihood of counts, given rates exp(X w), and its gradient by w. X is
given by the rows, columns and values of its entries."""
import jax
import jax.numpy as jnp


def loss(w, rows, columns, values, counts):
    logs = jnp.zeros(counts.shape).at[rows].add(values * w[columns])
    return (jnp.exp(logs) - counts * logs).sum()


def program(w, rows, columns, values, counts):
    return jax.value_and_grad(loss)(w, rows, columns, values, counts)
