//! Convolutions of images with several channels by 3 × 3 weights, without padding, in the forms that users write. An image is
//! of the form `(image, row, column, channel)`, and weights of the form `(row, column, channel of the image, channel of the result)`.

use accel::prelude::*;

/// Images, or weights.
pub type Four<T> = Acc<Array<Dim4, T>>;

/// The rows and columns of weights.
const SIZE: i64 = 3;

/// The extents of the result.
fn extents<T: Floating>(xs: Four<T>, weights: Four<T>) -> (Exp<i64>, Exp<i64>, Exp<i64>, Exp<i64>) {
    let (images, rows, columns, _) = xs.shape();
    let (.., channels) = weights.shape();
    (images, rows - (SIZE - 1), columns - (SIZE - 1), channels)
}

/// The product of a matrix with a row of all numbers under the weights for each place.
pub fn matrix_of_patches<T: Floating>(xs: Four<T>, weights: Four<T>) -> Four<T> {
    let (images, rows, columns, outputs) = extents(xs, weights);
    let (.., channels) = xs.shape();
    let length = channels * (SIZE * SIZE);
    let patches = generate((images * rows * columns, length), |(p, q)| {
        let (image, row, column) = (p / (rows * columns), p / columns % rows, p % columns);
        xs.at((image, row + q / (channels * SIZE), column + q / channels % SIZE, q % channels))
    });
    let product = matmul(patches, reshape((length, outputs), weights));
    reshape((images, rows, columns, outputs), product)
}

/// The sum of nine products of matrices, one for each place of the weights.
pub fn nine_products<T: Floating>(xs: Four<T>, weights: Four<T>) -> Four<T> {
    let (images, rows, columns, outputs) = extents(xs, weights);
    let (.., channels) = xs.shape();
    let places = images * rows * columns;
    let product = |k: i64, l: i64| {
        let shifted = generate((images, rows, columns, channels), |(n, i, j, c)| xs.at((n, i + k, j + l, c)));
        let weights = generate((channels, outputs), |(c, o)| weights.at((k, l, c, o)));
        matmul(reshape((places, channels), shifted), weights)
    };
    let mut sum = product(0, 0);
    for (k, l) in (1..SIZE * SIZE).map(|t| (t / SIZE, t % SIZE)) {
        sum = zip_with(|x, y| x + y, sum, product(k, l));
    }
    reshape((images, rows, columns, outputs), sum)
}

/// One `generate`: the nine places are written out, and the channels are summed.
pub fn places_written_out<T: Floating>(xs: Four<T>, weights: Four<T>) -> Four<T> {
    let (images, rows, columns, outputs) = extents(xs, weights);
    let (.., channels) = xs.shape();
    sum(generate((images, rows, columns, outputs, channels), |(n, i, j, o, c)| {
        let term = |t: i64| xs.at((n, i + t / SIZE, j + t % SIZE, c)) * weights.at((t / SIZE, t % SIZE, c, o));
        (1..SIZE * SIZE).fold(term(0), |sum, t| sum + term(t))
    }))
}

/// One `generate`, as the formula reads: the places and the channels are summed.
pub fn formula<T: Floating>(xs: Four<T>, weights: Four<T>) -> Four<T> {
    let (images, rows, columns, outputs) = extents(xs, weights);
    let (.., channels) = xs.shape();
    let terms = generate((images, rows, columns, outputs, SIZE * SIZE, channels), |(n, i, j, o, t, c)| {
        xs.at((n, i + t / SIZE, j + t % SIZE, c)) * weights.at((t / SIZE, t % SIZE, c, o))
    });
    sum(sum(terms))
}
