//! The six programs of Smeding and Vákár's article and two of GradBench, as ordinary code that is generic in its numbers.

use accel_dual::{Real, par_map};

/// The product of two numbers.
pub fn product<T: Real>((x, y): (T, T)) -> T {
    x * y
}

/// A scalar product.
pub fn dot<T: Real>((xs, ys): &(Vec<T>, Vec<T>)) -> T {
    xs.iter().zip(ys).fold(T::zero(), |sum, (&x, &y)| sum + x * y)
}

/// The sum of a matrix-vector product.
pub fn matvec<T: Real>((matrix, xs): &(Vec<Vec<T>>, Vec<T>)) -> T {
    let row = |row: &Vec<T>| row.iter().zip(xs).fold(T::zero(), |sum, (&a, &x)| sum + a * x);
    matrix.iter().map(row).fold(T::zero(), |sum, y| sum + y)
}

/// Rotates a vector by a quaternion (x, y, z, w), as in the benchmark of Krawiec et al.
pub fn rotate<T: Real>((v, q): ([T; 3], [T; 4])) -> [T; 3] {
    let two = T::lit(2.0);
    let [u, w] = [[q[0], q[1], q[2]], [q[3], q[3], q[3]]];
    let cross =
        |a: [T; 3], b: [T; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let dot = |a: [T; 3], b: [T; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (uv, uu, c) = (dot(u, v), dot(u, u), cross(u, v));
    std::array::from_fn(|k| two * uv * u[k] + (w[k] * w[k] - uu) * v[k] + two * w[k] * c[k])
}

/// A layer: weights and biases.
pub type Layer<T> = (Vec<Vec<T>>, Vec<T>);

/// A neural network with ReLU and a safe softmax at the end. The results are added up with the weights 1, 2, ...: their
/// plain sum is always 1.
pub fn network<T: Real>((layers, input): &(Vec<Layer<T>>, Vec<T>)) -> T {
    let mut xs = input.clone();
    for (weights, biases) in layers {
        let unit = |(row, &bias): (&Vec<T>, &T)| {
            let y = row.iter().zip(&xs).fold(bias, |sum, (&w, &x)| sum + w * x);
            if y > T::zero() { y } else { T::zero() }
        };
        xs = weights.iter().zip(biases).map(unit).collect();
    }
    let largest = xs.iter().fold(T::neg_infinity(), |m, &x| if x > m { x } else { m });
    let powers: Vec<T> = xs.iter().map(|&x| (x - largest).exp()).collect();
    let total = powers.iter().fold(T::zero(), |sum, &p| sum + p);
    powers.iter().enumerate().fold(T::zero(), |sum, (k, &p)| sum + T::lit(k as f64 + 1.0) * p / total)
}

/// A particle: position and velocity.
pub type Particle<T> = [T; 4];

/// The steps of the particles.
pub const STEPS: usize = 1000;

/// Moves a particle in a force field with friction, and returns the product of its coordinates.
pub fn particle<T: Real>(start: &Particle<T>) -> T {
    let (dt, pull, friction) = (T::lit(0.01), T::lit(0.5), T::lit(0.1));
    let [mut x, mut y, mut u, mut v] = *start;
    for _ in 0..STEPS {
        let a = y.sin() - x * pull - u * friction;
        let b = x.cos() - y * pull - v * friction;
        x += u * dt;
        y += v * dt;
        u += a * dt;
        v += b * dt;
    }
    x * y
}

/// Four particles in parallel.
pub fn particles<T: Real>(starts: &[Particle<T>; 4]) -> T {
    par_map(starts, particle).into_iter().fold(T::zero(), |sum, p| sum + p)
}

/// The same without jobs.
pub fn particles_in_sequence<T: Real>(starts: &[Particle<T>; 4]) -> T {
    starts.iter().map(particle).fold(T::zero(), |sum, p| sum + p)
}

/// A determinant by expansion in minors, without sharing (GradBench `det`).
pub fn determinant<T: Real>(matrix: &[T], size: usize) -> T {
    // Linked lists of the rows and columns that are left. The entry `size` is the head of each.
    let mut rows: Vec<usize> = (1..=size).chain([0]).collect();
    let mut columns = rows.clone();
    minor(matrix, size, size, &mut rows, &mut columns)
}

fn minor<T: Real>(a: &[T], n: usize, m: usize, r: &mut [usize], c: &mut [usize]) -> T {
    let r0 = r[n];
    let (mut previous, mut column) = (n, c[n]);
    if m == 1 {
        return a[r0 * n + column];
    }
    r[n] = r[r0];
    let mut det = T::zero();
    let mut positive = true;
    for _ in 0..m {
        let element = a[r0 * n + column];
        c[previous] = c[column];
        let part = element * minor(a, n, m - 1, r, c);
        det = if positive { det + part } else { det - part };
        positive = !positive;
        c[previous] = column;
        previous = column;
        column = c[column];
    }
    r[n] = r0;
    det
}

/// The objective of an LSTM with diagonal weights (GradBench `lstm`): parameters of `layers` layers, then extra parameters.
pub fn lstm<T: Real>(main: &[Vec<T>], extra: &[Vec<T>], start: &[Vec<f64>], sequence: &[Vec<f64>]) -> T {
    let (layers, bits, one) = (start.len() / 2, sequence[0].len(), T::one());
    let sigmoid = |x: T| one / (one + (-x).exp());
    let mut state: Vec<Vec<T>> = start.iter().map(|row| row.iter().map(|&x| T::lit(x)).collect()).collect();
    let mut total = T::zero();
    let mut input = vec![T::zero(); bits];
    let mut predicted = vec![T::zero(); bits];
    for t in 0..sequence.len() - 1 {
        for j in 0..bits {
            input[j] = T::lit(sequence[t][j]) * extra[0][j];
        }
        for layer in 0..layers {
            let (weights, biases) = (&main[2 * layer], &main[2 * layer + 1]);
            for j in 0..bits {
                let (hidden, cell) = (state[2 * layer][j], state[2 * layer + 1][j]);
                let gate = |x: T, k: usize| x * weights[k * bits + j] + biases[k * bits + j];
                let forget = sigmoid(gate(input[j], 0));
                let ingate = sigmoid(gate(hidden, 1));
                let outgate = sigmoid(gate(input[j], 2));
                let change = gate(hidden, 3).tanh();
                let cell = cell * forget + ingate * change;
                state[2 * layer + 1][j] = cell;
                state[2 * layer][j] = outgate * cell.tanh();
                input[j] = state[2 * layer][j];
            }
        }
        let mut sum = T::lit(2.0);
        for j in 0..bits {
            predicted[j] = input[j] * extra[1][j] + extra[2][j];
            sum += predicted[j].exp();
        }
        let log = sum.ln();
        for j in 0..bits {
            total += T::lit(sequence[t + 1][j]) * (predicted[j] - log);
        }
    }
    -total / T::lit(((sequence.len() - 1) * bits) as f64)
}
