//! The inputs of the programs. A C++ program makes the same ones.

/// A generator of numbers in [0, 1).
pub struct Numbers(u64);

impl Numbers {
    /// A generator.
    pub fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> f64 {
        // Knuth's generator; the upper 53 bits.
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A vector.
    pub fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }

    /// The rows of a matrix.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> Vec<Vec<f64>> {
        (0..rows).map(|_| self.vector(columns)).collect()
    }
}
