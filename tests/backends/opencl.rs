//! Tests of the OpenCL backend on the devices of this machine. Without a device, every test prints a line and does
//! nothing.
use crate::suite;
use crate::support::{example, numbers, relative_error, run_json};
use accel::Result;
use accel::backend::Backend;
use accel::opencl::{Kernels, OpenCl, Target, default_device, devices};
use accel::prelude::*;
use accel::repr::{Column, RawArray};
use accel_fusion::kernel::{Verified, parse};
use accel_fusion::pipeline::{self, Fault, Options};
use std::io::Write;
use std::process::Command;
use std::sync::OnceLock;

/// The value, or `None` after a message.
fn or_left_out<T>(found: Result<T>) -> Option<T> {
    // Not with `println!`, whose output cargo hides.
    found.inspect_err(|e| _ = writeln!(std::io::stderr(), "LEFT OUT: {e}")).ok()
}

/// The backend on the default device, if there is one.
fn opencl() -> Option<&'static OpenCl> {
    static FOUND: OnceLock<Option<OpenCl>> = OnceLock::new();
    FOUND.get_or_init(|| or_left_out(default_device().and_then(|d| OpenCl::on(&d)))).as_ref()
}

/// The native backend, if it has a C compiler. The machine to which the test was copied may have none.
fn native() -> Option<&'static dyn Backend> {
    let next = afun(|x: Acc<Scalar<i64>>| map(|x| x + 1, x));
    let backend = accel::backend_named("native").unwrap();
    or_left_out(compile_on(backend, next)).map(|_| backend)
}

#[test]
fn axpy_runs() {
    let Some(backend) = opencl() else { return };
    let axpy = afun(|a: Acc<Scalar<f32>>, xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| {
        let a = the(a);
        zip_with(move |x, y| a * x + y, xs, ys)
    });
    for n in [0, 1, 1000, 1 << 20] {
        let xs: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let ys = vec![1.0f32; n];
        let expected: Vec<f32> = xs.iter().map(|x| 2.0 * x + 1.0).collect();
        let found = run_on(backend, &axpy, (&Array::scalar(2.0), &Array::vector(xs), &Array::vector(ys))).unwrap();
        assert_eq!(found.as_slice(), expected);
    }
}

/// A fifth of the programs, another one for each revision: [`suite::fifth`].
#[test]
fn conformance() {
    let Some(backend) = opencl() else { return };
    println!("{} results compared", suite::fifth(backend));
}

#[test]
#[ignore = "takes minutes where kernels are not in the driver's cache: scripts/test.sh --opencl runs it"]
fn conformance_of_all_programs() {
    let Some(backend) = opencl() else { return };
    println!("{} results compared", suite::all(backend));
}

/// Scans of long rows by groups that wait for each other, and without waiting: the same integers, and rounded sums that
/// do not change from run to run.
#[test]
fn long_scans_in_one_launch_and_in_two() {
    let Some(backend) = opencl() else { return };
    // So many parts that the heads of blocks form a chain.
    let n = 5_000_003;
    let xs: Vec<i64> = (0..n).map(|i| i * i % 1000 - 500).collect();
    let mut all = vec![7];
    xs.iter().for_each(|x| all.push(all[all.len() - 1] + x));
    let floats: Vec<f32> = xs.iter().map(|x| *x as f32 * 0.1).collect();
    let (xs, floats) = (Array::vector(xs), Array::vector(floats));
    let sums = afun(|xs: Acc<Vector<i64>>| scanl(|x, y| x + y, 7, xs));
    let rounded = afun(|xs: Acc<Vector<f32>>| scanr1(|x, y| x + y, xs));
    for look_back in [false, true] {
        let backend = backend.clone().with_target(|t| Target { look_back, ..t });
        assert_eq!(run_on(&backend, &sums, &xs).unwrap().as_slice(), all);
        let rounded = compile_on(&backend, &rounded).unwrap();
        let first = rounded.run(&floats).unwrap();
        for _ in 0..3 {
            assert!(rounded.run(&floats).unwrap().as_slice() == first.as_slice(), "look back: {look_back}");
        }
    }
}

