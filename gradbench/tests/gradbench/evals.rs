//! Each eval as a session: the tool's answers, compared with plain loops and derivatives found by hand.

use crate::reference::{ba, descent, det, gmm, ht, kmeans, llsq, lse, lstm, ode};
use crate::support::{BACKENDS, Driver, assert_close, extents};
use adbench::Lcg;
use serde_json::{Value, json};

/// Runs a session of an eval on each backend.
fn on_all_backends(module: &str, session: impl Fn(&mut Driver)) {
    for options in BACKENDS {
        let mut driver = Driver::new(options);
        driver.start(module);
        session(&mut driver);
        driver.finish();
    }
}

fn vector(random: &mut Lcg, n: usize, low: f64, high: f64) -> Vec<f64> {
    (0..n).map(|_| random.uniform(low, high)).collect()
}

fn matrix(random: &mut Lcg, n: usize, m: usize) -> Vec<Vec<f64>> {
    (0..n).map(|_| vector(random, m, -1.0, 1.0)).collect()
}

/// An input for a single run.
fn once(mut input: Value) -> Value {
    input["min_runs"] = 1.into();
    input["min_seconds"] = 0.into();
    input
}

#[test]
fn hello_squares_and_doubles() {
    on_all_backends("hello", |driver| {
        let mut x = 1.0;
        for _ in 0..4 {
            let y = driver.evaluate("hello", "square", json!(x));
            assert_eq!(y, x * x);
            let doubled = driver.evaluate("hello", "double", y);
            assert_eq!(doubled, 2.0 * x * x);
            x = doubled.as_f64().unwrap();
        }
        assert_eq!(x, 32768.0);
        assert_eq!(driver.evaluate("hello", "double", json!(3)), 6.0, "an integer is a number too");
    });
}

#[test]
fn lse_is_a_stable_log_sum_exp() {
    on_all_backends("lse", |driver| {
        let mut random = Lcg::new(1);
        for (n, shift) in [(1, 0.0), (10, 800.0), (1000, -800.0), (2500, 0.0)] {
            let xs = vector(&mut random, n, shift - 3.0, shift + 3.0);
            let input = once(json!({ "x": xs }));
            assert_close("primal", &driver.evaluate("lse", "primal", input.clone()), &[lse::value(&xs)]);
            assert_close("gradient", &driver.evaluate("lse", "gradient", input), &lse::gradient(&xs));
        }
    });
}

#[test]
fn llsq_fits_a_polynomial() {
    on_all_backends("llsq", |driver| {
        let mut random = Lcg::new(2);
        // If the number of points is odd, one of them is at 0.
        for (n, m) in [(2, 1), (3, 3), (16, 128), (33, 128), (500, 7)] {
            let xs = vector(&mut random, m, 0.0, 1.0);
            let input = once(json!({ "x": xs, "n": n }));
            assert_close("primal", &driver.evaluate("llsq", "primal", input.clone()), &[llsq::value(&xs, n)]);
            assert_close("gradient", &driver.evaluate("llsq", "gradient", input), &llsq::gradient(&xs, n));
        }
    });
}

#[test]
fn kmeans_steps_to_the_means() {
    on_all_backends("kmeans", |driver| {
        let mut random = Lcg::new(3);
        for (k, n, d) in [(1, 1, 1), (3, 20, 2), (10, 100, 8), (50, 50, 3)] {
            let points = matrix(&mut random, n, d);
            let centroids = points[n - k..].to_vec();
            let input = once(json!({ "points": points, "centroids": centroids }));
            let cost = driver.evaluate("kmeans", "cost", input.clone());
            assert_close("cost", &cost, &[kmeans::cost(&points, &centroids)]);
            let direction = driver.evaluate("kmeans", "dir", input);
            assert_eq!(extents(&direction), [k, d]);
            assert_close("dir", &direction, &kmeans::direction(&points, &centroids));
        }
    });
}

/// 0 / 0: JSON cannot represent the result.
#[test]
fn a_centroid_without_points_has_no_direction() {
    on_all_backends("kmeans", |driver| {
        let input = once(json!({ "points": [[0.0], [1.0]], "centroids": [[0.0], [9.0]] }));
        assert_eq!(driver.evaluate("kmeans", "dir", input), json!([[-0.5], [null]]));
    });
}

