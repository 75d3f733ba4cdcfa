//! Hand tracking, with matrices as in textbooks, and with dual numbers for the derivatives by the pose.

use std::ops::{Add, Mul, Sub};

/// A number and its derivative along a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dual(pub f64, pub f64);

impl Add for Dual {
    type Output = Dual;
    fn add(self, y: Dual) -> Dual {
        Dual(self.0 + y.0, self.1 + y.1)
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, y: Dual) -> Dual {
        Dual(self.0 - y.0, self.1 - y.1)
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, y: Dual) -> Dual {
        Dual(self.0 * y.0, self.1 * y.0 + self.0 * y.1)
    }
}

impl Dual {
    fn of(x: f64) -> Dual {
        Dual(x, 0.0)
    }
    fn sin(self) -> Dual {
        Dual(self.0.sin(), self.1 * self.0.cos())
    }
    fn cos(self) -> Dual {
        Dual(self.0.cos(), -self.1 * self.0.sin())
    }
    fn sqrt(self) -> Dual {
        Dual(self.0.sqrt(), 0.5 * self.1 / self.0.sqrt())
    }
    fn recip(self) -> Dual {
        Dual(1.0 / self.0, -self.1 / (self.0 * self.0))
    }
}

type Matrix = [[Dual; 4]; 4];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..4).fold(Dual::default(), |sum, k| sum + a[i][k] * b[k][j])))
}

fn constant(a: &[[f64; 4]; 4]) -> Matrix {
    a.map(|row| row.map(Dual::of))
}

/// The matrix with these 3 × 3 entries, and otherwise that of the identity.
fn rotation(entries: [[Dual; 3]; 3]) -> Matrix {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| if i < 3 && j < 3 { entries[i][j] } else { Dual::of(f64::from(u8::from(i == j))) })
    })
}

/// A hand, and points with their places on its surface.
pub struct Problem {
    pub parents: Vec<i64>,
    pub relatives: Vec<[[f64; 4]; 4]>,
    pub inverses: Vec<[[f64; 4]; 4]>,
    pub positions: Vec<[f64; 4]>,
    pub weights: Vec<Vec<f64>>,
    pub triangles: Vec<[usize; 3]>,
    pub is_mirrored: bool,
    pub chosen: Vec<usize>,
    pub points: Vec<[f64; 3]>,
    /// Empty if the points are at vertices.
    pub places: Vec<[f64; 2]>,
}

impl Problem {
    /// The differences of all points, coordinate by coordinate.
    fn differences(&self, pose: &[Dual], places: &[[Dual; 2]]) -> Vec<Dual> {
        let surface = self.surface(pose);
        let place = |i: usize| -> [Dual; 3] {
            if places.is_empty() {
                return surface[self.chosen[i]];
            }
            let ([u, v], [a, b, c]) = (places[i], self.triangles[self.chosen[i]].map(|corner| surface[corner]));
            std::array::from_fn(|j| u * a[j] + v * b[j] + (Dual::of(1.0) - u - v) * c[j])
        };
        (0..self.points.len())
            .flat_map(|i| {
                let place = place(i);
                (0..3).map(move |j| Dual::of(self.points[i][j]) - place[j])
            })
            .collect()
    }

    fn surface(&self, pose: &[Dual]) -> Vec<[Dual; 3]> {
        let (zero, one) = (Dual::default(), Dual::of(1.0));
        // The angles of each bone: three joints of each finger bend, and the first one also spreads.
        let mut angles = vec![[zero; 2]; self.parents.len()];
        for finger in 0..5 {
            let of_finger = &pose[6 + 4 * finger..10 + 4 * finger];
            angles[2 + 4 * finger] = [of_finger[0], of_finger[1]];
            angles[3 + 4 * finger][0] = of_finger[2];
            angles[4 + 4 * finger][0] = of_finger[3];
        }
        let mut absolutes: Vec<Matrix> = vec![];
        for (bone, [bend, spread]) in angles.into_iter().enumerate() {
            let (c, s) = (bend.cos(), bend.sin());
            let bent = rotation([[one, zero, zero], [zero, c, zero - s], [zero, s, c]]);
            let (c, s) = (spread.cos(), spread.sin());
            let spread = rotation([[c, zero - s, zero], [s, c, zero], [zero, zero, one]]);
            let relative = product(&constant(&self.relatives[bone]), &product(&spread, &bent));
            absolutes.push(match self.parents[bone] {
                -1 => relative,
                parent => product(&absolutes[parent as usize], &relative),
            });
        }
        let transforms: Vec<Matrix> =
            absolutes.iter().zip(&self.inverses).map(|(a, inverse)| product(a, &constant(inverse))).collect();

        let norm = (pose[0] * pose[0] + pose[1] * pose[1] + pose[2] * pose[2]).sqrt();
        let global = if norm.0 < 1e-4 {
            rotation(std::array::from_fn(|i| std::array::from_fn(|j| Dual::of(f64::from(u8::from(i == j))))))
        } else {
            let [x, y, z] = [pose[0], pose[1], pose[2]].map(|r| r * norm.recip());
            let (s, c) = (norm.sin(), norm.cos());
            let rest = one - c;
            rotation([
                [x * x + (one - x * x) * c, x * y * rest - z * s, x * z * rest + y * s],
                [x * y * rest + z * s, y * y + (one - y * y) * c, y * z * rest - x * s],
                [x * z * rest - y * s, z * y * rest + x * s, z * z + (one - z * z) * c],
            ])
        };
        let vertex = |(position, weights): (&[f64; 4], &Vec<f64>)| -> [Dual; 3] {
            let blended: [Dual; 3] = std::array::from_fn(|i| {
                let moved = transforms.iter().zip(weights).fold(zero, |sum, (transform, weight)| {
                    let moved = (0..4).fold(zero, |sum, k| sum + transform[i][k] * Dual::of(position[k]));
                    sum + moved * Dual::of(*weight)
                });
                if i == 0 && self.is_mirrored { zero - moved } else { moved }
            });
            std::array::from_fn(|i| (0..3).fold(pose[3 + i], |sum, k| sum + global[i][k] * blended[k]))
        };
        self.positions.iter().zip(&self.weights).map(vertex).collect()
    }

    fn dual_places(&self, moved: Option<usize>) -> Vec<[Dual; 2]> {
        let place = |u: &[f64; 2]| std::array::from_fn(|j| Dual(u[j], f64::from(u8::from(moved == Some(j)))));
        self.places.iter().map(place).collect()
    }

    /// The differences.
    pub fn value(&self, pose: &[f64]) -> Vec<f64> {
        let pose: Vec<Dual> = pose.iter().map(|x| Dual::of(*x)).collect();
        self.differences(&pose, &self.dual_places(None)).iter().map(|x| x.0).collect()
    }

    /// The rows of the Jacobian: the columns are one direction each.
    pub fn jacobian(&self, pose: &[f64]) -> Vec<f64> {
        let along = |place: Option<usize>, angle: Option<usize>| -> Vec<f64> {
            let pose = (0..).zip(pose).map(|(i, x)| Dual(*x, f64::from(u8::from(angle == Some(i)))));
            self.differences(&pose.collect::<Vec<_>>(), &self.dual_places(place)).iter().map(|x| x.1).collect()
        };
        let places = if self.places.is_empty() { 0 } else { 2 };
        let columns: Vec<Vec<f64>> =
            (0..places).map(|j| along(Some(j), None)).chain((0..pose.len()).map(|i| along(None, Some(i)))).collect();
        (0..3 * self.points.len()).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
    }
}
