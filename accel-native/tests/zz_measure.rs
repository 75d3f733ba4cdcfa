use accel_core::afun::Compiled;
use accel_core::prelude::*;
use accel_native::Native;
use std::time::Instant;

fn time(what: &str, f: impl FnOnce(Acc<Vector<f64>>) -> Acc<Vector<f64>>, n: usize) {
    let xs = Array::vector((0..n).map(|i| 0.5 + (i % 1000) as f64 * 1e-3).collect::<Vec<_>>());
    let start = Instant::now();
    let p = Compiled::new(&Native, &afun(f)).unwrap();
    let compiled = start.elapsed();
    let mut best = f64::MAX;
    for _ in 0..60 {
        let start = Instant::now();
        let y = p.run(&xs).unwrap();
        best = best.min(start.elapsed().as_secs_f64());
        std::hint::black_box(y);
    }
    println!("{what}: {:.3} ms, compiled in {:?}", best * 1e3, compiled);
}

#[test]
fn measure() {
    for n in [2_000usize, 200_000] {
        for count in [30usize, 300] {
            let f = move |a: Acc<Vector<f64>>| {
                map(
                    move |x: Exp<f64>| {
                        let v: Vec<Exp<f64>> = (0..count).map(|k| (x * (1.0 + k as f64 * 0.001)).sqrt()).collect();
                        let mut s = v[0];
                        for k in 1..count {
                            s = s * 0.5 + v[(k * 7919) % count] * v[count - 1 - k];
                        }
                        s
                    },
                    a,
                )
            };
            time(&format!("{count} live values, {n}"), f, n);
        }
        time(&format!("wave, {n}"), |xs| map(|x| x.sin() + 1.0, xs), n);
        time(&format!("scan, {n}"), |xs| scanl1(|a, b| a + b, xs), n);
    }
}