#[test]
fn gmm_is_a_log_posterior() {
    on_all_backends("gmm", |driver| {
        let mut random = Lcg::new(4);
        for (d, k, n, m, gamma) in [(1, 1, 1, 0, 1.0), (2, 3, 20, 0, 1.0), (5, 4, 50, 2, 0.7), (10, 5, 33, 0, 1.0)] {
            let problem = gmm::Problem {
                alpha: vector(&mut random, k, -1.0, 1.0),
                mu: matrix(&mut random, k, d),
                q: matrix(&mut random, k, d),
                l: matrix(&mut random, k, d * (d - 1) / 2),
                x: matrix(&mut random, n, d),
                gamma,
                m: f64::from(m),
            };
            let gmm::Problem { alpha, mu, q, l, x, .. } = &problem;
            let input = json!({
                "d": d, "k": k, "n": n, "x": x, "m": m, "gamma": gamma, "alpha": alpha, "mu": mu, "q": q, "l": l,
            });
            let value = driver.evaluate("gmm", "objective", once(input.clone()));
            assert_close("objective", &value, &[problem.value()]);
            let found = driver.evaluate("gmm", "jacobian", once(input));
            let expected = problem.gradient();
            assert_eq!(found.as_object().unwrap().len(), 4);
            assert_close("alpha", &found["alpha"], &expected.alpha);
            assert_eq!((extents(&found["mu"]), extents(&found["q"])), (vec![k, d], vec![k, d]));
            assert_close("mu", &found["mu"], &expected.mu);
            assert_close("q", &found["q"], &expected.q);
            assert_eq!(found["l"].as_array().unwrap().len(), k);
            assert_close("l", &found["l"], &expected.l);
        }
    });
}

/// The first 30 numbers and the last one.
fn ends<T: Copy>(numbers: &[T]) -> Vec<T> {
    numbers.iter().take(30).chain(numbers.last()).copied().collect()
}

#[test]
fn ba_is_a_sparse_jacobian() {
    on_all_backends("ba", |driver| {
        let mut random = Lcg::new(5);
        for (n, m, p, turning) in [(1, 1, 1, 0.5), (3, 7, 20, 0.5), (4, 5, 100, 0.0)] {
            let mut camera: [f64; 11] = std::array::from_fn(|_| random.uniform(-0.5, 0.5));
            camera[..3].iter_mut().for_each(|r| *r *= turning);
            camera[6] += 400.0;
            let point = [random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), random.uniform(3.0, 5.0)];
            let (weight, feature) = (random.uniform(0.2, 1.0), [random.uniform(-50.0, 50.0), 20.0]);
            let input = json!({ "n": n, "m": m, "p": p, "cam": camera, "x": point, "w": weight, "feat": feature });

            let problem = ba::Problem {
                cameras: vec![camera; n],
                points: vec![point; m],
                observed: (0..p).map(|i| (i % n, i % m)).collect(),
                weights: vec![weight; p],
                features: vec![feature; p],
            };
            let (starts, columns, values) = ba::jacobian(&problem);
            let found = driver.evaluate("ba", "jacobian", once(input.clone()));
            assert_eq!(found.as_object().unwrap().len(), 3);
            assert_eq!(found["rows"], json!(ends(&starts)));
            assert_eq!(found["cols"], json!(ends(&columns)));
            assert_close("vals", &found["vals"], &ends(&values));

            let found = driver.evaluate("ba", "objective", once(input));
            let [first, second] = crate::reference::residual(&problem, 0);
            assert_close("residual", &found["reproj_error"]["elements"], &[first, second]);
            assert_eq!(found["reproj_error"]["repeated"], p);
            assert_close("weight", &found["w_err"]["element"], &[1.0 - weight * weight]);
            assert_eq!(found["w_err"]["repeated"], p);
        }
    });
}

#[test]
fn ode_is_a_method_of_runge_and_kutta() {
    on_all_backends("ode", |driver| {
        let mut random = Lcg::new(6);
        // A step moves information by four numbers: after few steps, the last number does not depend on the first ones.
        for (n, steps) in [(1, 1), (1, 5), (2, 3), (7, 2), (9, 1), (40, 11), (1000, 3)] {
            let xs = vector(&mut random, n, 0.0, 2.0);
            let input = once(json!({ "x": xs, "s": steps }));
            assert_close("primal", &driver.evaluate("ode", "primal", input.clone()), &ode::value(&xs, steps));
            let expected = ode::gradient(&xs, steps);
            assert!(n > 4 * steps || expected[0] != 0.0);
            assert_close("gradient", &driver.evaluate("ode", "gradient", input), &expected);
        }
    });
}

#[test]
fn det_is_a_determinant() {
    on_all_backends("det", |driver| {
        let mut random = Lcg::new(7);
        for n in 0..=8 {
            let a = vector(&mut random, n * n, -1.0, 1.0);
            let input = once(json!({ "A": a, "ell": n }));
            assert_close("primal", &driver.evaluate("det", "primal", input.clone()), &[det::value(&a, n)]);
            assert_close("gradient", &driver.evaluate("det", "gradient", input), &det::gradient(&a, n));
        }
    });
}

