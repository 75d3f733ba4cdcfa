"""k-means on sparse points: the cost, and its derivatives by the dense centroids, first and second. For each point there is its first
entry, and behind them the number of entries; for each entry its point, its column and its value."""
import jax
import jax.numpy as jnp


def program(starts, rows, columns, values, centroids):
    points = starts.shape[0] - 1
    squares = jax.ops.segment_sum(values**2, rows, points, indices_are_sorted=True)

    def cost(centroids):
        products = jax.ops.segment_sum(values[:, None] * centroids.T[columns], rows, points, indices_are_sorted=True)
        return (squares[:, None] + (centroids**2).sum(1)[None, :] - 2.0 * products).min(1).sum()

    first, second = jax.jvp(jax.grad(cost), (centroids,), (jnp.ones_like(centroids),))
    return cost(centroids), first, second