/// Sums of numbers that are rounded are the same in every run, whichever group is faster, in groups of the device and in small ones.
#[test]
fn scans_give_the_same_in_every_run() {
    let Some(backend) = opencl() else { return };
    for (t, suffix) in [("f32", "f32"), ("f64", "")] {
        for direction in ["", "reverse"] {
            let text = format!(
                "program (a0: Array1<{t}>)
                 site 0 = \"here\"
                 {{
                   a1: Array1<{t}> = scan @0 {direction}
                     extents () {{ -> }}
                     len () {{ x0: i64 = extent a0 0 -> x0 }}
                     element (x0: i64) {{ x1: {t} = a0[x0] @0 inside; x2: {t} = 0.1{suffix}; x3: {t} = x1 * x2 -> x3 }}
                     op (x0: {t}, x1: {t}) {{ x2: {t} = x0 + x1 -> x2 }}
                   -> a1
                 }}"
            );
            let program = parse(&text).and_then(Verified::new).unwrap();
            let xs = (0..300_000).map(|i| 1.0 + (i * 7 % 5) as f64);
            let columns = vec![if t == "f32" {
                xs.map(|x| x as f32).collect::<Vec<_>>().into()
            } else {
                xs.collect::<Vec<_>>().into()
            }];
            let xs = RawArray { extents: vec![300_000].into(), columns: columns.into() };
            for largest_group in [usize::MAX, 4] {
                let target =
                    |t: Target| Target { look_back: true, largest_group: t.largest_group.min(largest_group), ..t };
                // SAFETY: it goes through the elements that there are.
                let kernels =
                    unsafe { Kernels::trusting(&backend.clone().with_target(target), program.clone()) }.unwrap();
                let first = kernels.run(&[&xs]).unwrap();
                for _ in 0..20 {
                    assert_eq!(kernels.run(&[&xs]).unwrap(), first);
                }
            }
        }
    }
}

#[test]
fn kernels_refuse_inputs_that_do_not_fit() {
    let Some(backend) = opencl() else { return };
    let program = parse("program (a0: Array1<f64>)\n{ -> a0 }").and_then(Verified::new).unwrap();
    // SAFETY: it reads nothing.
    let kernels = unsafe { Kernels::trusting(backend, program) }.unwrap();
    let array = |extents: &[usize], column: Column| RawArray { extents: extents.into(), columns: vec![column].into() };
    let fits = array(&[2], vec![0.5, 1.5].into());
    assert_eq!(kernels.run(&[&fits]).unwrap(), [fits]);
    let others =
        [array(&[2], vec![1i64, 2].into()), array(&[1, 2], vec![0.5, 1.5].into()), array(&[3], vec![0.5].into())];
    assert!(kernels.run(&[]).is_err() && others.iter().all(|a| kernels.run(&[a]).is_err()));
}

#[test]
fn devices_are_listed() {
    let Some(backend) = opencl() else { return };
    let all = devices().unwrap();
    let used = backend.device();
    assert!(all.iter().any(|d| d.to_string() == used.to_string()));
    assert!(used.units > 0 && used.memory >= used.largest_buffer && used.largest_buffer > 1 << 20, "{used:?}");
    assert_eq!(accel::backend_named("opencl").unwrap().name(), "opencl");
}

/// Results larger than the caches, with columns of elements of different sizes, whose last piece is not complete.
#[test]
fn large_results_are_whole() {
    let Some(backend) = opencl() else { return };
    let n = (4 << 20) + 5;
    let is = Array::vector((0..n).map(|i| i as u32).collect());
    let pairs = afun(|is: Acc<Vector<u32>>| map(|i| (i.cast::<f64>() * 0.5, i.cast::<u8>()), is));
    let found = run_on(backend, pairs, &is).unwrap();
    assert!(found.to_vec().into_iter().eq((0..n).map(|i| (i as f64 * 0.5, i as u8))));
    let quotients = |zero: u32| {
        let both = move |i: Exp<u32>| (constant(9u32) / (i - zero), i.cast::<f64>());
        let wide = afun(move |is: Acc<Vector<u32>>| map(both, is));
        run_on(backend, wide, &is).map(|a| a.len()).map_err(|e| e.to_string())
    };
    assert_eq!(quotients(n as u32), Ok(n));
    assert!(quotients(n as u32 - 1).is_err_and(|e| e.contains("zero")));
}

