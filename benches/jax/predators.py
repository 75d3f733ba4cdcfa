"""The derivatives of the number of prey (Lotka-Volterra, 1,000 steps of RK4) by four parameters."""
import jax

H = 0.01


def prey(a, b, c, d):
    def slope(s):
        x, y = s
        return a * x - b * x * y, d * x * y - c * y

    def moved(s, k, h):
        return s[0] + k[0] * h, s[1] + k[1] * h

    def step(s, _):
        k1 = slope(s)
        k2 = slope(moved(s, k1, H / 2))
        k3 = slope(moved(s, k2, H / 2))
        k4 = slope(moved(s, k3, H))
        return tuple(x + (p + 2 * q + 2 * r + t) * (H / 6) for x, p, q, r, t in zip(s, k1, k2, k3, k4)), None

    (x, _), _ = jax.lax.scan(step, (1.0, 1.0), None, length=1000)
    return x


def program(a, b, c, d):
    return jax.vmap(jax.grad(prey, argnums=(0, 1, 2, 3)))(a, b, c, d)
