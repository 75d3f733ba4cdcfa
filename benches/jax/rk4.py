"""The squared distances of the last states of a pendulum with friction (100 steps of RK4) from observed ones, by all parameters
of all pendulums: squared frequency, friction, first angle, first speed."""
import jax
import jax.numpy as jnp

H = 0.05


def last(w, c, angle, speed):
    def slope(s):
        return s[1], -w * jnp.sin(s[0]) - c * s[1]

    def moved(s, k, h):
        return s[0] + k[0] * h, s[1] + k[1] * h

    def step(_, s):
        k1 = slope(s)
        k2 = slope(moved(s, k1, H / 2))
        k3 = slope(moved(s, k2, H / 2))
        k4 = slope(moved(s, k3, H))
        return tuple(x + (p + 2 * q + 2 * r + t) * (H / 6) for x, p, q, r, t in zip(s, k1, k2, k3, k4))

    # JAX makes a scan of this loop, since its number of steps is known.
    return jax.lax.fori_loop(0, 100, step, (angle, speed))[0]


def loss(parameters, observed):
    return ((jax.vmap(last)(*parameters) - observed) ** 2).sum()


def program(w, c, angle, speed, observed):
    return jax.value_and_grad(loss)((w, c, angle, speed), observed)
