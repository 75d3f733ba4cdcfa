"""The Jacobian of the residuals of a fit by tanh."""
import jax
import jax.numpy as jnp

program = jax.jacobian(lambda w, a: jnp.tanh(a @ w))