#[test]
fn lstm_is_a_recurrent_network() {
    on_all_backends("lstm", |driver| {
        let mut random = Lcg::new(8);
        for (l, b, c) in [(1, 1, 2), (1, 3, 5), (2, 14, 30), (3, 4, 12), (6, 14, 3)] {
            let problem = lstm::Problem {
                main: matrix(&mut random, 2 * l, 4 * b),
                extra: matrix(&mut random, 3, b),
                state: matrix(&mut random, 2 * l, b),
                text: matrix(&mut random, c, b),
            };
            let lstm::Problem { main, extra, state, text } = &problem;
            let input = once(json!({ "main_params": main, "extra_params": extra, "state": state, "sequence": text }));
            assert_close("loss", &driver.evaluate("lstm", "objective", input.clone()), &[problem.value()]);
            assert_close("gradient", &driver.evaluate("lstm", "jacobian", input), &problem.gradient());
        }
    });
}

/// The modes of the outer and the inner derivative: each combination finds the same.
const MODES: [&str; 4] = ["ff", "fr", "rf", "rr"];

#[test]
fn particle_lands_at_the_origin() {
    on_all_backends("particle", |driver| {
        for w in [0.0, 0.2, 0.4] {
            for function in MODES {
                let found = driver.evaluate("particle", function, once(json!({ "w": w })));
                assert_close(function, &found, &[descent::particle(w)]);
            }
        }
        let found = driver.evaluate("particle", "rr", once(json!({ "w": 0 })));
        assert!((found.as_f64().unwrap() - 0.207_191_874_648_611_6).abs() < 1e-10, "the eval's own number: {found}");
    });
}

#[test]
fn saddle_is_found_by_nested_searches() {
    on_all_backends("saddle", |driver| {
        for start in [[1.0, 1.0], [0.5, -2.0], [0.0, 0.0]] {
            for function in MODES {
                let found = driver.evaluate("saddle", function, once(json!({ "start": start })));
                assert_close(function, &found, &descent::saddle(start));
            }
        }
        let found = driver.evaluate("saddle", "ff", once(json!({ "start": [1, 1] })));
        assert_close("the eval's own numbers", &found, &[8.246324826140356e-06; 4]);
    });
}

/// Numbers with which a search would never end.
#[test]
fn searches_that_get_lost_end() {
    let mut driver = Driver::new(&[]);
    driver.start("saddle");
    assert_eq!(driver.send("define", json!({ "module": "particle" }))["success"], true);
    for w in [1e3, -1e6, 1e300, -1e308] {
        for function in MODES {
            driver.evaluate("particle", function, once(json!({ "w": w })));
            driver.evaluate("saddle", function, once(json!({ "start": [w, 1] })));
        }
    }
    // There, both charges push the particle upwards, and it never lands.
    assert_eq!(driver.evaluate("particle", "rf", once(json!({ "w": 2 }))), json!(null));
    driver.finish();
}

/// A hand of 22 bones: an arm of two, and five fingers of four.
fn hand(random: &mut Lcg, vertices: usize, c: usize, is_simple: bool) -> ht::Problem {
    let affine = |random: &mut Lcg| {
        let rows = matrix(random, 3, 4);
        std::array::from_fn(|i| std::array::from_fn(|j| if i < 3 { rows[i][j] } else { f64::from(u8::from(j == 3)) }))
    };
    let mut chosen = |n: usize, below: usize| (0..n).map(|_| random.uniform(0.0, below as f64) as usize).collect();
    let (corners, chosen): (Vec<usize>, _) = (chosen(30, vertices), chosen(c, if is_simple { vertices } else { 10 }));
    ht::Problem {
        parents: (0..22)
            .map(|bone| {
                if bone < 2 {
                    bone - 1
                } else if bone % 4 == 2 {
                    1
                } else {
                    bone - 1
                }
            })
            .collect(),
        relatives: (0..22).map(|_| affine(random)).collect(),
        inverses: (0..22).map(|_| affine(random)).collect(),
        positions: matrix(random, vertices, 4).into_iter().map(|row| [row[0], row[1], row[2], row[3]]).collect(),
        weights: matrix(random, vertices, 22),
        triangles: corners.chunks(3).map(|corners| [corners[0], corners[1], corners[2]]).collect(),
        is_mirrored: is_simple,
        chosen,
        points: matrix(random, c, 3).into_iter().map(|row| [row[0], row[1], row[2]]).collect(),
        places: matrix(random, if is_simple { 0 } else { c }, 2).into_iter().map(|row| [row[0], row[1]]).collect(),
    }
}

