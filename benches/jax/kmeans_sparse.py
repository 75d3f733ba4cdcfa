"""k-means on sparse points, given by the rows, columns and values of their entries: the cost, and its derivatives by the dense
centroids, first and second."""
import jax
import jax.numpy as jnp


def program(row_starts, columns, values, centroids):
    points = row_starts.shape[0] - 1
    rows = jnp.repeat(jnp.arange(points), jnp.diff(row_starts), total_repeat_length=columns.shape[0])
    squares = jax.ops.segment_sum(values**2, rows, points, indices_are_sorted=True)

    def cost(centroids):
        products = jax.ops.segment_sum(values[:, None] * centroids.T[columns], rows, points, indices_are_sorted=True)
        return (squares[:, None] + (centroids**2).sum(1)[None, :] - 2.0 * products).min(1).sum()

    first, second = jax.jvp(jax.grad(cost), (centroids,), (jnp.ones_like(centroids),))
    return cost(centroids), first, second
