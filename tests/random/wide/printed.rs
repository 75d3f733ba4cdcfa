//! What random programs are printed as; `printed_programs_are_right` writes this file and runs it.
use accel::prelude::*;
use accel::repr::ArrayTuple;

fn seed_2() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim0, i64>>, a1: Acc<Array<Dim2, f64>>| {
        let a2 = generate({
            let x0 = a0.len();
            let x1 = a1.shape().0;
            let x2 = constant(6i64);
            let x3 = a1.shape().1;
            let x4 = a1.shape().1;
            let x5 = x3 * x4;
            (x0, x1, x2, x5)
        }, |(x0, x1, x2, x3)| {
            let x4 = constant(16i64);
            let x5 = x4.signum();
            let x6 = x5.cast::<bool>();
            let x7 = cond::<i64>(x6, x2, x5);
            x7
        });
        let a3 = imap(|(), x0: Exp<i64>| {
            let x1 = constant(true);
            let x2 = x0.cast::<f64>();
            let x3 = constant(-3.25f64);
            let x4 = cond::<f64>(x1, x2, x3);
            let x5 = x4.sqrt();
            x5
        }, a0);
        let a4 = transpose(a1);
        let (a5, a6) = acond({
            let x0 = constant(41836279u64);
            let x1 = constant(10u64);
            let x2 = x0.div_euclid(x1);
            let x3 = constant(2i64);
            let x4 = x2.cast::<bool>();
            let x5 = while_::<(i64, bool), _, _, _>(|(x5, x6)| x5.lt(x3.min(40)) & x4, |(x5, x6)| (x5 + 1, {
                let x7 = a1.shape().0;
                let x8 = x7.ge(x5);
                x8
            }), (0i64, x4)).1;
            x5
        }, (a2, a4), (a2, a1));
        let a7 = {
            let (n0, n1) = {
            let x0 = a4.len();
            let x1 = a4.shape().0;
            (x0, x1)
        };
            replicate((All, n0, n1, All), a4)
        };
        let a8 = concat(a5, a5);
        let a9 = zip_with_min(|x0: Exp<f64>, x1: Exp<f64>| {
            let x2 = x0.cast::<i64>();
            x2
        }, a4, a6);
        let a10 = map(|x0: Exp<f64>| {
            let x1 = x0.cast::<bool>();
            let x2 = cond::<f64>(x1, x0, x0);
            x2
        }, a6);
        (a3, a7, a8, a9, a10)
    });
    let a0 = Array::<Dim0, i64>::from_extents(&[], vec![24108069641809886i64])?;
    let a1 = Array::<Dim2, f64>::from_extents(&[2, 0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_4() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (f64, f64, f64)>>, a1: Acc<Array<Dim1, f64>>| {
        let a2 = backpermute({
            let x0 = constant(3i64);
            let x1 = a1.shape();
            let x2 = a1.shape();
            (cond(a0.shape().ne(0), x0, 0), cond(a0.shape().ne(0), x1, 0), cond(a0.shape().ne(0), x2, 0))
        }, |(x0, x1, x2)| {
            let x3 = constant(2i64);
            let x4 = x1 + x3;
            x4.rem_euclid(a0.shape().max(1))
        }, a0);
        let a3 = use_(&Array::<Dim2, (f64, f64, f64)>::from_extents(&[2, 2], vec![(5e-324f64, 1.7976931348623157e308f64, f64::INFINITY), (0.20342068851732797f64, 1.9810133758032062f64, -0.9157632580215012f64), (1.5798352184808615f64, -0.0f64, 0.44091590908503075f64), (1.765091236678603f64, 0.36389325360513824f64, -1.4893265766424388f64)]).unwrap());
        let (a4, a5, a6) = acond({
            let x0 = constant(true);
            x0
        }, (a0, a2, a2), (a0, a2, a2));
        let a7 = dot(a1, a1);
        let a8 = map(|x0: (Exp<f64>, Exp<f64>, Exp<f64>)| {
            let x1 = x0.0;
            let x2 = x1.cast::<f32>();
            x2
        }, a5);
        let a9 = fold1_all(|p, q| (p.0 + q.0, p.1 + q.1, p.2.max(q.2)), a0);
        let (a10, a11) = {
            let times = {
            let x0 = constant(4i64);
            x0
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a10, a11, a12): (Acc<Array<Dim0, i64>>, Acc<Array<Dim3, f32>>, Acc<Array<Dim0, (f64, f64, f64)>>)| the(a10).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a10, a11, a12): (Acc<Array<Dim0, i64>>, Acc<Array<Dim3, f32>>, Acc<Array<Dim0, (f64, f64, f64)>>)| {
                (map(|k: Exp<i64>| k + 1, a10), a11, a12)
            },
            (unit(0i64), a8, a9),
            );
            (r1, r2)
        };
        let (a12, a13) = {
            let times = {
            let x0 = constant(15i64);
            let x1 = constant(2i64);
            let x2 = x0.rem_euclid(x1);
            x2
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a12, a13, a14): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, (f64, f64, f64)>>, Acc<Array<Dim0, (f64, f64, f64)>>)| the(a12).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a12, a13, a14): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, (f64, f64, f64)>>, Acc<Array<Dim0, (f64, f64, f64)>>)| {
                (map(|k: Exp<i64>| k + 1, a12), a13, a13)
            },
            (unit(0i64), a11, a9),
            );
            (r1, r2)
        };
        let a14 = zip_with(|x0: (Exp<f64>, Exp<f64>, Exp<f64>), x1: Exp<f64>| x0, a4, a1);
        (a3, a6, a7, a12, a13, a14, a0, a4)
    });
    let a0 = Array::<Dim1, (f64, f64, f64)>::from_extents(&[2], vec![(-0.23263992426849534f64, 1.9163431140654645f64, -1.1388661748246056f64), (-1.7069585100661255f64, -0.19982258182662882f64, 1.4471840826682225f64)])?;
    let a1 = Array::<Dim1, f64>::from_extents(&[0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_5() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, i64>>, a1: Acc<Array<Dim1, f64>>| {
        let a2 = generate({
            let x0 = a0.shape().0;
            let x1 = constant(3i64);
            let x2 = x0 % x1;
            let x3 = a0.shape().0;
            let x4 = constant(-1i64);
            let x5 = x3 + x4;
            (x2, x5)
        }, |(x0, x1)| {
            let x2 = constant(0i64);
            let x3 = x1.max(x0);
            let x4 = constant(0i64);
            let x5 = x3.ne(x4);
            let x6 = x2 % x3;
            let x7 = cond::<i64>(x5, x6, x2);
            let x8 = x4.clamp(x7, x0);
            x8
        });
        let a3 = take({
            let x0 = constant(7i64);
            x0
        }, a1);
        let a4 = generate({
            let x0 = a2.shape().0;
            let x1 = a2.shape().0;
            let x2 = constant(0i64);
            let x3 = cond::<i64>(a2.shape().0.ne(0) & a2.shape().1.ne(0), a2.at((x2.rem_euclid(a2.shape().0.max(1)), x2.rem_euclid(a2.shape().1.max(1)))), constant(0i64));
            let x4 = constant(7i64);
            let x5 = x3.rem_euclid(x4);
            (x0, x1, x5)
        }, |(x0, x1, x2)| {
            let x3 = constant(0.503408961840258f64);
            x3
        });
        let a5 = argsort(a2);
        let a6 = {
            let times = {
            let x0 = constant(2i64);
            x0
        }.min(40);
            let (_, r1) = awhile(
            |(a6, a7): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, i64>>)| the(a6).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a6, a7): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, i64>>)| {
                (map(|k: Exp<i64>| k + 1, a6), a7)
            },
            (unit(0i64), a5),
            );
            r1
        };
        let a7 = generate((), |()| {
            let x0 = constant(-3i64);
            let x1 = constant(1i64);
            let x2 = x0 | x1;
            let x3 = x2.cast::<u16>();
            x3
        });
        let a8 = use_(&Array::<Dim1, u16>::from_extents(&[2], vec![7u16, 19238u16]).unwrap());
        let a9 = zip_with_min(|x0: Exp<u16>, x1: Exp<u16>| {
            let x2 = constant(-3i64);
            x2
        }, a8, a8);
        let a10 = permute(|p, q| p + q, a1, |x0| {
            let x1 = constant(true);
            (x1, x0)
        }, a3);
        (a4, a6, a7, a9, a10)
    });
    let a0 = Array::<Dim2, i64>::from_extents(&[3, 3], vec![13148868i64, 869625158i64, 14i64, 15656671875289148i64, 14598820171i64, 78771i64, 33303890770i64, 502130774834141483i64, 182914369721i64])?;
    let a1 = Array::<Dim1, f64>::from_extents(&[0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_6() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, i64>>| {
        let (a1, a2) = acond({
            let x0 = constant(5i64);
            let x1 = x0.le(x0);
            x1
        }, (a0, a0), (a0, a0));
        let a3 = map(|x0: Exp<i64>| {
            let x1 = constant(1i64);
            x1
        }, a0);
        let a4 = map(|x0: Exp<i64>| {
            let x1 = x0.gt(x0);
            let x2 = x1.cast::<i64>();
            let x3 = x0 * x2;
            x3
        }, a0);
        let a5 = zip_with_min(|x0: Exp<i64>, x1: Exp<i64>| {
            let x2 = constant(2.25f32);
            x2
        }, a3, a2);
        (a4, a5)
    });
    let a0 = Array::<Dim2, i64>::from_extents(&[0, 1], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_7() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, (i8, (i64, f32))>>, a1: Acc<Array<Dim1, i64>>| {
        let a2 = take({
            let x0 = constant(1i64);
            x0
        }, a0);
        let a3 = sum(a1);
        let a4 = generate({
            let x0 = constant(4i64);
            let x1 = constant(3i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = constant(10i64);
            let x3 = x0 / x2;
            let x4 = x2 * x3;
            let x5 = a3.at(());
            let x6 = x4.cast::<i16>();
            let x7 = x6 & x6;
            let x8 = constant(7i64);
            let x9 = x5 / x8;
            let x10 = constant(8u64);
            let x11 = x10 << x10;
            let x12 = constant(true);
            let x13 = x12.cast::<i16>();
            let x14 = x7.min(x13);
            let x15 = constant(-0.2790905f32);
            let x16 = (x15, x9);
            let x17 = a2.shape().1;
            let x18 = (x11, x14, x16, x17);
            x18
        });
        let a5 = generate((), |()| {
            let x0 = constant(false);
            let x1 = x0.cast::<f64>();
            x1
        });
        (a4, a5)
    });
    let a0 = Array::<Dim2, (i8, (i64, f32))>::from_extents(&[2, 5], vec![(30i8, (6456i64, -1.5039326f32)), (-1i8, (1610i64, -0.8794664f32)), (23i8, (25997285927657102i64, -1.6065878f32)), (0i8, (13018778205i64, -1.82376f32)), (4i8, (224103i64, -1.2089634f32)), (7i8, (1344624652834142i64, 0.86064166f32)), (12i8, (188937622i64, -0.1850365f32)), (2i8, (297i64, -0.64424425f32)), (0i8, (2141933907i64, f32::INFINITY)), (14i8, (4987125i64, 0.116254576f32))])?;
    let a1 = Array::<Dim1, i64>::from_extents(&[5], vec![65554579609521i64, 0i64, 2979413588607810i64, 7804967140007184i64, 3034367i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_8() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, i64>>, a1: Acc<Array<Dim1, (f64, (i64, u64), f64)>>| {
        let a2 = product(a0);
        let a3 = {
            let () = ();
            slice(All, a1)
        };
        (a2, a3)
    });
    let a0 = Array::<Dim1, i64>::from_extents(&[3], vec![30253808315628i64, 151i64, 15i64])?;
    let a1 = Array::<Dim1, (f64, (i64, u64), f64)>::from_extents(&[5], vec![(f64::NEG_INFINITY, (22167553i64, 2066278320u64), -0.6146900805560724f64), (1.9746744834991312f64, (0i64, 887862481597280691u64), -0.4829369590235322f64), (0.12060575609922886f64, (814342817337765923i64, 1923u64), 1.5551460357545603f64), (1.9360103303949856f64, (181i64, 113876796345062517u64), -0.6821923083473429f64), (0.8135626251086245f64, (279879188449700i64, 39u64), 1.9812428083934295f64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_10() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, i64>>, a1: Acc<Array<Dim2, i8>>| {
        let a2 = scanl(|p, q| p.min(q), {
            let x0 = constant(9007199254740992i64);
            x0
        }, a0);
        let a3 = zip_with(|x0: Exp<i8>, x1: Exp<i8>| {
            let x2 = constant(11i64);
            let x3 = !x2;
            x3
        }, a1, a1);
        let a4 = generate({
            let x0 = a0.shape();
            let x1 = constant(0i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = cond::<i64>(a3.shape().0.ne(0) & a3.shape().1.ne(0), a3.at((x1.rem_euclid(a3.shape().0.max(1)), x1.rem_euclid(a3.shape().1.max(1)))), constant(0i64));
            let x3 = constant(0i64);
            let x4 = x2 & x2;
            let x5 = x3 * x4;
            x5
        });
        let a5 = {
            let () = ();
            replicate((All, All), a3)
        };
        let a6 = zip_with(|x0: Exp<i64>, x1: Exp<i64>| {
            let x2 = constant(12i8);
            let x3 = x1.cast::<i8>();
            let x4 = x2.min(x3);
            let x5 = x4.cast::<f64>();
            x5
        }, a5, a3);
        let a7 = {
            let () = ();
            replicate((All, All), a6)
        };
        let a8 = map(|x0: Exp<i64>| {
            let x1 = x0.max(x0);
            x1
        }, a4);
        let a9 = fold1(|p, q| cond::<f64>(p.lt(q).or(q.ne(q)), q, p), a7);
        (a2, a8, a9)
    });
    let a0 = Array::<Dim1, i64>::from_extents(&[3], vec![17i64, 15i64, 10i64])?;
    let a1 = Array::<Dim2, i8>::from_extents(&[3, 3], vec![89i8, 0i8, 5i8, 0i8, -128i8, -61i8, -2i8, 5i8, -127i8])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_11() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (f64, bool, f64)>>, a1: Acc<Array<Dim1, i64>>, a2: Acc<Array<Dim1, (f64, bool, f64)>>| {
        let a3 = fold1(|p, q| (p.0 + q.0, p.1 | q.1, p.2 + q.2), a2);
        let a4 = scanr(|p, q| (p.0 + q.0, p.1 & q.1, p.2 + q.2), {
            let x0 = constant(12.5f64);
            let x1 = constant(1.1268451391271266f64);
            let x2 = x1.cast::<bool>();
            let x3 = (x0, x2, x1);
            x3
        }, a2);
        let a5 = fold(|p, q| (p.0 + q.0, p.1 | q.1, p.2.min(q.2)), {
            let x0 = constant(0.6292448491937459f64);
            let x1 = constant(false);
            let x2 = (x0, x1, x0);
            x2
        }, a4);
        let a6 = fold(|p, q| p * q, {
            let x0 = constant(1i64);
            x0
        }, a1);
        let (a7, a8) = scanl_ex(|p, q| p * q, {
            let x0 = constant(578336523868364986i64);
            x0
        }, a1);
        let a9 = imap(|x0, x1: Exp<i64>| {
            let x2 = constant(3.0f64);
            let x3 = constant(true);
            let x4 = cond::<f64>(x3, x2, x2);
            let x5 = value_and_gradient(|x5: Exp<f64>| x4, x4);
            let x6 = x5.1;
            x6
        }, a7);
        let a10 = fold1(|p, q| (p.0.max(q.0), p.1 | q.1, p.2 + q.2 + p.2 * q.2), a0);
        let a11 = map(|x0: Exp<f64>| {
            let x1 = constant(true);
            let x2 = x0 - x0;
            let x3 = (x0, x1, x2);
            x3
        }, a9);
        (a3, a5, a6, a8, a10, a11)
    });
    let a0 = Array::<Dim1, (f64, bool, f64)>::from_extents(&[2], vec![(-3.75f64, true, 12.75f64), (0.0f64, true, -3.25f64)])?;
    let a1 = Array::<Dim1, i64>::from_extents(&[2], vec![1715400287469671745i64, 100666492291226325i64])?;
    let a2 = Array::<Dim1, (f64, bool, f64)>::from_extents(&[2], vec![(1.0f64, true, f64::INFINITY), (0.26490390314880274f64, true, -0.8442665171811297f64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

fn seed_12() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim4, bool>>, a1: Acc<Array<Dim1, bool>>, a2: Acc<Array<Dim1, i64>>| {
        let a3 = generate({
            let x0 = constant(2i64);
            let x1 = a1.shape();
            let x2 = constant(2i64);
            (x0, x1, x2)
        }, |(x0, x1, x2)| {
            let x3 = cond::<i64>((x0.ge(0) & x0.lt(a2.shape())), a2.at(x0), constant(0i64));
            x3
        });
        let (a4, a5) = acond({
            let x0 = constant(true);
            let x1 = x0 | x0;
            let x2 = !x0;
            x2
        }, (a1, a3), (a1, a3));
        let a6 = dot(a2, a2);
        let a7 = acond({
            let x0 = constant(4i64);
            let x1 = x0.gt(x0);
            let x2 = x0.lt(x0);
            x1
        }, a3, a3);
        let a8 = generate({
            let x0 = constant(3i64);
            x0
        }, |x0| {
            let x1 = cond::<bool>((x0.ge(0) & x0.lt(a1.shape())), a1.at(x0), constant(false));
            let x2 = x1.cast::<i64>();
            let x3 = cond::<i64>((x0.ge(0) & x0.lt(a7.shape().0)) & (x2.ge(0) & x2.lt(a7.shape().1)) & (x2.ge(0) & x2.lt(a7.shape().2)), a7.at((x0, x2, x2)), constant(0i64));
            let x4 = constant(f64::INFINITY);
            let x5 = x3.cast::<f64>();
            let x6 = x4 / x5;
            x5
        });
        let a9 = acond({
            let x0 = constant(true);
            let x1 = constant(8.75f64);
            let x2 = cond::<f64>(x0, x1, x1);
            let x3 = x1.powi(1);
            let x4 = constant(true);
            x4
        }, a4, a1);
        let a10 = scanr(|p, q| {
        let _: Exp<bool> = q;
        p
    }, {
            let x0 = constant(3453i64);
            let x1 = constant(9i64);
            let x2 = x0.rem_euclid(x1);
            let x3 = x1.cast::<bool>();
            let x4 = while_::<(i64, bool), _, _, _>(|(x4, x5)| x4.lt(x2.min(40)) & x3, |(x4, x5)| (x4 + 1, {
                let x6 = x2.gt(x2);
                let x7 = x2.max(x2);
                let x8 = cond::<i64>((x7.ge(0) & x7.lt(a5.shape().0)) & (x4.ge(0) & x4.lt(a5.shape().1)) & (x4.ge(0) & x4.lt(a5.shape().2)), a5.at((x7, x4, x4)), constant(0i64));
                x5
            }), (0i64, x3)).1;
            x3
        }, a9);
        let a11 = generate({
            let x0 = a8.shape();
            let x1 = constant(-2i64);
            let x2 = x0 + x1;
            x2
        }, |x0| {
            let x1 = constant(0i64);
            let x2 = x0 + x1;
            let x3 = a10.at(x2);
            let x4 = cond::<bool>((x0.ge(0) & x0.lt(a9.shape())), a9.at(x0), constant(false));
            let x5 = x3 | x4;
            x5
        });
        let a12 = fold(|p, q| p + q, {
            let x0 = a9.shape();
            let x1 = a11.shape();
            x1
        }, a3);
        (a6, a12)
    });
    let a0 = Array::<Dim4, bool>::from_extents(&[2, 3, 3, 2], vec![true, false, true, true, false, false, false, false, false, false, false, true, false, false, true, false, false, true, false, false, false, false, false, false, false, true, true, false, true, false, true, true, true, false, true, true])?;
    let a1 = Array::<Dim1, bool>::from_extents(&[2], vec![true, true])?;
    let a2 = Array::<Dim1, i64>::from_extents(&[3], vec![7015464i64, 25061i64, 105626153431i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

fn seed_13() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, f32>>, a1: Acc<Array<Dim1, f32>>| {
        let a2 = map(|x0: Exp<f32>| {
            let x1 = x0 / x0;
            x1
        }, a1);
        let a3 = sort(a2);
        let a4 = zip3_min(a0, a0, a0);
        let a5 = map(|x0: (Exp<f32>, Exp<f32>, Exp<f32>)| x0, a4);
        (a3, a5, a0)
    });
    let a0 = Array::<Dim2, f32>::from_extents(&[2, 4], vec![f32::NEG_INFINITY, 1.5103285f32, 0.52649194f32, 0.5f32, 1.0f32, 0.5268865f32, 3.4028235e38f32, 3.4028235e38f32])?;
    let a1 = Array::<Dim1, f32>::from_extents(&[0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_14() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (i64, f64)>>, a1: Acc<Array<Dim2, f32>>, a2: Acc<Array<Dim1, (i64, f64)>>, a3: Acc<Array<Dim1, (i64, f64)>>| {
        let a4 = call(&afun(|a0: Acc<Array<Dim1, (i64, f64)>>| {
            a0
        }), a0);
        let a5 = permute(|p, q| (p.0.min(q.0), p.1 + q.1 + p.1 * q.1), a2, |x0| {
            let x1 = constant(2i64);
            let x2 = x0.eq(x1);
            (x2 & a2.shape().ne(0), x0.rem_euclid(a2.shape().max(1)))
        }, a3);
        let a6 = take({
            let x0 = constant(3i64);
            x0
        }, a3);
        let a7 = permute(|p, q| p.min(q), a1, |(x0, x1)| {
            let x2 = constant(true);
            let x3 = constant(0i64);
            let x4 = x0 + x3;
            (x2 & a1.shape().0.ne(0) & a1.shape().1.ne(0), (x1.rem_euclid(a1.shape().0.max(1)), x4.rem_euclid(a1.shape().1.max(1))))
        }, a1);
        let a8 = generate({
            let x0 = constant(3i64);
            let x1 = a6.shape();
            let x2 = a5.shape();
            let x3 = x1 * x2;
            (x0, x3)
        }, |(x0, x1)| {
            let x2 = constant(1u8);
            let x3 = x2.cast::<i64>();
            let x4 = constant(4i64);
            let x5 = x3 - x4;
            let x6 = x4.cast::<f64>();
            let x7 = (x5, x6);
            x7
        });
        let a9 = use_(&Array::<Dim1, (bool, u8)>::from_extents(&[0], vec![]).unwrap());
        let a10 = map(|x0: (Exp<i64>, Exp<f64>)| {
            let x1 = x0.1;
            let x2 = constant(-20437i16);
            let x3 = x2.cast::<i64>();
            let x4 = x1.ln();
            let x5 = (x3, x4);
            x5
        }, a3);
        let a11 = reshape({
            let x0 = a8.shape().0;
            let x1 = a8.shape().1;
            let x2 = x0 * x1;
            x2
        }, a8);
        let a12 = skip({
            let x0 = constant(6i64);
            x0
        }, a5);
        let a13 = zip_with3(|x0: (Exp<i64>, Exp<f64>), x1: (Exp<i64>, Exp<f64>), x2: (Exp<i64>, Exp<f64>)| {
            let x3 = x1.1;
            let x4 = x3.cast::<u64>();
            let x5 = x4.cast::<f64>();
            let x6 = x1.0;
            let x7 = x1.0;
            let x8 = x6 & x7;
            let x9 = x5 - x3;
            let x10 = (x8, x9);
            x10
        }, a10, a10, a3);
        (a4, a7, a9, a11, a12, a13, a5)
    });
    let a0 = Array::<Dim1, (i64, f64)>::from_extents(&[0], vec![])?;
    let a1 = Array::<Dim2, f32>::from_extents(&[6, 6], vec![5.5f32, 3.5f32, 4.0f32, 6.5f32, 7.5f32, 1.25f32, 4.75f32, 7.75f32, -1.0f32, 3.75f32, -2.5f32, 5.75f32, 2.25f32, 8.25f32, 7.5f32, 12.0f32, -4.0f32, 12.75f32, 10.0f32, 15.25f32, 10.0f32, 11.25f32, 2.0f32, 1.0f32, 6.5f32, 13.75f32, -0.5f32, 11.0f32, 13.75f32, 0.75f32, 1.5f32, -0.25f32, 2.0f32, -0.75f32, 11.5f32, -3.75f32])?;
    let a2 = Array::<Dim1, (i64, f64)>::from_extents(&[3], vec![(16i64, -1.032338857030357f64), (14494240i64, 255.5f64), (2i64, 0.0f64)])?;
    let a3 = Array::<Dim1, (i64, f64)>::from_extents(&[6], vec![(8i64, 3.25f64), (6i64, -2.5f64), (5i64, 7.25f64), (18i64, 14.25f64), (-3i64, 13.25f64), (19i64, 12.75f64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2, &a3))?.to_tuple())
}

fn seed_16() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, f64>>, a1: Acc<Array<Dim0, u16>>| {
        let a2 = zip_with(|x0: Exp<f64>, x1: Exp<f64>| {
            let x2 = constant(0u16);
            x2
        }, a0, a0);
        let a3 = product(a2);
        let a4 = zip_with(|x0: Exp<u16>, x1: Exp<u16>| {
            let x2 = x1 - x1;
            x2
        }, a3, a3);
        (a4, a4, a1)
    });
    let a0 = Array::<Dim2, f64>::from_extents(&[0, 16], vec![])?;
    let a1 = Array::<Dim0, u16>::from_extents(&[], vec![20u16])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_17() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (i64, i64)>>, a1: Acc<Array<Dim2, i64>>, a2: Acc<Array<Dim1, f32>>| {
        let a3 = scanr1(|p, q| cond::<i64>(p.lt(q), q, p), a1);
        let a4 = gather(a3, a0);
        let (a5, a6) = scanl_ex(|p, q| p.max(q), {
            let x0 = constant(2i16);
            let x1 = x0.div_euclid(x0);
            let x2 = x1.cast::<i64>();
            x2
        }, a3);
        let a7 = map(|x0: Exp<i64>| x0, a5);
        let a8 = {
            let (n0, n1, n2) = {
            let x0 = a7.shape().0;
            let x1 = constant(4i64);
            let x2 = x0.div_euclid(x1);
            let x3 = constant(2i64);
            let x4 = a0.shape();
            let x5 = a6.shape();
            let x6 = x4 * x5;
            (x2, x3, x6)
        };
            replicate((n0, All, n1, n2), a6)
        };
        let a9 = imap(|(x0, x1), x2: Exp<i64>| {
            let x3 = x1.cast::<f32>();
            let x4 = x3.normal_cdf();
            x4
        }, a1);
        let a10 = backpermute({
            let x0 = constant(1i64);
            let x1 = a7.shape().1;
            let x2 = constant(-2i64);
            let x3 = x1 + x2;
            (cond(a2.shape().ne(0), x0, 0), cond(a2.shape().ne(0), x3, 0))
        }, |(x0, x1)| x0.rem_euclid(a2.shape().max(1)), a2);
        (a4, a8, a9, a10)
    });
    let a0 = Array::<Dim1, (i64, i64)>::from_extents(&[4], vec![(9i64, 10i64), (-1i64, 19i64), (-1i64, 6i64), (9i64, 8i64)])?;
    let a1 = Array::<Dim2, i64>::from_extents(&[0, 0], vec![])?;
    let a2 = Array::<Dim1, f32>::from_extents(&[4], vec![1.4520628f32, -1.6148715f32, 0.6091861f32, -0.68829566f32])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

fn seed_18() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, u8>>| {
        let a1 = take({
            let x0 = constant(2i64);
            let x1 = (x0, x0, x0);
            let x2 = constant(20i64);
            let x3 = x0.rem_euclid(x2);
            x3
        }, a0);
        let a2 = dot(a1, a1);
        let a3 = zip3_min(a2, a2, a2);
        let a4 = map(|x0: Exp<u8>| {
            let x1 = constant(7u8);
            let x2 = x0.rem_euclid(x1);
            x2
        }, a2);
        let a5 = imap(|(), x0: (Exp<u8>, Exp<u8>, Exp<u8>)| {
            let x1 = constant(2i64);
            let x2 = x1.ne(x1);
            let x3 = a0.shape();
            let x4 = x1.lt(x1);
            let x5 = x3.clamp(x3, x1);
            let x6 = x0.2;
            let x7 = x0.0;
            let x8 = x6 + x7;
            let x9 = x7 | x6;
            let x10 = x8.cast::<i64>();
            let x11 = constant(14897788i64);
            let x12 = (x5, x10, x11);
            x12
        }, a3);
        let a6 = scanl1(|p, q| p ^ q, a1);
        (a4, a5, a6, a3, a3)
    });
    let a0 = Array::<Dim1, u8>::from_extents(&[3], vec![15u8, 30u8, 102u8])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_19() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim3, f64>>, a1: Acc<Array<Dim3, (f64, f64, f64)>>| {
        let a2 = imap(|(x0, x1, x2), x3: Exp<f64>| {
            let x4 = x3 / x3;
            x4
        }, a0);
        let a3 = zip_with(|x0: Exp<f64>, x1: Exp<f64>| {
            let x2 = x0.cast::<i32>();
            x2
        }, a2, a2);
        let a4 = zip3_min(a3, a2, a2);
        let a5 = map(|x0: Exp<f64>| {
            let x1 = x0.cast::<i64>();
            let x2 = (x1, x1);
            x2
        }, a2);
        let a6 = permute(|p, q| (p.0 ^ q.0, p.1 * q.1), a5, |(x0, x1, x2)| {
            let x3 = constant(7i64);
            let x4 = x3 - x3;
            let x5 = (x4, x4);
            let x6 = constant(true);
            let x7 = x5.0;
            (x6 & a5.shape().0.ne(0) & a5.shape().1.ne(0) & a5.shape().2.ne(0), (x7.rem_euclid(a5.shape().0.max(1)), x2.rem_euclid(a5.shape().1.max(1)), x4.rem_euclid(a5.shape().2.max(1))))
        }, a5);
        let a7 = {
            let n0 = {
            let x0 = constant(7565797212351610i64);
            let x1 = constant(13i64);
            let x2 = cond::<f64>(a0.shape().0.ne(0) & a0.shape().1.ne(0) & a0.shape().2.ne(0), a0.at((x0.rem_euclid(a0.shape().0.max(1)), x1.rem_euclid(a0.shape().1.max(1)), x1.rem_euclid(a0.shape().2.max(1)))), constant(0.0f64));
            let x3 = x2.cast::<i64>();
            let x4 = a1.shape().0;
            let x5 = constant(1i64);
            let x6 = x4.max(x5);
            let x7 = x3.rem_euclid(x6);
            x7
        };
            slice((n0, All, All), a1)
        };
        let (a8, a9) = {
            let times = {
            let x0 = constant(2i64);
            x0
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a8, a9, a10): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, (f64, f64, f64)>>, Acc<Array<Dim2, (f64, f64, f64)>>)| the(a8).lt(times) & {
                let x0 = constant(true);
                let x1 = x0 & x0;
                x1
            },
            |(a8, a9, a10): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, (f64, f64, f64)>>, Acc<Array<Dim2, (f64, f64, f64)>>)| {
                (map(|k: Exp<i64>| k + 1, a8), a9, a9)
            },
            (unit(0i64), a7, a7),
            );
            (r1, r2)
        };
        let a10 = zip(a0, a5);
        (a4, a6, a8, a9, a10)
    });
    let a0 = Array::<Dim3, f64>::from_extents(&[2, 3, 3], vec![-0.4736374676809745f64, 0.7964530544203505f64, -0.38316076339784244f64, -1.7876827152507095f64, 0.508753076959036f64, -0.4219045572916822f64, -1.6405681776383632f64, 1.653433644987076f64, 1.335053378866737f64, -0.8619173817622814f64, 1e-30f64, 0.8632890484193063f64, -0.9383690968200402f64, -1.7005022186014869f64, -1.901076817035896f64, -1.1561333586523777f64, 1.831978076441367f64, -0.3981367572464882f64])?;
    let a1 = Array::<Dim3, (f64, f64, f64)>::from_extents(&[2, 4, 2], vec![(-0.11841892252988995f64, 1.9490620175135156f64, -0.4175578683615737f64), (1.1199806076160277f64, -0.691401658162142f64, -0.2149945414878376f64), (-0.7527388620356672f64, 1.24988350230584f64, 1.696201844746429f64), (-0.8130781370616487f64, -0.47371252451102475f64, -1.8330953689019105f64), (-1.4530652245800328f64, -1.0f64, -1.5904730021842064f64), (-1.7850841322861872f64, 0.3098506758284718f64, 0.125329409153645f64), (-0.522976122066531f64, -1.6794739035056114f64, f64::INFINITY), (0.9760049771903616f64, 0.3494666544660534f64, 1.635516908678349f64), (1.056225959432497f64, 0.5607498096733603f64, 0.6644721003612588f64), (-0.1707329947497387f64, 0.8945884451101951f64, -1.1755325482946324f64), (-1.6567986415040945f64, 0.7984119430295227f64, -0.5776206546052007f64), (1.2212408444668035f64, -1.2932569034813257f64, -0.06843752851640161f64), (1.667914786604114f64, -1.378381603580919f64, 1.4500665286852819f64), (0.15890333923108324f64, -9.3e18f64, 0.847282830453024f64), (1.7976931348623157e308f64, -0.9813401781068083f64, 1.1875923268010098f64), (-1.4615328098254325f64, 1.9382644890986676f64, -1.3294106138389483f64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_20() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim4, u64>>| {
        let a1 = concat(a0, a0);
        a1
    });
    let a0 = Array::<Dim4, u64>::from_extents(&[1, 1, 3, 1], vec![649028072949u64, 21352801368u64, 4688755414232289u64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_21() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, u64>>| {
        let a1 = fold1(|p, q| {
        let _: Exp<u64> = q;
        p
    }, a0);
        let a2 = permute(|p, q| p ^ q, a0, |x0| {
            let x1 = x0.le(x0);
            let x2 = x0 << x0;
            let x3 = constant(1i64);
            let x4 = x0 | x3;
            let x5 = x0.div_euclid(x4);
            let x6 = -x5;
            let x7 = x6 - x6;
            let x8 = constant(12i8);
            let x9 = cond::<i8>(x1, x8, x8);
            let x10 = x7.le(x7);
            let x11 = x8.cast::<bool>();
            (x11 & (x6.ge(0) & x6.lt(a0.shape())), x6)
        }, a0);
        let a3 = skip({
            let x0 = constant(-3i8);
            let x1 = x0.max(x0);
            let x2 = constant(6369430i64);
            x2
        }, a2);
        let a4 = zip_with_min(|x0: Exp<u64>, x1: Exp<u64>| {
            let x2 = constant(3i64);
            let x3 = x2.clamp(x2, x2);
            let x4 = constant(5i64);
            let x5 = x3.rem_euclid(x4);
            let x6 = while_::<(i64, i64), _, _, _>(|(x6, x7)| x6.lt(x5.min(40)) & {
                let x8 = constant(true);
                x8
            }, |(x6, x7)| (x6 + 1, {
                let x8 = x1.cast::<i64>();
                let x9 = x4.max(x8);
                let x10 = !x9;
                let x11 = constant(false);
                let x12 = x11.cast::<i64>();
                x10
            }), (0i64, x4)).1;
            let x7 = x4.cast::<bool>();
            let x8 = (x2, x7);
            x5
        }, a0, a0);
        let a5 = fold(|p, q| {
        let _: Exp<u64> = q;
        p
    }, {
            let x0 = constant(3495395864745585853u64);
            x0
        }, a0);
        let a6 = zip_with_min(|x0: Exp<i64>, x1: Exp<u64>| x1, a4, a2);
        let a7 = {
            let n0 = {
            let x0 = constant(2i64);
            let x1 = a4.shape();
            let x2 = constant(1i64);
            let x3 = x1.max(x2);
            let x4 = x0.rem_euclid(x3);
            x4
        };
            slice(n0, a4)
        };
        (a1, a3, a5, a6, a7)
    });
    let a0 = Array::<Dim1, u64>::from_extents(&[2], vec![877817602585656628u64, 142211516545582469u64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_22() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, i64>>, a1: Acc<Array<Dim1, f32>>| {
        let a2 = {
            let () = ();
            slice(All, a0)
        };
        let a3 = zip_with(|x0: Exp<i64>, x1: Exp<i64>| {
            let x2 = constant(14.5f32);
            x2
        }, a0, a0);
        let a4 = reshape({
            let x0 = a3.shape();
            x0
        }, a3);
        let a5 = {
            let times = {
            let x0 = constant(0i64);
            x0
        }.min(40);
            let (_, r1) = awhile(
            |(a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, f32>>)| the(a5).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, f32>>)| {
                (map(|k: Exp<i64>| k + 1, a5), a6)
            },
            (unit(0i64), a1),
            );
            r1
        };
        let a6 = skip({
            let x0 = constant(6i64);
            x0
        }, a0);
        let a7 = dot(a4, a4);
        let a8 = scanl1(|p, q| p + q + p * q, a6);
        let a9 = take({
            let x0 = a4.shape();
            let x1 = constant(2i64);
            let x2 = x0.rem_euclid(x1);
            x2
        }, a6);
        let a10 = dot(a8, a8);
        (a2, a5, a7, a9, a10)
    });
    let a0 = Array::<Dim1, i64>::from_extents(&[0], vec![])?;
    let a1 = Array::<Dim1, f32>::from_extents(&[5], vec![0.76156914f32, -0.38802004f32, -3.4028235e38f32, f32::NEG_INFINITY, -0.9429455f32])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_23() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, i64>>| {
        let (a1, a2, a3) = acond({
            let x0 = constant(false);
            let x1 = !x0;
            x1
        }, (a0, a0, a0), (a0, a0, a0));
        (a1, a2, a3, a3, a3)
    });
    let a0 = Array::<Dim1, i64>::from_extents(&[2], vec![512329i64, 74681637181909839i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_24() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (f32, f32)>>, a1: Acc<Array<Dim1, (i64, i64)>>| {
        let a2 = zip_with(|x0: (Exp<i64>, Exp<i64>), x1: (Exp<f32>, Exp<f32>)| x0, a1, a0);
        let a3 = permute(|p, q| (p.0.max(q.0), p.1 | q.1), a2, |x0| {
            let x1 = constant(true);
            let x2 = constant(1i64);
            let x3 = x0 + x2;
            (x1, x3)
        }, a2);
        a3
    });
    let a0 = Array::<Dim1, (f32, f32)>::from_extents(&[1], vec![(7.25f32, 12.0f32)])?;
    let a1 = Array::<Dim1, (i64, i64)>::from_extents(&[1], vec![(-1i64, 14i64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_25() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, (i64, i64)>>| {
        let a1 = {
            let (n0, n1) = {
            let x0 = constant(0i64);
            let x1 = a0.shape().0;
            let x2 = constant(1i64);
            let x3 = x1.max(x2);
            let x4 = x0.rem_euclid(x3);
            let x5 = a0.shape().1;
            let x6 = constant(1i64);
            let x7 = x5.max(x6);
            let x8 = x0.rem_euclid(x7);
            (x4, x8)
        };
            slice((n0, n1), a0)
        };
        let a2 = zip_with(|x0: (Exp<i64>, Exp<i64>), x1: (Exp<i64>, Exp<i64>)| {
            let x2 = constant(true);
            let x3 = x2.cast::<f32>();
            x3
        }, a1, a1);
        let (a3, a4, a5) = {
            let times = {
            let x0 = constant(1i64);
            x0
        }.min(40);
            let (_, r1, r2, r3) = awhile(
            |(a3, a4, a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, (i64, i64)>>, Acc<Array<Dim2, (i64, i64)>>, Acc<Array<Dim2, (i64, i64)>>)| the(a3).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a3, a4, a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, (i64, i64)>>, Acc<Array<Dim2, (i64, i64)>>, Acc<Array<Dim2, (i64, i64)>>)| {
                let a7 = skip({
                    let x0 = constant(30658i64);
                    x0
                }, a4);
                (map(|k: Exp<i64>| k + 1, a3), a7, a5, a7)
            },
            (unit(0i64), a0, a0, a0),
            );
            (r1, r2, r3)
        };
        let (a6, a7) = call(&afun(|a0: Acc<Array<Dim2, (i64, i64)>>| {
            let a1 = transpose(a0);
            (a0, a1)
        }), a5);
        (a2, a3, a4, a6, a7)
    });
    let a0 = Array::<Dim2, (i64, i64)>::from_extents(&[3, 1], vec![(164520200128i64, 74045371i64), (0i64, 360683464i64), (380i64, 799869010682i64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_26() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, i64>>| {
        let a1 = scanr(|p, q| p * q, {
            let x0 = constant(14i64);
            x0
        }, a0);
        (a1, a0)
    });
    let a0 = Array::<Dim1, i64>::from_extents(&[1], vec![12i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_28() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim4, f64>>, a1: Acc<Array<Dim1, f64>>| {
        let a2 = map(|x0: Exp<f64>| x0, a0);
        let a3 = backpermute({
            let x0 = a1.shape();
            let x1 = constant(2i64);
            let x2 = x0 + x1;
            cond(a0.shape().0.ne(0) & a0.shape().1.ne(0) & a0.shape().2.ne(0) & a0.shape().3.ne(0), x2, 0)
        }, |x0| {
            let x1 = a0.shape().2;
            let x2 = constant(1i64);
            let x3 = x1 - x2;
            (x0.rem_euclid(a0.shape().0.max(1)), x0.rem_euclid(a0.shape().1.max(1)), x3.rem_euclid(a0.shape().2.max(1)), x0.rem_euclid(a0.shape().3.max(1)))
        }, a0);
        let a4 = zip_with(|x0: Exp<f64>, x1: Exp<f64>| {
            let x2 = x1.hypot(x1);
            x2
        }, a1, a1);
        let a5 = imap(|x0, x1: Exp<f64>| {
            let x2 = a2.len();
            x2
        }, a4);
        let a6 = reshape({
            let x0 = a4.shape();
            let x1 = constant(1i64);
            (x0, x1)
        }, a4);
        let a7 = map(|x0: Exp<f64>| {
            let x1 = constant(12575469706i64);
            let x2 = x1 - x1;
            x2
        }, a0);
        let a8 = sum(a5);
        let a9 = take({
            let x0 = constant(19i64);
            let x1 = constant(7i64);
            let x2 = x0.rem_euclid(x1);
            x2
        }, a7);
        let a10 = backpermute({
            let x0 = a1.shape();
            let x1 = a5.shape();
            let x2 = x0.max(x1);
            let x3 = constant(3i64);
            (cond(a7.shape().0.ne(0) & a7.shape().1.ne(0) & a7.shape().2.ne(0) & a7.shape().3.ne(0), x2, 0), cond(a7.shape().0.ne(0) & a7.shape().1.ne(0) & a7.shape().2.ne(0) & a7.shape().3.ne(0), x3, 0))
        }, |(x0, x1)| {
            let x2 = constant(2i64);
            let x3 = x0 + x2;
            let x4 = constant(-2i64);
            let x5 = x1 + x4;
            let x6 = a7.shape().2;
            let x7 = constant(1i64);
            let x8 = x6 - x7;
            let x9 = x8 - x0;
            (x3.rem_euclid(a7.shape().0.max(1)), x5.rem_euclid(a7.shape().1.max(1)), x9.rem_euclid(a7.shape().2.max(1)), x1.rem_euclid(a7.shape().3.max(1)))
        }, a7);
        (a3, a6, a8, a9, a10)
    });
    let a0 = Array::<Dim4, f64>::from_extents(&[1, 1, 1, 4], vec![3.25f64, 14.25f64, 14.5f64, -2.5f64])?;
    let a1 = Array::<Dim1, f64>::from_extents(&[3], vec![11.75f64, 7.75f64, 2.5f64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_30() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, i64>>, a1: Acc<Array<Dim2, (u64, i64)>>| {
        let a2 = {
            let times = {
            let x0 = constant(4i64);
            x0
        }.min(40);
            let (_, r1) = awhile(
            |(a2, a3): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, i64>>)| the(a2).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a2, a3): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, i64>>)| {
                let a4 = tail(a3);
                (map(|k: Exp<i64>| k + 1, a2), a4)
            },
            (unit(0i64), a0),
            );
            r1
        };
        (a2, a1)
    });
    let a0 = Array::<Dim1, i64>::from_extents(&[2], vec![-9223372036854775807i64, 98908539612364697i64])?;
    let a1 = Array::<Dim2, (u64, i64)>::from_extents(&[3, 2], vec![(11u64, 17i64), (9u64, 10i64), (8u64, 11i64), (3u64, 16i64), (15u64, 4i64), (11u64, 2i64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_31() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, f64>>| {
        let a1 = generate({
            let x0 = a0.shape().1;
            x0
        }, |x0| {
            let x1 = constant(1i64);
            let x2 = x1.trailing_zeros();
            let x3 = x2.signum();
            x3
        });
        let a2 = map(|x0: Exp<i64>| {
            let x1 = constant(1i64);
            let x2 = x1.cast::<f64>();
            let x3 = constant(13744168721i64);
            let x4 = x3.cast::<i64>();
            let x5 = constant(true);
            let x6 = x2.cast::<i64>();
            let x7 = cond::<i64>(x5, x4, x6);
            let x8 = constant(2i64);
            let x9 = x8 | x7;
            let x10 = a0.shape().0;
            let x11 = constant(2i64);
            let x12 = x9 + x11;
            let x13 = x10 - x11;
            let x14 = constant(0i64);
            let x15 = x13 + x14;
            let x16 = a0.at((x12, x15));
            x16
        }, a1);
        let a3 = scanr(|p, q| p + q + p * q, {
            let x0 = constant(2i64);
            let x1 = cond::<i64>(a1.shape().ne(0), a1.at(x0.rem_euclid(a1.shape().max(1))), constant(0i64));
            let x2 = x1.cast::<bool>();
            let x3 = x2.cast::<i64>();
            x3
        }, a1);
        let a4 = zip_with_min(|x0: Exp<i64>, x1: Exp<i64>| {
            let x2 = constant(7.0f64);
            let x3 = x2.acosh();
            let x4 = x2 + x2;
            let x5 = constant(true);
            let x6 = cond::<f64>(x5, x3, x4);
            x6
        }, a3, a3);
        (a2, a4, a3)
    });
    let a0 = Array::<Dim2, f64>::from_extents(&[2, 0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_32() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim0, i64>>, a1: Acc<Array<Dim1, (i64, i64)>>| {
        let a2 = zip_min(a1, a1);
        let a3 = use_(&Array::<Dim0, bool>::from_extents(&[], vec![false]).unwrap());
        let a4 = take({
            let x0 = constant(-1i64);
            x0
        }, a2);
        (a3, a4)
    });
    let a0 = Array::<Dim0, i64>::from_extents(&[], vec![10i64])?;
    let a1 = Array::<Dim1, (i64, i64)>::from_extents(&[0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_33() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, f32>>, a1: Acc<Array<Dim1, i16>>, a2: Acc<Array<Dim1, (f64, f64, f64, i64)>>, a3: Acc<Array<Dim2, i64>>| {
        let (a4, a5) = sort_by_key_descending(a1, a0);
        let a6 = acond({
            let x0 = constant(3i64);
            let x1 = x0.ge(x0);
            let x2 = constant(15.5f64);
            let x3 = (x2, x2, x2, x0);
            x1
        }, a3, a3);
        let a7 = zip_with_min(|x0: Exp<i16>, x1: Exp<f32>| {
            let x2 = constant(1.1193824f32);
            let x3 = x2.cast::<u16>();
            let x4 = x3.cast::<f32>();
            let x5 = constant(1i64);
            let x6 = constant(2i64);
            let x7 = x5 / x6;
            let x8 = x2.i0e();
            x4
        }, a4, a5);
        let a8 = skip({
            let x0 = a5.shape();
            let x1 = constant(20i64);
            let x2 = x0.rem_euclid(x1);
            x2
        }, a7);
        let a9 = scanl(|p, q| p.max(q), {
            let x0 = constant(true);
            let x1 = x0.cast::<i16>();
            let x2 = cond::<i16>(x0, x1, x1);
            let x3 = constant(2i64);
            let x4 = while_::<(i64, bool), _, _, _>(|(x4, x5)| x4.lt(x3.min(40)) & x0, |(x4, x5)| (x4 + 1, {
                let x6 = constant(3.0f64);
                let x7 = x6.pow(x6);
                let x8 = x6.min(x7);
                let x9 = gradient(|x9: Exp<f64>| {
                    let x10 = cond::<i64>((x4.ge(0) & x4.lt(a6.shape().0)) & (x3.ge(0) & x3.lt(a6.shape().1)), a6.at((x4, x3)), constant(0i64));
                    let x11 = x10.min(x10);
                    let x12 = x10.cast::<f64>();
                    let x13 = x12.min(x8);
                    x6
                }, x8);
                let x10 = constant(5i64);
                let x11 = (x7, x8, x9, x10);
                let x12 = x10.eq(x4);
                let x13 = x2.eq(x1);
                x12
            }), (0i64, x0)).1;
            x2
        }, a4);
        let a10 = minimum_all(a6);
        let a11 = backpermute({
            let x0 = constant(4i64);
            let x1 = a0.shape();
            let x2 = a1.shape();
            let x3 = a1.shape();
            (cond(a1.shape().ne(0), x2, 0), cond(a1.shape().ne(0), x3, 0))
        }, |(x0, x1)| x1.rem_euclid(a1.shape().max(1)), a1);
        (a8, a9, a10, a11)
    });
    let a0 = Array::<Dim1, f32>::from_extents(&[3], vec![0.5f32, 1.0f32, f32::INFINITY])?;
    let a1 = Array::<Dim1, i16>::from_extents(&[3], vec![2i16, 13i16, 7i16])?;
    let a2 = Array::<Dim1, (f64, f64, f64, i64)>::from_extents(&[3], vec![(1.7976931348623157e308f64, 1e30f64, 1.5888031194663332f64, 9223372036854775806i64), (-0.6422091367702207f64, 1e30f64, 1.7685243837237539f64, -9223372036854775808i64), (f64::NAN, 1e-30f64, -1.193213598786278f64, -1i64)])?;
    let a3 = Array::<Dim2, i64>::from_extents(&[3, 3], vec![246445395453i64, 1204642i64, 22i64, 7673858095608i64, 3533821089149542753i64, 554i64, 110i64, 59630653869370371i64, 1069131093573281268i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2, &a3))?.to_tuple())
}

fn seed_34() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, ((i16, f64), bool)>>| {
        let a1 = backpermute({
            let x0 = a0.shape();
            let x1 = a0.shape();
            let x2 = a0.shape();
            (x0, x1, x2)
        }, |(x0, x1, x2)| x0, a0);
        let a2 = call(&afun(|a0: Acc<Array<Dim3, ((i16, f64), bool)>>, a1: Acc<Array<Dim3, ((i16, f64), bool)>>| {
            let a2 = backpermute({
                let x0 = a1.shape().1;
                let x1 = a0.shape().2;
                let x2 = x0 * x1;
                cond(a1.shape().0.ne(0) & a1.shape().1.ne(0) & a1.shape().2.ne(0), x2, 0)
            }, |x0| {
                let x1 = a1.shape().1;
                let x2 = constant(1i64);
                let x3 = x1 - x2;
                (x0.rem_euclid(a1.shape().0.max(1)), x3.rem_euclid(a1.shape().1.max(1)), x0.rem_euclid(a1.shape().2.max(1)))
            }, a1);
            a2
        }), (a1, a1));
        let a3 = {
            let () = ();
            replicate(All, a0)
        };
        let a4 = fold(|p, q| ((p.0.0 + q.0.0 + p.0.0 * q.0.0, p.0.1.max(q.0.1)), p.1 | q.1), {
            let x0 = constant(true);
            let x1 = constant(-1i16);
            let x2 = constant(-0.22654798814032873f64);
            let x3 = (x1, x2);
            let x4 = (x3, x0);
            x4
        }, a0);
        let (a5, a6) = call(&afun(|a0: Acc<Array<Dim0, ((i16, f64), bool)>>| {
            let a1 = zip_with(|x0: ((Exp<i16>, Exp<f64>), Exp<bool>), x1: ((Exp<i16>, Exp<f64>), Exp<bool>)| {
                let x2 = x1.1;
                let x3 = x1.0;
                let x4 = x3.1;
                let x5 = cond::<f64>(x2, x4, x4);
                x5
            }, a0, a0);
            (a1, a1)
        }), a4);
        let a7 = generate({
            let x0 = constant(4i64);
            let x1 = a3.shape();
            let x2 = a2.shape();
            let x3 = x1 * x2;
            (x0, x3)
        }, |(x0, x1)| {
            let x2 = constant(-1i64);
            let x3 = x2.cast::<u32>();
            x3
        });
        let (a8, a9) = call(&afun(|a0: Acc<Array<Dim0, f64>>| {
            let a1 = generate({
                let x0 = a0.len();
                let x1 = constant(3i64);
                (x0, x1)
            }, |(x0, x1)| {
                let x2 = constant(0u8);
                let x3 = constant(6i16);
                let x4 = (x2, x0, x0, x3);
                x4
            });
            let a2 = permute(|p, q| (p.0 + q.0, p.1.max(q.1), p.2 + q.2 + p.2 * q.2, p.3 ^ q.3), a1, |(x0, x1)| {
                let x2 = constant(true);
                (x2 & a1.shape().0.ne(0) & a1.shape().1.ne(0), (x1.rem_euclid(a1.shape().0.max(1)), x0.rem_euclid(a1.shape().1.max(1))))
            }, a1);
            (a2, a1)
        }), a5);
        let a10 = generate({
            let x0 = a7.shape().1;
            let x1 = constant(5i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = constant(8i16);
            let x3 = constant(0i64);
            let x4 = x1.ne(x3);
            let x5 = x1 % x1;
            let x6 = cond::<i64>(x4, x5, x1);
            let x7 = constant(8u8);
            let x8 = constant(3i16);
            let x9 = x2.rem_euclid(x8);
            let x10 = (x7, x6, x6, x9);
            x10
        });
        let a11 = transpose(a10);
        let a12 = permute(|p, q| ((p.0.0 & q.0.0, p.0.1 + q.0.1), p.1 | q.1), a0, |x0| {
            let x1 = constant(2i64);
            let x2 = x0.ne(x1);
            (x2, x0)
        }, a3);
        (a6, a8, a9, a11, a12, a11)
    });
    let a0 = Array::<Dim1, ((i16, f64), bool)>::from_extents(&[2], vec![((3570i16, 0.3228182962341313f64), false), ((10i16, -0.5936295726415759f64), true)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_35() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, i16>>| {
        let a1 = fold_all(|p, q| p + q, {
            let x0 = constant(7i16);
            x0
        }, a0);
        let a2 = zip(a0, a0);
        let a3 = permute(|p, q| p + q, a0, |(x0, x1)| {
            let x2 = constant(1i64);
            let x3 = x0.ne(x2);
            let x4 = constant(-2i64);
            let x5 = x1 + x4;
            (x3 & (x5.ge(0) & x5.lt(a0.shape().0)) & (x1.ge(0) & x1.lt(a0.shape().1)), (x5, x1))
        }, a0);
        let a4 = zip(a2, a0);
        (a1, a3, a4)
    });
    let a0 = Array::<Dim2, i16>::from_extents(&[2, 2], vec![23i16, 4i16, 12i16, 1i16])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_36() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, f32>>, a1: Acc<Array<Dim2, f32>>| {
        let a2 = dot(a0, a0);
        let a3 = map(|x0: Exp<f32>| {
            let x1 = constant(0u32);
            let x2 = x1.cast::<f32>();
            let x3 = x0.cast::<i64>();
            let x4 = x3.count_ones();
            let x5 = constant(3i64);
            let x6 = while_::<(i64, f32), _, _, _>(|(x6, x7)| x6.lt(x5.min(40)) & {
                let x8 = constant(true);
                x8
            }, |(x6, x7)| (x6 + 1, x0), (0i64, x0)).1;
            let x7 = constant(5i64);
            let x8 = x4.rem_euclid(x7);
            let x9 = while_::<(i64, f32), _, _, _>(|(x9, x10)| x9.lt(x8.min(40)) & {
                let x11 = constant(true);
                x11
            }, |(x9, x10)| (x9 + 1, x6), (0i64, x2)).1;
            let x10 = x9 + x6;
            let x11 = gradient(|x11: Exp<f32>| {
                let x12 = x1.cast::<f32>();
                x12
            }, x10);
            let x12 = x6.pow(x0);
            let x13 = x11.clamp(x12, x11);
            x13
        }, a2);
        let a4 = zip3_min(a3, a2, a2);
        let a5 = {
            let () = ();
            slice((All, All), a1)
        };
        let a6 = call(&afun(|a0: Acc<Array<Dim2, f32>>, a1: Acc<Array<Dim0, f32>>| {
            let a2 = zip_with_min(|x0: Exp<f32>, x1: Exp<f32>| {
                let x2 = constant(168743332271453757u64);
                let x3 = x2.cast::<f32>();
                let x4 = x3.cast::<bool>();
                let x5 = cond::<f32>(x4, x3, x1);
                x5
            }, a1, a1);
            a2
        }), (a1, a2));
        let a7 = map(|x0: (Exp<f32>, Exp<f32>, Exp<f32>)| {
            let x1 = x0.0;
            let x2 = x1 - x1;
            let x3 = x2.cast::<u16>();
            let x4 = x3.min(x3);
            x4
        }, a4);
        (a5, a6, a7, a5)
    });
    let a0 = Array::<Dim1, f32>::from_extents(&[1], vec![14.75f32])?;
    let a1 = Array::<Dim2, f32>::from_extents(&[1, 2], vec![1.2150549f32, -0.5732221f32])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_37() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, f64>>| {
        let a1 = backpermute({
            let x0 = a0.shape();
            let x1 = a0.shape();
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = a0.shape();
            let x3 = constant(1i64);
            let x4 = x2 - x3;
            let x5 = x4 - x0;
            x5
        }, a0);
        let a2 = zip(a1, a1);
        let a3 = map(|x0: Exp<f64>| x0, a0);
        let a4 = generate({
            let x0 = a2.shape().0;
            x0
        }, |x0| {
            let x1 = x0.cast::<f64>();
            x1
        });
        let (a5, a6) = acond({
            let x0 = constant(true);
            let x1 = cond::<bool>(x0, x0, x0);
            x1
        }, (a2, a2), (a2, a2));
        let (a7, a8) = sort_by_key(a3, a4);
        let a9 = backpermute({
            let x0 = a8.shape();
            cond(a8.shape().ne(0), x0, 0)
        }, |x0| {
            let x1 = constant(2i64);
            let x2 = x0 + x1;
            x2.rem_euclid(a8.shape().max(1))
        }, a8);
        let a10 = scanl(|p, q| p + q, {
            let x0 = constant(14.75f64);
            x0
        }, a9);
        let a11 = fold1_all(|p, q| p + q, a10);
        let a12 = reshape((), a11);
        let (a13, a14) = call(&afun(|a0: Acc<Array<Dim0, f64>>| {
            let a1 = imap(|(), x0: Exp<f64>| {
                let x1 = constant(-2i64);
                x1
            }, a0);
            (a0, a1)
        }), a11);
        let (a15, a16) = scanl_ex(|p, q| (p.0.min(q.0), p.1 + q.1), {
            let x0 = constant(-0.6353234781227806f64);
            let x1 = (x0, x0);
            x1
        }, a6);
        let a17 = reverse(a16);
        let a18 = fold1_all(|p, q| (p.0.min(q.0), p.1 + q.1), a15);
        let a19 = {
            let n0 = {
            let x0 = constant(2i64);
            x0
        };
            replicate(n0, a18)
        };
        let a20 = zip_with(|x0: (Exp<f64>, Exp<f64>), x1: Exp<f64>| {
            let x2 = x1.cast::<u32>();
            let x3 = x2.max(x2);
            let x4 = x0.0;
            let x5 = x1 % x4;
            let x6 = x5.cast::<u32>();
            let x7 = (x3, x6, x2);
            x7
        }, a19, a0);
        let a21 = reshape({
            let x0 = constant(1i64);
            x0
        }, a18);
        let a22 = scanl(|p, q| (p.0 * q.0, p.1 + q.1), {
            let x0 = constant(1.5597007214701746f64);
            let x1 = x0 * x0;
            let x2 = (x1, x0);
            x2
        }, a5);
        let a23 = fold(|p, q| (p.0 + q.0, p.1.max(q.1)), {
            let x0 = constant(-1.3051295974233716f64);
            let x1 = (x0, x0);
            x1
        }, a21);
        (a12, a14, a17, a20, a22, a23)
    });
    let a0 = Array::<Dim1, f64>::from_extents(&[2], vec![5.0f64, 7.5f64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_38() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, u32>>| {
        let a1 = map(|x0: Exp<u32>| x0, a0);
        let a2 = generate({
            let x0 = a1.shape().0;
            let x1 = constant(1i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = constant(14i64);
            let x3 = cond::<u32>(a1.shape().0.ne(0) & a1.shape().1.ne(0), a1.at((x1.rem_euclid(a1.shape().0.max(1)), x2.rem_euclid(a1.shape().1.max(1)))), constant(0u32));
            let x4 = x3 * x3;
            x4
        });
        a2
    });
    let a0 = Array::<Dim2, u32>::from_extents(&[6, 1], vec![6727u32, 7531u32, 1882u32, 159u32, 261718339u32, 5262u32])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_39() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, f64>>, a1: Acc<Array<Dim2, i64>>| {
        let a2 = {
            let () = ();
            replicate((All, All), a1)
        };
        let a3 = scanl1(|p, q| {
        let _: Exp<f64> = q;
        p
    }, a0);
        let a4 = generate({
            let x0 = constant(3i64);
            let x1 = constant(1i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = constant(1.2180776168408936f64);
            let x3 = x2 / x2;
            x3
        });
        let a5 = generate({
            let x0 = constant(2i64);
            let x1 = constant(5i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = x0.cast::<f64>();
            let x3 = gradient(|x3: Exp<f64>| x2, x2);
            x3
        });
        let a6 = zip3(a0, a3, a0);
        let a7 = reshape({
            let x0 = a6.shape().0;
            let x1 = a6.shape().1;
            (x0, x1)
        }, a6);
        let a8 = acond({
            let x0 = constant(false);
            x0
        }, a6, a6);
        (a2, a4, a5, a7, a8)
    });
    let a0 = Array::<Dim2, f64>::from_extents(&[5, 2], vec![14.0f64, 1.0f64, 4.75f64, -2.25f64, 1.25f64, 9.0f64, 12.0f64, 14.5f64, -3.5f64, 2.75f64])?;
    let a1 = Array::<Dim2, i64>::from_extents(&[2, 5], vec![546773807045192714i64, 21i64, 129113949i64, 49915438250141i64, 213527838045i64, 1438476584884293i64, 1246376887979i64, 93417960i64, -1i64, 1113723187i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_40() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, f32>>, a1: Acc<Array<Dim2, f64>>| {
        let a2 = use_(&Array::<Dim2, f32>::from_extents(&[0, 1], vec![]).unwrap());
        let a3 = generate({
            let x0 = a2.shape().1;
            let x1 = a1.shape().0;
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = constant(-1.851527356724874f64);
            let x3 = x2 + x2;
            let x4 = x2 + x3;
            let x5 = x4 / x4;
            x5
        });
        let a4 = imap(|(x0, x1), x2: Exp<f32>| {
            let x3 = constant(1i8);
            let x4 = x3.cast::<u64>();
            let x5 = constant(5u64);
            let x6 = x4 / x5;
            let x7 = x4 - x6;
            x7
        }, a2);
        let a5 = map(|x0: Exp<f32>| {
            let x1 = x0.cast::<u64>();
            let x2 = x1.signum();
            x2
        }, a2);
        let a6 = fold1(|p, q| p.min(q), a0);
        let a7 = imap(|(x0, x1), x2: Exp<f64>| {
            let x3 = x2 + x2;
            let x4 = x3.cast::<f32>();
            x4
        }, a1);
        let a8 = {
            let n0 = {
            let x0 = a4.shape().1;
            x0
        };
            replicate((n0, All, All), a2)
        };
        let a9 = permute(|p, q| p + q, a5, |(x0, x1)| {
            let x2 = constant(2i64);
            let x3 = x0.lt(x2);
            let x4 = constant(1i64);
            let x5 = x0 + x4;
            let x6 = a5.shape().1;
            let x7 = constant(1i64);
            let x8 = x6 - x7;
            let x9 = x1.min(x8);
            (x3, (x5, x9))
        }, a5);
        let a10 = skip({
            let x0 = constant(1i64);
            let x1 = x0 + x0;
            x1
        }, a7);
        let a11 = zip_with(|x0: Exp<f32>, x1: Exp<f32>| {
            let x2 = constant(3i64);
            x2
        }, a10, a10);
        (a3, a6, a8, a9, a11)
    });
    let a0 = Array::<Dim1, f32>::from_extents(&[3], vec![0.07381651f32, 0.99841464f32, -9.3e18f32])?;
    let a1 = Array::<Dim2, f64>::from_extents(&[2, 4], vec![-1.0f64, -0.5367796621877745f64, 1.6383663270168518f64, -1.4606109156480258f64, 1.0f64, 5e-324f64, -9.3e18f64, -1.3022347038317874f64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_41() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim0, f32>>, a1: Acc<Array<Dim2, i64>>| {
        let (a2, a3) = sort_by_key_descending(a1, a1);
        let a4 = reshape({
            let x0 = a3.shape().0;
            let x1 = a3.shape().1;
            let x2 = x0 * x1;
            x2
        }, a3);
        let a5 = map(|x0: Exp<i64>| {
            let x1 = constant(254u8);
            let x2 = x1 * x1;
            let x3 = x2.clamp(x1, x1);
            let x4 = x3 & x2;
            let x5 = x3 | x4;
            let x6 = constant(1u8);
            let x7 = x5 | x6;
            x7
        }, a4);
        let (a6, a7) = sort_by_key_descending(a5, a4);
        let a8 = dot(a6, a5);
        let a9 = zip_with(|x0: Exp<u8>, x1: Exp<u8>| {
            let x2 = x1 ^ x1;
            x2
        }, a8, a8);
        let a10 = generate({
            let x0 = constant(1i64);
            let x1 = constant(1i64);
            let x2 = constant(0i64);
            (x0, x1, x2)
        }, |(x0, x1, x2)| {
            let x3 = a0.at(());
            let x4 = a0.at(());
            let x5 = x3 * x4;
            let x6 = a0.at(());
            let x7 = x5 - x6;
            x7
        });
        let a11 = skip({
            let x0 = constant(-1i64);
            x0
        }, a10);
        (a7, a9, a11)
    });
    let a0 = Array::<Dim0, f32>::from_extents(&[], vec![0.012876252f32])?;
    let a1 = Array::<Dim2, i64>::from_extents(&[2, 5], vec![714789519480760451i64, 523527767344504i64, 4249472677207223036i64, 43748702051i64, 48173297408616i64, 24305525i64, 2177397i64, 8738573061640825151i64, 175190719i64, 1466091633386i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_43() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim3, f64>>| {
        let a1 = generate({
            let x0 = a0.shape().0;
            x0
        }, |x0| {
            let x1 = a0.shape().2;
            let x2 = constant(0i64);
            let x3 = x1 - x2;
            x3
        });
        a1
    });
    let a0 = Array::<Dim3, f64>::from_extents(&[3, 3, 3], vec![-0.25f64, 0.0f64, -3.0f64, 3.5f64, 5.5f64, 0.75f64, 13.25f64, 0.5f64, 14.25f64, 15.75f64, 14.25f64, 7.75f64, 1.5f64, -2.0f64, 10.5f64, 8.0f64, 9.25f64, 0.75f64, 9.5f64, 9.25f64, -0.75f64, 0.75f64, 7.5f64, -2.5f64, 6.75f64, -1.5f64, -3.75f64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_45() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, f32>>, a1: Acc<Array<Dim2, f32>>, a2: Acc<Array<Dim1, f32>>| {
        let a3 = {
            let n0 = {
            let x0 = constant(1i64);
            let x1 = constant(0i64);
            x1
        };
            slice(n0, a0)
        };
        let (a4, a5) = {
            let times = {
            let x0 = constant(1i64);
            x0
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a4, a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, f32>>, Acc<Array<Dim0, f32>>)| the(a4).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a4, a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, f32>>, Acc<Array<Dim0, f32>>)| {
                let a7 = generate({
                    let x0 = a5.shape().0;
                    x0
                }, |x0| {
                    let x1 = constant(4i64);
                    let x2 = x1.cast::<bool>();
                    let x3 = x2.cast::<f64>();
                    let x4 = constant(2.0f64);
                    let x5 = (x4, x3);
                    x5
                });
                let a8 = minimum(a1);
                (map(|k: Exp<i64>| k + 1, a4), a5, a6)
            },
            (unit(0i64), a1, a3),
            );
            (r1, r2)
        };
        let (a6, a7) = sort_by_key_descending(a4, a4);
        let a8 = take({
            let x0 = constant(true);
            let x1 = constant(7.75f32);
            let x2 = cond::<f32>(x0, x1, x1);
            let x3 = constant(4242676083i64);
            x3
        }, a2);
        let a9 = zip_with_min(|x0: Exp<f32>, x1: Exp<f32>| {
            let x2 = constant(1.7146166922942756f64);
            let x3 = x2.clamp(x2, x2);
            let x4 = x1.cast::<f64>();
            let x5 = x4.max(x3);
            let x6 = (x4, x2);
            x6
        }, a8, a0);
        let a10 = fold(|p, q| p.max(q), {
            let x0 = constant(true);
            let x1 = constant(-1.25f64);
            let x2 = (x1, x1);
            let x3 = cond::<(f64, f64)>(x0, x2, x2).unlift();
            let x4 = constant(12.5f32);
            x4
        }, a7);
        let a11 = acond({
            let x0 = constant(false);
            x0
        }, a3, a3);
        let a12 = generate({
            let x0 = a7.shape().0;
            let x1 = constant(1i64);
            let x2 = constant(2i64);
            let x3 = constant(2i64);
            (x0, x1, x2, x3)
        }, |(x0, x1, x2, x3)| {
            let x4 = constant(-0.8141406591472591f64);
            let x5 = x4.log10();
            let x6 = constant(1.7148643f32);
            let x7 = x6.sin();
            let x8 = (x4, x4);
            x8
        });
        let a13 = map(|x0: Exp<f32>| {
            let x1 = constant(-2i8);
            let x2 = x1 - x1;
            let x3 = x0.clamp(x0, x0);
            let x4 = constant(1i8);
            let x5 = x4 + x4;
            let x6 = x0.cast::<f64>();
            let x7 = x6 / x6;
            let x8 = (x6, x7);
            let x9 = x3.cast::<i8>();
            let x10 = x9 + x9;
            let x11 = x6 * x6;
            let x12 = constant(true);
            let x13 = constant(true);
            let x14 = x12 | x13;
            let x15 = x0.signum();
            let x16 = constant(9i64);
            let x17 = constant(5i64);
            let x18 = x16.rem_euclid(x17);
            let x19 = while_::<(i64, i8), _, _, _>(|(x19, x20)| x19.lt(x18.min(40)) & {
                let x21 = constant(true);
                x21
            }, |(x19, x20)| (x19 + 1, {
                let x21 = x10.cast::<i64>();
                let x22 = x14.cast::<u16>();
                let x23 = x22 + x22;
                x20
            }), (0i64, x10)).1;
            let x20 = constant(2i8);
            let x21 = x19 % x20;
            let x22 = cond::<i64>(x13, x17, x18);
            let x23 = x22 + x17;
            x20
        }, a10);
        let a14 = map(|x0: (Exp<f64>, Exp<f64>)| {
            let x1 = x0.0;
            let x2 = x1.cast::<i8>();
            let x3 = x2 * x2;
            let x4 = constant(1i8);
            let x5 = x3 | x4;
            let x6 = x3 % x5;
            let x7 = x6.cast::<i64>();
            let x8 = a13.shape();
            let x9 = constant(0i64);
            let x10 = x7 + x9;
            let x11 = constant(0i64);
            let x12 = x10.ge(x11);
            let x13 = x10.lt(x8);
            let x14 = x12 & x13;
            let x15 = a13.at(x10);
            let x16 = cond::<i8>(x14, x15, x15);
            let x17 = x15 & x16;
            let x18 = cond::<(f64, f64)>(a9.shape().ne(0), a9.at(x10.rem_euclid(a9.shape().max(1))), (constant(0.0f64), constant(0.0f64))).unlift();
            let x19 = cond::<i8>(x13, x17, x17);
            x17
        }, a12);
        (a5, a6, a11, a14)
    });
    let a0 = Array::<Dim1, f32>::from_extents(&[1], vec![-0.6644446f32])?;
    let a1 = Array::<Dim2, f32>::from_extents(&[1, 1], vec![0.14366889f32])?;
    let a2 = Array::<Dim1, f32>::from_extents(&[2], vec![1.7734771f32, 0.32131884f32])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

fn seed_46() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim0, f64>>| {
        let (a1, a2) = acond({
            let x0 = constant(false);
            let x1 = x0 & x0;
            x1
        }, (a0, a0), (a0, a0));
        let a3 = generate({
            let x0 = constant(2i64);
            let x1 = constant(2i64);
            let x2 = x0 * x1;
            let x3 = constant(2i64);
            (x2, x3)
        }, |(x0, x1)| {
            let x2 = x1.leading_zeros();
            let x3 = constant(1i64);
            let x4 = x2 | x3;
            let x5 = x2.div_euclid(x4);
            let x6 = x5 - x5;
            x6
        });
        let a4 = zip(a3, a3);
        let (a5, a6) = acond({
            let x0 = constant(true);
            x0
        }, (a2, a3), (a0, a3));
        let a7 = argsort(a6);
        let a8 = maximum(a3);
        (a1, a4, a5, a7, a8)
    });
    let a0 = Array::<Dim0, f64>::from_extents(&[], vec![-1.4291642841554215f64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_47() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, i64>>, a1: Acc<Array<Dim0, (bool, i32, u8, f64)>>, a2: Acc<Array<Dim2, i64>>, a3: Acc<Array<Dim2, f64>>| {
        let a4 = generate({
            let x0 = a2.shape().0;
            let x1 = constant(4i64);
            let x2 = x0 % x1;
            let x3 = constant(3i64);
            let x4 = a1.len();
            (x2, x3, x4)
        }, |(x0, x1, x2)| {
            let x3 = constant(0i64);
            let x4 = x0 + x3;
            let x5 = a2.shape().1;
            let x6 = constant(1i64);
            let x7 = x5 - x6;
            let x8 = x7 - x0;
            let x9 = cond::<i64>((x4.ge(0) & x4.lt(a2.shape().0)) & (x8.ge(0) & x8.lt(a2.shape().1)), a2.at((x4, x8)), constant(0i64));
            let x10 = constant(2i64);
            let x11 = x0 + x10;
            let x12 = constant(-2i64);
            let x13 = x2 + x12;
            let x14 = cond::<i64>(a2.shape().0.ne(0) & a2.shape().1.ne(0), a2.at((x11.rem_euclid(a2.shape().0.max(1)), x13.rem_euclid(a2.shape().1.max(1)))), constant(0i64));
            let x15 = x9 * x14;
            let x16 = constant(-1i64);
            let x17 = x1 + x16;
            let x18 = cond::<i64>((x0.ge(0) & x0.lt(a2.shape().0)) & (x17.ge(0) & x17.lt(a2.shape().1)), a2.at((x0, x17)), constant(0i64));
            let x19 = x15 - x18;
            x19
        });
        let a5 = generate({
            let x0 = a4.shape().1;
            let x1 = a2.shape().0;
            let x2 = a3.shape().1;
            let x3 = x1 * x2;
            (x0, x3)
        }, |(x0, x1)| x0);
        let a6 = backpermute({
            let x0 = a0.len();
            x0
        }, |x0| {
            let x1 = a4.shape().0;
            let x2 = constant(1i64);
            let x3 = x1 - x2;
            let x4 = constant(1i64);
            let x5 = x0 + x4;
            (x3, x0, x5)
        }, a4);
        let a7 = fold(|p, q| p.max(q), {
            let x0 = constant(-2i64);
            x0
        }, a4);
        let a8 = imap(|(x0, x1), x2: Exp<i64>| {
            let x3 = constant(12i64);
            let x4 = x3.cast::<u8>();
            let x5 = x2.cast::<bool>();
            let x6 = constant(14i32);
            let x7 = x6.cast::<f64>();
            let x8 = (x5, x6, x4, x7);
            x8
        }, a5);
        let a9 = {
            let (n0, n1, n2) = {
            let x0 = a6.shape();
            let x1 = constant(2i64);
            let x2 = x0 + x1;
            let x3 = a8.shape().1;
            let x4 = a8.shape().0;
            let x5 = x3 * x4;
            let x6 = a1.len();
            (x2, x5, x6)
        };
            replicate((n0, All, n1, n2), a6)
        };
        (a7, a9, a9)
    });
    let a0 = Array::<Dim2, i64>::from_extents(&[1, 0], vec![])?;
    let a1 = Array::<Dim0, (bool, i32, u8, f64)>::from_extents(&[], vec![(false, 0i32, 4u8, 1.251626562999712f64)])?;
    let a2 = Array::<Dim2, i64>::from_extents(&[1, 1], vec![8i64])?;
    let a3 = Array::<Dim2, f64>::from_extents(&[1, 0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2, &a3))?.to_tuple())
}

fn seed_49() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, i64>>, a1: Acc<Array<Dim1, (i64, bool, f64, i64)>>, a2: Acc<Array<Dim2, (i64, bool, f64, i64)>>| {
        let a3 = take({
            let x0 = constant(2i64);
            x0
        }, a2);
        let (a4, a5) = sort_by_key(a0, a0);
        let a6 = fill({
            let x0 = constant(3i64);
            let x1 = constant(3i64);
            (x0, x1)
        }, {
            let x0 = constant(-1i64);
            x0
        });
        let a7 = scanl1(|p, q| cond::<i64>(p.lt(q), q, p), a5);
        let a8 = permute(|p, q| p + q + p * q, a6, |(x0, x1)| {
            let x2 = constant(1i64);
            let x3 = x0.ge(x2);
            let x4 = constant(2i64);
            let x5 = x0 + x4;
            let x6 = constant(2i64);
            let x7 = x0 + x6;
            (x3 & a6.shape().0.ne(0) & a6.shape().1.ne(0), (x5.rem_euclid(a6.shape().0.max(1)), x7.rem_euclid(a6.shape().1.max(1))))
        }, a5);
        let a9 = generate({
            let x0 = constant(0i64);
            let x1 = cond::<i64>(a7.shape().0.ne(0) & a7.shape().1.ne(0), a7.at((x0.rem_euclid(a7.shape().0.max(1)), x0.rem_euclid(a7.shape().1.max(1)))), constant(0i64));
            let x2 = constant(2i64);
            let x3 = x1.rem_euclid(x2);
            x3
        }, |x0| {
            let x1 = x0 - x0;
            let x2 = cond::<i64>(a4.shape().0.ne(0) & a4.shape().1.ne(0), a4.at((x1.rem_euclid(a4.shape().0.max(1)), x0.rem_euclid(a4.shape().1.max(1)))), constant(0i64));
            x1
        });
        (a3, a8, a9, a4)
    });
    let a0 = Array::<Dim2, i64>::from_extents(&[2, 5], vec![4312i64, -8412394483042562097i64, 70568949481229i64, 7640051746016i64, 0i64, 746332i64, 17840101i64, 38017460107734983i64, 44i64, 943236i64])?;
    let a1 = Array::<Dim1, (i64, bool, f64, i64)>::from_extents(&[5], vec![(17i64, true, 4.75f64, 1i64), (12i64, true, 6.75f64, 18i64), (19i64, true, 4.25f64, -2i64), (11i64, true, -3.5f64, 9i64), (14i64, true, 12.5f64, 15i64)])?;
    let a2 = Array::<Dim2, (i64, bool, f64, i64)>::from_extents(&[2, 3], vec![(40172i64, false, 0.3969530088751121f64, 900i64), (1660078796043i64, false, 0.4989026310719642f64, 1437575i64), (0i64, true, 1.5708541489114554f64, 164680720439368407i64), (114079888555488i64, true, -1.9566603665714872f64, 852688972057285608i64), (8583935735032638i64, true, -1.8479226345708977f64, 47109732726i64), (31773977784472484i64, true, -0.7733180867542733f64, 2i64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

pub const ALL: &[(u64, fn() -> Result<ArrayTuple, Error>)] = &[
    (2, seed_2),
    (4, seed_4),
    (5, seed_5),
    (6, seed_6),
    (7, seed_7),
    (8, seed_8),
    (10, seed_10),
    (11, seed_11),
    (12, seed_12),
    (13, seed_13),
    (14, seed_14),
    (16, seed_16),
    (17, seed_17),
    (18, seed_18),
    (19, seed_19),
    (20, seed_20),
    (21, seed_21),
    (22, seed_22),
    (23, seed_23),
    (24, seed_24),
    (25, seed_25),
    (26, seed_26),
    (28, seed_28),
    (30, seed_30),
    (31, seed_31),
    (32, seed_32),
    (33, seed_33),
    (34, seed_34),
    (35, seed_35),
    (36, seed_36),
    (37, seed_37),
    (38, seed_38),
    (39, seed_39),
    (40, seed_40),
    (41, seed_41),
    (43, seed_43),
    (45, seed_45),
    (46, seed_46),
    (47, seed_47),
    (49, seed_49),
];
