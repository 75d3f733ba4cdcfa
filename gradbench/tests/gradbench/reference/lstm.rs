//! A recurrent neural network (long short-term memory with diagonal weights).

/// Parameters, first state and text, with the rows that the eval sends.
pub struct Problem {
    /// For each layer, weights and biases of four gates.
    pub main: Vec<Vec<f64>>,
    /// The weight before the first layer, and weight and bias behind the last one.
    pub extra: Vec<Vec<f64>>,
    /// For each layer, hidden state and cell.
    pub state: Vec<Vec<f64>>,
    /// The characters.
    pub text: Vec<Vec<f64>>,
}

/// What a layer computes for one bit: its input, the hidden state and cell before, the gates, and the cell behind.
#[derive(Clone, Copy)]
struct Cell {
    input: f64,
    hidden: f64,
    before: f64,
    forget: f64,
    accept: f64,
    emit: f64,
    change: f64,
    behind: f64,
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Problem {
    fn layers(&self) -> usize {
        self.main.len() / 2
    }

    fn bits(&self) -> usize {
        self.extra[0].len()
    }

    /// The cells of each character, layer and bit, and the predictions for the next character.
    fn forward(&self) -> Vec<(Vec<Vec<Cell>>, Vec<f64>)> {
        let (mut state, b) = (self.state.clone(), self.bits());
        let step = |character: &Vec<f64>| {
            let mut input: Vec<f64> = character.iter().zip(&self.extra[0]).map(|(x, w)| x * w).collect();
            let mut cells = vec![];
            for layer in 0..self.layers() {
                let (weights, biases) = (&self.main[2 * layer], &self.main[2 * layer + 1]);
                let cell = |bit: usize| {
                    let gate = |gate: usize, x: f64| x * weights[gate * b + bit] + biases[gate * b + bit];
                    let (input, hidden, before) = (input[bit], state[2 * layer][bit], state[2 * layer + 1][bit]);
                    let [forget, accept, emit] =
                        [(0, input), (1, hidden), (2, input)].map(|(i, x)| logistic(gate(i, x)));
                    let change = gate(3, hidden).tanh();
                    Cell {
                        input,
                        hidden,
                        before,
                        forget,
                        accept,
                        emit,
                        change,
                        behind: before * forget + accept * change,
                    }
                };
                let row: Vec<Cell> = (0..b).map(cell).collect();
                input = row.iter().map(|cell| cell.emit * cell.behind.tanh()).collect();
                state[2 * layer] = input.clone();
                state[2 * layer + 1] = row.iter().map(|cell| cell.behind).collect();
                cells.push(row);
            }
            let predicted = (0..b).map(|bit| input[bit] * self.extra[1][bit] + self.extra[2][bit]).collect();
            (cells, predicted)
        };
        self.text[..self.text.len() - 1].iter().map(step).collect()
    }

    fn count(&self) -> f64 {
        ((self.text.len() - 1) * self.bits()) as f64
    }

    /// The loss.
    pub fn value(&self) -> f64 {
        let score = |((_, predicted), next): (&(_, Vec<f64>), &Vec<f64>)| -> f64 {
            let log_total = (2.0 + predicted.iter().map(|y| y.exp()).sum::<f64>()).ln();
            predicted.iter().zip(next).map(|(y, next)| next * (y - log_total)).sum()
        };
        -self.forward().iter().zip(&self.text[1..]).map(score).sum::<f64>() / self.count()
    }

    /// The gradient by all parameters, row by row: characters, and the layers of each, in reverse order.
    pub fn gradient(&self) -> Vec<f64> {
        let (l, b) = (self.layers(), self.bits());
        let mut by_main = vec![vec![0.0; 4 * b]; 2 * l];
        let mut by_extra = vec![vec![0.0; b]; 3];
        let mut by_state = vec![vec![0.0; b]; 2 * l];
        for (t, (cells, predicted)) in self.forward().iter().enumerate().rev() {
            let (next, total) = (&self.text[t + 1], 2.0 + predicted.iter().map(|y| y.exp()).sum::<f64>());
            let ones: f64 = next.iter().sum();
            let mut by_output = vec![0.0; b];
            for bit in 0..b {
                let by_predicted = (ones * predicted[bit].exp() / total - next[bit]) / self.count();
                let last = &cells[l - 1][bit];
                by_extra[1][bit] += by_predicted * last.emit * last.behind.tanh();
                by_extra[2][bit] += by_predicted;
                by_output[bit] = by_predicted * self.extra[1][bit];
            }
            for layer in (0..l).rev() {
                for bit in 0..b {
                    let Cell { input, hidden, before, forget, accept, emit, change, behind } = cells[layer][bit];
                    let shown = behind.tanh();
                    let by_hidden = by_output[bit] + by_state[2 * layer][bit];
                    let by_cell = by_state[2 * layer + 1][bit] + by_hidden * emit * (1.0 - shown * shown);
                    let by_gates = [
                        (by_cell * before * forget * (1.0 - forget), input),
                        (by_cell * change * accept * (1.0 - accept), hidden),
                        (by_hidden * shown * emit * (1.0 - emit), input),
                        (by_cell * accept * (1.0 - change * change), hidden),
                    ];
                    let weight = |gate: usize| self.main[2 * layer][gate * b + bit];
                    for (gate, (by_gate, x)) in by_gates.into_iter().enumerate() {
                        by_main[2 * layer][gate * b + bit] += by_gate * x;
                        by_main[2 * layer + 1][gate * b + bit] += by_gate;
                    }
                    by_output[bit] = by_gates[0].0 * weight(0) + by_gates[2].0 * weight(2);
                    by_state[2 * layer][bit] = by_gates[1].0 * weight(1) + by_gates[3].0 * weight(3);
                    by_state[2 * layer + 1][bit] = by_cell * forget;
                }
            }
            (0..b).for_each(|bit| by_extra[0][bit] += by_output[bit] * self.text[t][bit]);
        }
        [by_main, by_extra].concat().concat()
    }
}
