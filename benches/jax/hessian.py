"""The Hessian of a logistic loss."""
import jax
import jax.numpy as jnp


def loss(w, a):
    return jnp.sum(jnp.log1p(jnp.exp(a @ w))) + 0.05 * w @ w


program = jax.hessian(loss)
