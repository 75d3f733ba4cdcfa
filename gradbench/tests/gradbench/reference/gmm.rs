//! The posterior density of a mixture of Gaussians.

use super::lse;

/// The mixture and the points: `alpha [k]`, `mu [k][d]`, `q [k][d]`, `l [k][d(d-1)/2]`, `x [n][d]`.
pub struct Problem {
    pub alpha: Vec<f64>,
    pub mu: Vec<Vec<f64>>,
    pub q: Vec<Vec<f64>>,
    pub l: Vec<Vec<f64>>,
    pub x: Vec<Vec<f64>>,
    pub gamma: f64,
    pub m: f64,
}

/// The derivatives by `alpha`, `mu`, `q` and `l`, each a matrix in row-major order.
#[derive(Default)]
pub struct Gradient {
    pub alpha: Vec<f64>,
    pub mu: Vec<f64>,
    pub q: Vec<f64>,
    pub l: Vec<f64>,
}

impl Problem {
    fn dimension(&self) -> usize {
        self.mu[0].len()
    }

    /// The position in a row of `l` of the entry of a row and a column left of it: the columns follow one another.
    fn place(&self, row: usize, column: usize) -> usize {
        (0..column).map(|c| self.dimension() - 1 - c).sum::<usize>() + row - column - 1
    }

    /// x - μ for a point and a Gaussian, and the product of Q with it.
    fn distance(&self, x: &[f64], k: usize) -> (Vec<f64>, Vec<f64>) {
        let r: Vec<f64> = x.iter().zip(&self.mu[k]).map(|(x, mu)| x - mu).collect();
        let row = |i: usize| {
            let below: f64 = (0..i).map(|j| self.l[k][self.place(i, j)] * r[j]).sum();
            self.q[k][i].exp() * r[i] + below
        };
        let z = (0..r.len()).map(row).collect();
        (r, z)
    }

    /// For a point, the logarithm of each Gaussian's share.
    fn shares(&self, x: &[f64]) -> Vec<f64> {
        let share = |k: usize| {
            let square: f64 = self.distance(x, k).1.iter().map(|z| z * z).sum();
            self.alpha[k] + self.q[k].iter().sum::<f64>() - 0.5 * square
        };
        (0..self.alpha.len()).map(share).collect()
    }

    /// The logarithm of the density.
    pub fn value(&self) -> f64 {
        let (n, d, k) = (self.x.len() as f64, self.dimension() as f64, self.alpha.len() as f64);
        let likelihood: f64 = self.x.iter().map(|x| lse::value(&self.shares(x))).sum();
        let normal = likelihood - n * lse::value(&self.alpha) - 0.5 * n * d * std::f64::consts::TAU.ln();

        let prior = |k: usize| {
            let diagonal: f64 = self.q[k].iter().map(|q| (2.0 * q).exp()).sum();
            let below: f64 = self.l[k].iter().map(|l| l * l).sum();
            0.5 * self.gamma * self.gamma * (diagonal + below) - self.m * self.q[k].iter().sum::<f64>()
        };
        let nu = d + self.m + 1.0;
        let gammas: f64 = (1..=self.dimension()).map(|j| libm::lgamma(0.5 * nu + 0.5 * (1.0 - j as f64))).sum();
        let log_gamma = 0.25 * d * (d - 1.0) * std::f64::consts::PI.ln() + gammas;
        let constant = nu * d * (self.gamma / 2f64.sqrt()).ln() - log_gamma;
        normal + k * constant - (0..self.alpha.len()).map(prior).sum::<f64>()
    }

    /// The gradient of [`Problem::value`]. Let p be the probability that a point belongs to Gaussian k, with r and z as
    /// in [`Problem::distance`]. Then the point's density has the derivatives p by α, p Qᵀz by μ, p (1 - zᵢ exp(qᵢ) rᵢ)
    /// by qᵢ and -p zᵢ rⱼ by the entry (i, j) of Q.
    pub fn gradient(&self) -> Gradient {
        let (d, n) = (self.dimension(), self.x.len() as f64);
        let mut all = Gradient::default();
        for (k, total) in lse::gradient(&self.alpha).into_iter().enumerate() {
            let (q, l) = (&self.q[k], &self.l[k]);
            let mut alpha = -n * total;
            let mut mu = vec![0.0; d];
            let mut by_q: Vec<f64> = q.iter().map(|q| self.m - self.gamma * self.gamma * (2.0 * q).exp()).collect();
            let mut by_l: Vec<f64> = l.iter().map(|l| -self.gamma * self.gamma * l).collect();
            for x in &self.x {
                let p = lse::gradient(&self.shares(x))[k];
                let (r, z) = self.distance(x, k);
                alpha += p;
                for i in 0..d {
                    mu[i] += p * q[i].exp() * z[i];
                    by_q[i] += p * (1.0 - z[i] * q[i].exp() * r[i]);
                    for j in 0..i {
                        let place = self.place(i, j);
                        mu[j] += p * l[place] * z[i];
                        by_l[place] -= p * z[i] * r[j];
                    }
                }
            }
            all.alpha.push(alpha);
            all.mu.extend(mu);
            all.q.extend(by_q);
            all.l.extend(by_l);
        }
        all
    }
}