type V = Vector<f32>;

fn scaled_sum() -> Afun<(V, V), (V, Scalar<f32>)> {
    afun(|xs: Acc<V>, ys: Acc<V>| {
        let zs = zip_with(|x, y| x * 2.0 + y, xs, ys);
        (zs, sum(zs))
    })
}

#[test]
fn arrays_stay_on_the_device() {
    let Some(backend) = opencl() else { return };
    let program = backend.compile(&scaled_sum()).unwrap();
    for n in [0, 1, 1000, 300_000] {
        let xs = Array::vector(vec![1.0f32; n]);
        let device = backend.to_device(&xs).unwrap();
        assert_eq!(device.to_host().unwrap().as_slice(), xs.as_slice());
        let (_, total) = program.run_async((&device, &device)).unwrap().wait().unwrap().to_host().unwrap();
        assert_eq!(total.as_slice(), [3.0 * n as f32]);
    }
}

/// Each run uses the result of the one before; the host waits only at the end.
#[test]
fn many_runs_are_in_flight() {
    let Some(backend) = opencl() else { return };
    for n in [1000, 200_000] {
        let next = afun(|xs: Acc<Vector<i64>>| map(|x| x + 1, xs));
        let next = backend.compile(&next).unwrap();
        let mut state = backend.to_device(&Array::vector((0..n as i64).collect())).unwrap();
        let runs: Vec<_> = (0..100)
            .map(|_| {
                let run = next.run_async(&state).unwrap();
                state = run.results().clone();
                run
            })
            .collect();
        for (k, run) in runs.into_iter().enumerate() {
            let found = run.wait().unwrap().to_host().unwrap();
            assert_eq!(found.as_slice()[1], k as i64 + 2);
        }
        let expected: Vec<i64> = (100..100 + n as i64).collect();
        assert_eq!(state.to_host().unwrap().as_slice(), expected);
    }
}

#[test]
fn several_threads_run_one_program() {
    let Some(backend) = opencl() else { return };
    let program = compile_on(backend, scaled_sum()).unwrap();
    std::thread::scope(|scope| {
        for k in 0..4 {
            let program = &program;
            scope.spawn(move || {
                for n in [10, 5000, 100_000] {
                    let xs = Array::vector(vec![k as f32; n]);
                    let (zs, total) = program.run((&xs, &xs)).unwrap();
                    assert_eq!(zs.as_slice(), vec![3.0 * k as f32; n]);
                    assert_eq!(total.as_slice(), [(3 * k * n) as f32]);
                }
            });
        }
    });
}

/// Later runs overwrite neither the results that the user keeps nor the arguments.
#[test]
fn results_and_arguments_are_not_written_over() {
    let Some(backend) = opencl() else { return };
    let n = 1 << 18;
    let twice = compile_on(backend, afun(|xs: Acc<V>| map(|x| x * 2.0, xs))).unwrap();
    let xs = Array::vector(vec![1.0f32; n]);
    let first = twice.run(&xs).unwrap();
    let second = twice.run(&first).unwrap();
    let _ = twice.run(&second).unwrap();
    let third = twice.run(&second).unwrap();
    for (found, expected) in [(&xs, 1.0), (&first, 2.0), (&second, 4.0), (&third, 8.0)] {
        assert_eq!(found.as_slice(), vec![expected; n]);
    }
}

