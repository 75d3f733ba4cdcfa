//! Poisson regression on sparse data.

use accel::prelude::*;

/// A sparse matrix: the rows, columns and values of its entries.
pub type Entries = (Acc<Vector<i64>>, Acc<Vector<i64>>, Acc<Vector<f64>>);

/// The negative log-likelihood of counts, up to a constant, given rates exp(X w).
pub fn loss(w: Acc<Vector<f64>>, (rows, columns, values): Entries, counts: Acc<Vector<f64>>) -> Acc<Scalar<f64>> {
    let terms = zip_with(|column, value| value * w.at(column), columns, values);
    let logs = permute(|x, y| x + y, fill(counts.shape(), 0.0), |entry| (true, rows.at(entry)), terms);
    sum(zip_with(|log, count| log.exp() - count * log, logs, counts))
}
