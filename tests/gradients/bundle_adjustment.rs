//! Compares the Jacobian of the benchmarks, which was differentiated by hand, with the example's program on the
//! interpreter and on the native backend.

#[path = "../../benches/native/ba_by_hand.rs"]
mod ba_by_hand;
#[path = "../../examples/ba/geometry.rs"]
mod geometry;
#[path = "../../examples/ba/jacobian.rs"]
#[expect(dead_code, reason = "neither the residuals nor the files are needed here")]
mod jacobian;

use accel::backend_named;
use accel::prelude::*;
use adbench::Lcg;

/// Cameras, points and observations that all differ: as many observations as several strips and threads have, and a number
/// that no vector divides. The first camera does not rotate, so its formula takes another branch.
fn problem() -> ba_by_hand::Problem {
    let (cameras, points, observations) = (5, 43, 3001);
    let mut random = Lcg::new(7);
    let camera = |i: usize| {
        let mut camera: [f64; 11] = std::array::from_fn(|_| random.uniform(-0.5, 0.5));
        camera[6] += 400.0;
        if i == 0 {
            camera[..3].fill(0.0);
        }
        camera
    };
    let cameras_made = (0..cameras).map(camera).collect();
    let mut numbers = |low, high| random.uniform(low, high);
    ba_by_hand::Problem {
        cameras: cameras_made,
        points: (0..points).map(|_| [numbers(-1.0, 1.0), numbers(-1.0, 1.0), numbers(3.0, 5.0)]).collect(),
        observed: (0..observations).map(|i| (i % cameras, i % points)).collect(),
        weights: (0..observations).map(|_| numbers(0.2, 1.0)).collect(),
        features: (0..observations).map(|_| [numbers(-50.0, 50.0), numbers(-50.0, 50.0)]).collect(),
    }
}

#[test]
fn the_derivatives_by_hand_are_those_of_the_program() -> Result<(), Error> {
    let problem = problem();
    let cameras = problem.cameras.iter();
    let inputs: jacobian::Problem<f64> = (
        cameras
            .map(|&[r1, r2, r3, c1, c2, c3, focal, u0, v0, k1, k2]| {
                ((r1, r2, r3), (c1, c2, c3), focal, (u0, v0), (k1, k2))
            })
            .collect(),
        problem.points.iter().map(|&[x, y, z]| (x, y, z)).collect(),
        problem.observed.iter().map(|&(camera, point)| (camera as i64, point as i64)).collect(),
        problem.weights.iter().copied().collect(),
        problem.features.iter().map(|&[u, v]| (u, v)).collect(),
    );
    let program = afun(jacobian::jacobian::<f64>);
    let by_hand = ba_by_hand::jacobian(&problem);
    for backend in ["interp", "native"] {
        let (starts, columns, values) = run_on(backend_named(backend)?, &program, &inputs)?;
        assert_eq!(starts.as_slice(), by_hand.0, "{backend}");
        assert_eq!(columns.as_slice(), by_hand.1, "{backend}");
        assert_eq!(values.len(), by_hand.2.len(), "{backend}");
        for (entry, (a, b)) in values.iter().zip(&by_hand.2).enumerate() {
            let close = (a - b).abs() <= 1e-11 * b.abs().max(1.0);
            assert!(close, "entry {entry}: {a} by the program on {backend}, {b} by hand");
        }
    }
    Ok(())
}