/// The message is that of the native backend, whether the host or the device finds the error.
#[test]
fn errors_are_those_of_the_native_backend() {
    let Some((backend, native)) = opencl().zip(native()) else { return };
    let both = (backend, native);
    fn compare<A: Arrays, R: Arrays>(
        (backend, native): (&OpenCl, &dyn Backend),
        f: Afun<A, R>,
        inputs: impl accel::types::Inputs<A> + Copy,
    ) {
        let expected = run_on(native, &f, inputs).err().map(|e| e.to_string());
        let found = run_on(backend, &f, inputs).err().map(|e| e.to_string());
        assert!(expected.is_some());
        assert_eq!(found, expected, "{f}");
    }
    let is = &Array::vector(vec![0i64, 7, 2]);
    compare(both, afun(|is: Acc<Vector<i64>>| map(move |i| is.at(i), is)), is);
    compare(both, afun(|is: Acc<Vector<i64>>| map(|i| constant(10i64) / i, is)), is);
    compare(both, afun(|is: Acc<Vector<i64>>| generate(is.at(0) - 3, |i| i)), is);
    compare(both, afun(|is: Acc<Vector<i64>>| fold1(|a, b| a + b, take(0, is))), is);
    // Later statements must not hide the failure, and a failed run must not make the next one fail.
    let two = afun(|is: Acc<Vector<i64>>| {
        let quotients = map(|i| constant(10i64) / i, is);
        let n = the(sum(quotients));
        generate(n - 1000, |i| i)
    });
    compare(both, two, is);
    let good = compile_on(backend, afun(|is: Acc<Vector<i64>>| map(|i| constant(10i64) / i, is))).unwrap();
    assert!(good.run(is).is_err());
    assert_eq!(good.run(&Array::vector(vec![5, 2])).unwrap().as_slice(), [2, 5]);
    assert!(good.run(is).is_err());
}

#[test]
fn a_stage_that_fails_is_left_out() {
    let Some(backend) = opencl() else { return };
    let f = afun(|m: Acc<Matrix<f32>>| {
        let rows = zip_with(|a, b| a / (b + 8.0), sum(map(|x| x * x + 0.5, m)), maximum(m));
        map(|x| x + 1.0, rows)
    });
    let m = Array::matrix(4, 5, (0..20).map(|i| (i % 7) as f32).collect()).unwrap();
    let expected = run_on(&accel::interp::Interpreter, &f, &m).unwrap();
    let passes = || pipeline::Target::Any.pass_names();
    let panics = passes().chain(["simplify", "emit"]).map(Fault::Panic);
    for fault in passes().map(Fault::Reject).chain(panics).chain([Fault::Refuse]) {
        let options = Options { fault: Some(fault), ..Options::default() };
        let found = run_on(&backend.clone().with_options(options.clone()), &f, &m);
        assert_eq!(found.unwrap_or_else(|e| panic!("{fault:?}: {e}")).as_slice(), expected.as_slice(), "{fault:?}");
        let strict = backend.clone().with_options(Options { strict: true, ..options });
        assert!(run_on(&strict, &f, &m).is_err(), "{fault:?}");
    }
}

/// Deeply nested code becomes functions: NOTE [Outlined functions] in `accel_codegen`.
#[test]
fn deep_programs_run() {
    let Some(backend) = opencl() else { return };
    let n = 200;
    let scalar = afun(move |xs: Acc<Vector<f32>>| {
        map(move |x| (0..n).fold(x, |y, i| cond(x.gt(i as f32), y, x * 2.0 + i as f32)), xs)
    });
    let array = afun(move |xs: Acc<Vector<f32>>| {
        (0..n).fold(xs, |ys, i| acond(xs.at(0).gt(i as f32), ys, map(move |x| x * 2.0 + i as f32, xs)))
    });
    let xs = Array::vector(vec![1000.0f32, 0.5, 100.5, -3.0]);
    for f in [scalar, array] {
        let expected = run_on(&accel::interp::Interpreter, &f, &xs).unwrap();
        assert_eq!(run_on(backend, &f, &xs).unwrap().as_slice(), expected.as_slice());
    }
}

#[test]
fn an_array_that_the_device_cannot_have_is_an_error() {
    let Some(backend) = opencl() else { return };
    let make = afun(|n: Acc<Scalar<i64>>| map(|i| i * 2, generate(the(n), |i| i)));
    for n in [1 << 38, 1 << 45, i64::MAX] {
        let e = run_on(backend, &make, &Array::scalar(n)).unwrap_err().to_string();
        assert!(e.contains("bytes in one piece") || e.contains("no memory"), "{e}");
    }
}

