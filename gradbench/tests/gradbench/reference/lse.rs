//! The logarithm of a sum of exponentials.

/// log Σ exp xᵢ
pub fn value(xs: &[f64]) -> f64 {
    let largest = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    xs.iter().map(|x| (x - largest).exp()).sum::<f64>().ln() + largest
}

/// exp xᵢ / Σ exp xⱼ
pub fn gradient(xs: &[f64]) -> Vec<f64> {
    let value = value(xs);
    xs.iter().map(|x| (x - value).exp()).collect()
}
