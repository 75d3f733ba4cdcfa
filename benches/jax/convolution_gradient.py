"""Half the sum of the squares of a convolution, and its gradient by the images and the weights."""
import jax
from convolution import program as convolution


def half_of_squares(xs, weights):
    ys = convolution(xs, weights)
    return (ys * ys).sum() / 2


def program(xs, weights):
    return jax.value_and_grad(half_of_squares, argnums=(0, 1))(xs, weights)