fn hand_input(problem: &ht::Problem, pose: &[f64]) -> Value {
    let model = json!({
        "bone_count": problem.parents.len(), "bone_names": vec![""; problem.parents.len()], "parents": problem.parents,
        "base_relatives": problem.relatives, "inverse_base_absolutes": problem.inverses,
        "base_positions": problem.positions, "weights": problem.weights, "triangles": problem.triangles,
        "is_mirrored": problem.is_mirrored,
    });
    let data = json!({ "model": model, "correspondences": problem.chosen, "points": problem.points });
    once(json!({ "theta": pose, "data": data, "us": problem.places }))
}

#[test]
fn ht_is_a_jacobian_by_the_pose_of_a_hand() {
    on_all_backends("ht", |driver| {
        let mut random = Lcg::new(9);
        for (vertices, c, is_simple, turning) in
            [(1, 1, true, 1.0), (50, 20, true, 1.0), (40, 70, false, 1.0), (40, 3, false, 1e-5), (40, 3, true, 0.0)]
        {
            let problem = hand(&mut random, vertices, c, is_simple);
            let mut pose = vector(&mut random, 26, -1.0, 1.0);
            pose[..3].iter_mut().for_each(|r| *r *= turning);
            let input = hand_input(&problem, &pose);
            assert_close("objective", &driver.evaluate("ht", "objective", input.clone()), &problem.value(&pose));
            let found = driver.evaluate("ht", "jacobian", input);
            assert_eq!(extents(&found), [3 * c, if is_simple { 26 } else { 28 }]);
            assert_close("jacobian", &found, &problem.jacobian(&pose));
        }
    });
}

#[test]
fn hands_that_contradict_themselves() {
    let mut driver = Driver::new(&[]);
    driver.start("ht");
    let mut random = Lcg::new(10);
    let hand = hand_input(&hand(&mut random, 5, 3, false), &[0.5; 26]);
    driver.evaluate("ht", "jacobian", hand.clone());
    let cases = [
        ("/theta", json!([1, 2]), "`theta` has 2 entries"),
        ("/us", json!([[0, 0]]), "`us` has 1 entries"),
        ("/us", json!([[0]]), "invalid length"),
        ("/us", json!([]), "index"),
        ("/data/points", json!([]), "`points` has 0 entries"),
        ("/data/correspondences", json!([0, 1, 10]), "index"),
        ("/data/correspondences", json!([0, 1, -1]), "index"),
        ("/data/correspondences", json!([0, 1, 1u64 << 63]), "invalid value"),
        ("/data/model/bone_count", json!(21), "`parents` has 22 entries"),
        ("/data/model/bone_count", json!(1u64 << 62), "`parents` has 22 entries"),
        ("/data/model/parents/5", json!(5), "parent of bone 5 is 5"),
        ("/data/model/parents/0", json!(-2), "parent of bone 0 is -2"),
        ("/data/model/base_relatives/3/3", json!([0, 0, 1, 1]), "no affine map"),
        ("/data/model/base_relatives/3", json!([[1]]), "invalid length"),
        ("/data/model/inverse_base_absolutes", json!([]), "`inverse_base_absolutes` has 0 entries"),
        ("/data/model/weights/2", json!([1]), "`weights` is not a matrix"),
        ("/data/model/base_positions", json!([]), "`weights`"),
        ("/data/model/triangles/0", json!([0, 1]), "invalid length"),
        ("/data/model/is_mirrored", json!(0), "invalid type"),
    ];
    for (field, value, message) in cases {
        for function in ["objective", "jacobian"] {
            let mut input = hand.clone();
            *input.pointer_mut(field).unwrap() = value.clone();
            if field == "/us" && value == json!([]) {
                input["data"]["correspondences"] = json!([0, 1, 5]);
            }
            let answer = driver.send("evaluate", json!({ "module": "ht", "function": function, "input": input }));
            assert_eq!(answer["success"], false, "{field} = {value}: {answer}");
            assert!(answer["error"].as_str().unwrap().contains(message), "{field} = {value}: {answer}, not {message}");
        }
    }
    driver.evaluate("ht", "jacobian", hand);
    driver.finish();
}

#[test]
fn functions_run_as_often_as_the_input_says() {
    let mut driver = Driver::new(&[]);
    driver.start("lse");
    let mut runs = |min_runs: u64, min_seconds: f64| {
        let input = json!({ "x": [1.0, 2.0], "min_runs": min_runs, "min_seconds": min_seconds });
        driver.evaluate("lse", "primal", input);
        let timings = driver.record[driver.record.len() - 3]["timings"].as_array().unwrap();
        timings.iter().filter(|timing| timing["name"] == "evaluate").count()
    };
    assert_eq!(runs(1, 0.0), 1);
    assert_eq!(runs(7, 0.0), 7);
    assert_eq!(runs(0, 0.0), 1, "without a run there is no output");
    // A run takes some microseconds, and there is a limit for the number of runs.
    assert!(runs(1, 0.005) > 1);
    driver.finish();
}
