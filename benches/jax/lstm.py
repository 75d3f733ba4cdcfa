"""An LSTM on a batch of sequences, and the mean squared distance of its hidden states from targets: value and gradient by the
weights of inputs [4 h, d], of hidden states [4 h, h], and the biases [4 h]."""
import jax
import jax.numpy as jnp


def loss(parameters, xs, targets):
    of_input, of_hidden, bias = parameters
    steps, batch, _ = xs.shape
    h = of_hidden.shape[1]

    def step(state, pair):
        hidden, cell = state
        x, target = pair
        gates = x @ of_input.T + hidden @ of_hidden.T + bias
        i, f, g, o = gates[:, :h], gates[:, h : 2 * h], gates[:, 2 * h : 3 * h], gates[:, 3 * h :]
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), ((hidden - target) ** 2).sum()

    start = jnp.zeros((batch, h), xs.dtype)
    _, totals = jax.lax.scan(step, (start, start), (xs, targets))
    return totals.sum() / (steps * batch * h)


def program(of_input, of_hidden, bias, xs, targets):
    return jax.value_and_grad(loss)((of_input, of_hidden, bias), xs, targets)
