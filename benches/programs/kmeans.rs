//! k-means on dense and on sparse points: the cost, and its first and second derivatives by the centroids.

use accel::afun::Afun;
use accel::prelude::*;

type M<T> = Acc<Matrix<T>>;

/// The sum over all points, `[n, d]`, of the squared distance to the nearest of the centroids, `[k, d]`.
pub fn cost<T: Floating>(points: M<T>, centroids: M<T>) -> Acc<Scalar<T>> {
    let nearest = nearest(matmul(points, transpose(centroids)), centroids);
    let differences = imap(|(i, j), x| x - centroids.at((nearest.at(i), j)), points);
    sum_all(map(|x| x * x, differences))
}

/// The number of the nearest centroid for each point, given their inner products, `[n, k]`.
fn nearest<T: Floating>(products: M<T>, centroids: M<T>) -> Acc<Vector<i64>> {
    let lengths = sum(map(|x| x * x, centroids));
    // The length of the point makes no difference.
    let distances = imap(|(_, k), product| (lengths.at(k) - product * lit::<T>(2.0), k), products);
    map(|(_, k)| k, fold1(|(x, i), (y, j)| cond(x.le(y), pair(x, i), pair(y, j)), distances))
}

/// Sparse points: for each point its first entry, and behind them the number of entries; the points, columns and values of the
/// entries, point by point.
pub type Points<T> = (Acc<Vector<i64>>, Acc<Vector<i64>>, Acc<Vector<i64>>, Acc<Vector<T>>);

/// The same cost for sparse points and dense centroids.
pub fn sparse_cost<T: Floating>((starts, points, columns, values): Points<T>, centroids: M<T>) -> Acc<Scalar<T>> {
    let (k, _) = centroids.shape();
    let products = generate((starts.shape() - 1, k), |(i, k)| {
        let step = |(entry, total): (Exp<i64>, Exp<T>)| {
            (entry + 1, total + values.at(entry) * centroids.at((k, columns.at(entry))))
        };
        let last = starts.at(i + 1);
        while_(|(entry, _): (Exp<i64>, Exp<T>)| entry.lt(last), step, (starts.at(i), lit::<T>(0.0))).1
    });
    let nearest = nearest(products, centroids);
    let lengths = sum(map(|x| x * x, centroids));
    let products = generate(columns.shape(), |entry| {
        values.at(entry) * centroids.at((nearest.at(points.at(entry)), columns.at(entry)))
    });
    let (of_points, of_centroids) = (sum(map(|x| x * x, values)), sum(map(|k| lengths.at(k), nearest)));
    zip_with(|(x, y), z| x + y - z * lit::<T>(2.0), zip(of_points, of_centroids), sum(products))
}

/// A cost with its derivatives by the centroids, first and second. A coordinate's derivative depends on no other coordinate, as long
/// as no point changes its centroid: the Hessian is diagonal, and its product with a matrix of ones is that diagonal.
pub fn derivatives<P: Arrays, T: Floating>(
    cost: &Afun<(P, Matrix<T>), Scalar<T>>,
) -> Afun<(P, Matrix<T>), (Scalar<T>, Matrix<T>, Matrix<T>)> {
    let gradient = grad(cost.by(|(_, centroids)| centroids));
    let second = jvp(gradient.by(|(_, centroids)| centroids));
    afun(|points: Acc<P>, centroids: M<T>| {
        let ones = map(|_| lit::<T>(1.0), centroids);
        let (first, second) = call(&second, ((points, centroids), ones));
        (call(cost, (points, centroids)), first, second)
    })
}
