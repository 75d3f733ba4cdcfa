//! K-means.

fn squared_distance(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - q) * (p - q)).sum()
}

/// The number of the centroid nearest to a point.
fn nearest(point: &[f64], centroids: &[Vec<f64>]) -> usize {
    let distance = |j: &usize| squared_distance(point, &centroids[*j]);
    (0..centroids.len()).min_by(|i, j| distance(i).total_cmp(&distance(j))).unwrap()
}

/// The sum of the squared distances of the points to their centroids.
pub fn cost(points: &[Vec<f64>], centroids: &[Vec<f64>]) -> f64 {
    points.iter().map(|point| squared_distance(point, &centroids[nearest(point, centroids)])).sum()
}

/// The gradient divided by the Hessian: Σ 2 (c - p) divided by Σ 2 over all points p of a centroid c. This is the
/// distance of c from the mean of its points.
pub fn direction(points: &[Vec<f64>], centroids: &[Vec<f64>]) -> Vec<f64> {
    let mut sums: Vec<(Vec<f64>, f64)> = centroids.iter().map(|c| (vec![0.0; c.len()], 0.0)).collect();
    for point in points {
        let (sum, count) = &mut sums[nearest(point, centroids)];
        sum.iter_mut().zip(point).for_each(|(sum, p)| *sum += p);
        *count += 1.0;
    }
    let each = centroids.iter().zip(&sums);
    each.flat_map(|(c, (sum, count))| c.iter().zip(sum).map(move |(c, sum)| c - sum / count)).collect()
}