/// A loop whose condition the host computes, and one whose condition the device computes.
#[test]
fn loops_run() {
    let Some(backend) = opencl() else { return };
    type State = (Acc<Scalar<i64>>, Acc<V>);
    let by_count = afun(|xs: Acc<V>| {
        let start = (unit(constant(0i64)), xs);
        awhile(|(i, _): State| the(i).lt(20), |(i, xs)| (map(|i| i + 1, i), map(|x| x + 1.0, xs)), start)
    });
    let (i, xs) = run_on(backend, &by_count, &Array::vector(vec![0.5f32; 2000])).unwrap();
    assert_eq!((i.as_slice(), xs.as_slice()), (&[20][..], &[20.5; 2000][..]));
    // Two statements in each iteration, which do not wait for the host.
    let by_turns = afun(|xs: Acc<V>| {
        let start = (unit(constant(0i64)), xs);
        let next = |xs: Acc<V>| map(move |x| x + the(sum(xs)) * 0.5, xs);
        awhile(|(i, _): State| the(i).lt(5), move |(i, xs)| (map(|i| i + 1, i), next(xs)), start)
    });
    let (_, xs) = run_on(backend, &by_turns, &Array::vector(vec![1.0f32, 2.0, 5.0, 8.0])).unwrap();
    // Each iteration adds half of the sum, which is 8 at first and then triples.
    assert_eq!(xs.as_slice(), [1.0, 2.0, 5.0, 8.0].map(|x| x + 8.0 * (1.0 + 3.0 + 9.0 + 27.0 + 81.0)));
    let by_sum = afun(|xs: Acc<V>| awhile(|xs: Acc<V>| the(sum(xs)).lt(1e6), |xs| map(|x| x * 2.0, xs), xs));
    let found = run_on(backend, &by_sum, &Array::vector(vec![1.0f32; 1000])).unwrap();
    assert_eq!(found.as_slice(), vec![1024.0; 1000]);
}

/// The examples on OpenCL, compared with the native backend.
#[test]
fn gmm_and_ba_run() {
    if opencl().is_none() || native().is_none() {
        return;
    }
    let fields: [(&str, &[&str]); 2] = [
        ("gmm", &["objective", "d_alphas", "d_means", "d_icf"]),
        ("ba", &["reproj_err", "w_err", "jac_row0", "jac_row1", "jac_werr0"]),
    ];
    for (name, fields) in fields {
        let on = |backend| run_json(name, &["--backend", backend]);
        let (found, expected) = (on("opencl"), on("native"));
        assert_eq!(found["backend"], "opencl");
        for field in fields {
            let error = relative_error(&numbers(&found[*field]), &numbers(&expected[*field]));
            assert!(error < 1e-12, "{name} {field}: {error:e}");
        }
    }
}

/// If the loader, the driver or the device is missing, there is an error message at once, and nothing else happens.
#[test]
fn what_is_missing_is_an_error() {
    let empty = crate::support::temporary_folder("no_drivers");
    let cases = [
        ("ACCEL_OPENCL_LIBRARY", "libno-such-library.so", "cannot load"),
        ("ACCEL_OPENCL_LIBRARY", "libc.so.6", "is not an OpenCL library"),
        ("OCL_ICD_VENDORS", &format!("{}/", empty.display()), "there is no device"),
        ("ACCEL_OPENCL_DEVICE", "abacus", "abacus"),
    ];
    for (variable, value, message) in cases {
        if opencl().is_none() && variable != "ACCEL_OPENCL_LIBRARY" {
            continue;
        }
        let begin = std::time::Instant::now();
        let output = Command::new(example("gmm")).args(["--backend", "opencl"]).env(variable, value).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(message) && !stderr.contains("panicked"), "{stderr}");
        assert!(begin.elapsed().as_secs() < 9, "{variable}");
    }
}
