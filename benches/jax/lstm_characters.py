"""ADBench's LSTM, which predicts the next character: value and gradient by weights and extra weights."""
import jax
import jax.numpy as jnp


def cell(weights, biases, hidden, cell, x):
    wf, wi, wo, wc = weights
    bf, bi, bo, bc = biases
    forget = jax.nn.sigmoid(x * wf + bf)
    admit = jax.nn.sigmoid(hidden * wi + bi)
    output = jax.nn.sigmoid(x * wo + bo)
    change = jnp.tanh(hidden * wc + bc)
    cell = cell * forget + admit * change
    return output * jnp.tanh(cell), cell


def loss(parameters, state, sequence):
    main, extra = parameters

    def step(state, pair):
        x, expected = pair
        x = x * extra[0]
        states = []
        for layer in range(main.shape[0]):
            hidden, c = cell(main[layer, 0], main[layer, 1], state[layer, 0], state[layer, 1], x)
            states.append(jnp.stack([hidden, c]))
            x = hidden
        y = x * extra[1] + extra[2]
        normalised = y - jnp.log(2.0 + jnp.exp(y).sum())
        return jnp.stack(states), (expected * normalised).sum()

    _, totals = jax.lax.scan(step, state, (sequence[:-1], sequence[1:]))
    return -totals.sum() / ((sequence.shape[0] - 1) * sequence.shape[1])


def program(main, extra, state, sequence):
    return jax.value_and_grad(loss)((main, extra), state, sequence)
