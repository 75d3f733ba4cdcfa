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
            let x5 = x4.erfc();
            x5
        }, a0);
        let a4 = {
            let times = {
            let x0 = constant(2i64);
            x0
        }.min(40);
            let (_, r1) = awhile(
            |(a4, a5): (Acc<Array<Dim0, i64>>, Acc<Array<Dim4, i64>>)| the(a4).lt(times) & {
                let x0 = constant(false);
                x0
            },
            |(a4, a5): (Acc<Array<Dim0, i64>>, Acc<Array<Dim4, i64>>)| {
                (map(|k: Exp<i64>| k + 1, a4), a5)
            },
            (unit(0i64), a2),
            ).unlift();
            r1
        };
        let a5 = map(|x0: Exp<i64>| x0, a4);
        let a6 = reshape({
            let x0 = a5.shape().0;
            let x1 = a5.shape().1;
            let x2 = a5.shape().2;
            let x3 = a5.shape().3;
            (x0, x1, x2, x3)
        }, a5);
        let a7 = backpermute({
            let x0 = a4.shape().0;
            let x1 = a4.shape().1;
            (cond(a4.shape().0.ne(0) & a4.shape().1.ne(0) & a4.shape().2.ne(0) & a4.shape().3.ne(0), x0, 0), cond(a4.shape().0.ne(0) & a4.shape().1.ne(0) & a4.shape().2.ne(0) & a4.shape().3.ne(0), x1, 0))
        }, |(x0, x1)| {
            let x2 = constant(1i64);
            let x3 = x2 ^ x2;
            let x4 = a6.shape().1;
            (x4.rem_euclid(a4.shape().0.max(1)), x4.rem_euclid(a4.shape().1.max(1)), x3.rem_euclid(a4.shape().2.max(1)), x3.rem_euclid(a4.shape().3.max(1)))
        }, a4);
        let a8 = backpermute({
            let x0 = a5.shape().2;
            let x1 = constant(1i64);
            let x2 = x0 + x1;
            let x3 = a5.shape().2;
            (cond(a5.shape().0.ne(0) & a5.shape().1.ne(0) & a5.shape().2.ne(0) & a5.shape().3.ne(0), x2, 0), cond(a5.shape().0.ne(0) & a5.shape().1.ne(0) & a5.shape().2.ne(0) & a5.shape().3.ne(0), x3, 0))
        }, |(x0, x1)| {
            let x2 = a5.shape().0;
            let x3 = constant(1i64);
            let x4 = x2 - x3;
            let x5 = x1.min(x4);
            (x5.rem_euclid(a5.shape().0.max(1)), x0.rem_euclid(a5.shape().1.max(1)), x1.rem_euclid(a5.shape().2.max(1)), x0.rem_euclid(a5.shape().3.max(1)))
        }, a5);
        (a3, a7, a8)
    });
    let a0 = Array::<Dim0, i64>::from_extents(&[], vec![24108069641809886i64])?;
    let a1 = Array::<Dim2, f64>::from_extents(&[2, 0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_4() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (f64, f64, f64)>>, a1: Acc<Array<Dim2, i64>>, a2: Acc<Array<Dim1, f64>>| {
        let a3 = backpermute({
            let x0 = constant(3i64);
            let x1 = a2.shape();
            let x2 = a2.shape();
            (cond(a0.shape().ne(0), x0, 0), cond(a0.shape().ne(0), x1, 0), cond(a0.shape().ne(0), x2, 0))
        }, |(x0, x1, x2)| {
            let x3 = constant(2i64);
            let x4 = x1 + x3;
            x4.rem_euclid(a0.shape().max(1))
        }, a0);
        let a4 = use_(&Array::<Dim2, (f64, f64, f64)>::from_extents(&[2, 2], vec![(5e-324f64, 1.7976931348623157e308f64, f64::INFINITY), (0.20342068851732797f64, 1.9810133758032062f64, -0.9157632580215012f64), (1.5798352184808615f64, -0.0f64, 0.44091590908503075f64), (1.765091236678603f64, 0.36389325360513824f64, -1.4893265766424388f64)]).unwrap());
        let (a5, a6) = {
            let times = {
            let x0 = constant(2i64);
            x0
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a5, a6, a7): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, (f64, f64, f64)>>, Acc<Array<Dim2, (f64, f64, f64)>>)| the(a5).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a5, a6, a7): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, (f64, f64, f64)>>, Acc<Array<Dim2, (f64, f64, f64)>>)| {
                (map(|k: Exp<i64>| k + 1, a5), a6, a7)
            },
            (unit(0i64), a0, a4),
            ).unlift();
            (r1, r2)
        };
        let a7 = scanl(|p, q| p + q, {
            let x0 = constant(1.4947127619018992f64);
            x0
        }, a2);
        let a8 = backpermute({
            let x0 = constant(3i64);
            let x1 = constant(0i64);
            let x2 = cond::<i64>(a1.shape().0.ne(0) & a1.shape().1.ne(0), a1.at((x1.rem_euclid(a1.shape().0.max(1)), x1.rem_euclid(a1.shape().1.max(1)))), constant(0i64));
            let x3 = constant(4i64);
            let x4 = x2.rem_euclid(x3);
            (cond(a5.shape().ne(0), x0, 0), cond(a5.shape().ne(0), x4, 0))
        }, |(x0, x1)| x0.rem_euclid(a5.shape().max(1)), a5);
        let a9 = {
            let (n0, n1) = {
            let x0 = a0.shape();
            let x1 = a7.shape();
            let x2 = x0 * x1;
            let x3 = constant(0i64);
            let x4 = cond::<i64>(a1.shape().0.ne(0) & a1.shape().1.ne(0), a1.at((x3.rem_euclid(a1.shape().0.max(1)), x3.rem_euclid(a1.shape().1.max(1)))), constant(0i64));
            let x5 = constant(2i64);
            let x6 = x4.rem_euclid(x5);
            (x2, x6)
        };
            replicate((n0, n1, All), a7)
        };
        let a10 = fold1_all(|p, q| (p.0 + q.0, p.1 + q.1, p.2.max(q.2)), a6);
        let (a11, a12) = call(&afun(|a0: Acc<Array<Dim2, (f64, f64, f64)>>, a1: Acc<Array<Dim0, (f64, f64, f64)>>| {
            let a2 = call(&afun(|a0: Acc<Array<Dim2, (f64, f64, f64)>>| {
                let a1 = concat(a0, a0);
                let a2 = reshape({
                    let x0 = a1.shape().0;
                    let x1 = a1.shape().1;
                    let x2 = constant(1i64);
                    (x1, x2, x0)
                }, a1);
                a2
            }), a0);
            (a2, a2)
        }), (a6, a10)).unlift();
        let a13 = map(|x0: (Exp<f64>, Exp<f64>, Exp<f64>)| {
            let x1 = constant(17u16);
            let x2 = x1 * x1;
            let x3 = x2 << x2;
            let x4 = x3.abs();
            x4
        }, a10);
        (a3, a8, a9, a11, a12, a13, a0, a0)
    });
    let a0 = Array::<Dim1, (f64, f64, f64)>::from_extents(&[2], vec![(-0.23263992426849534f64, 1.9163431140654645f64, -1.1388661748246056f64), (-1.7069585100661255f64, -0.19982258182662882f64, 1.4471840826682225f64)])?;
    let a1 = Array::<Dim2, i64>::from_extents(&[1, 0], vec![])?;
    let a2 = Array::<Dim1, f64>::from_extents(&[0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
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
        let a5 = acond({
            let x0 = constant(true);
            x0
        }, a0, a0);
        let a6 = map(|x0: Exp<f64>| {
            let x1 = x0.cast::<i64>();
            x1
        }, a4);
        let a7 = dot(a1, a3);
        let a8 = fold1(|p, q| p * q, a5);
        let a9 = map(|x0: Exp<f64>| {
            let x1 = constant(12880i64);
            let x2 = a1.shape();
            let x3 = constant(0i64);
            let x4 = x1 + x3;
            let x5 = constant(0i64);
            let x6 = x4.ge(x5);
            let x7 = x4.lt(x2);
            let x8 = x6 & x7;
            let x9 = a1.at(x4);
            let x10 = cond::<f64>(x8, x9, x0);
            x10
        }, a4);
        let a10 = use_(&Array::<Dim2, i64>::from_extents(&[3, 0], vec![]).unwrap());
        (a6, a7, a8, a9, a10)
    });
    let a0 = Array::<Dim2, i64>::from_extents(&[3, 3], vec![13148868i64, 869625158i64, 14i64, 15656671875289148i64, 14598820171i64, 78771i64, 33303890770i64, 502130774834141483i64, 182914369721i64])?;
    let a1 = Array::<Dim1, f64>::from_extents(&[0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_6() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, i64>>| {
        let (a1, a2) = {
            let times = {
            let x0 = constant(3i64);
            x0
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a1, a2, a3): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, i64>>, Acc<Array<Dim2, i64>>)| the(a1).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a1, a2, a3): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, i64>>, Acc<Array<Dim2, i64>>)| {
                (map(|k: Exp<i64>| k + 1, a1), a2, a2)
            },
            (unit(0i64), a0, a0),
            ).unlift();
            (r1, r2)
        };
        let a3 = transpose(a1);
        let a4 = permute(|p, q| p.max(q), a0, |(x0, x1)| {
            let x2 = constant(2i64);
            let x3 = x0.eq(x2);
            let x4 = constant(1i64);
            let x5 = x1.div_euclid(x4);
            (x3, (x5, x0))
        }, a3);
        let a5 = map(|x0: Exp<i64>| {
            let x1 = constant(1i64);
            x1
        }, a2);
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
    let f = afun(|a0: Acc<Array<Dim2, f64>>, a1: Acc<Array<Dim1, i64>>, a2: Acc<Array<Dim2, i8>>| {
        let a3 = scanl(|p, q| p.min(q), {
            let x0 = constant(9007199254740992i64);
            let x1 = x0 + x0;
            let x2 = constant(1.8995723641316915f64);
            let x3 = x2.clamp(x2, x2);
            x0
        }, a1);
        let a4 = generate({
            let x0 = constant(1i64);
            let x1 = constant(0i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = cond::<i8>((x0.ge(0) & x0.lt(a2.shape().0)) & (x1.ge(0) & x1.lt(a2.shape().1)), a2.at((x0, x1)), constant(0i8));
            x2
        });
        let a5 = zip_with_min(|x0: Exp<i8>, x1: Exp<i8>| {
            let x2 = constant(13i64);
            let x3 = constant(1i8);
            let x4 = x0.le(x3);
            let x5 = (x2, x4);
            let x6 = (x5, x5);
            let x7 = x1 >> x3;
            let x8 = !x4;
            x2
        }, a2, a2);
        let (a6, a7) = {
            let times = {
            let x0 = constant(5i64);
            x0
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a6, a7, a8): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, i64>>, Acc<Array<Dim1, i64>>)| the(a6).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a6, a7, a8): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, i64>>, Acc<Array<Dim1, i64>>)| {
                let a9 = sum(a8);
                let a10 = zip_with_min(|x0: Exp<i64>, x1: Exp<i64>| {
                    let x2 = a5.shape().1;
                    let x3 = constant(0i64);
                    let x4 = constant(16032i16);
                    let x5 = constant(13i32);
                    let x6 = (x2, x5);
                    let x7 = (x4, x1, x6, x5);
                    let x8 = while_::<(i64, (i16, i64, (i64, i32), i32)), _, _>(|(x8, x9)| x8.lt(x3.min(40)) & {
                        let x10 = x8.ge(x3);
                        x10
                    }, |(x8, x9)| (x8 + 1, {
                        let x10 = x3.cast::<i32>();
                        let x11 = x5.clamp(x10, x10);
                        let x12 = x10.cast::<i64>();
                        let x13 = constant(0i64);
                        let x14 = x12.ne(x13);
                        let x15 = x12 / x12;
                        let x16 = cond::<i64>(x14, x15, x12);
                        let x17 = x7.1;
                        let x18 = x17.ne(x15);
                        let x19 = (x16, x18);
                        let x20 = (x19, x19);
                        x7
                    }), (0i64, x7)).unlift().1;
                    x8
                }, a9, a9);
                let a11 = map(|x0: Exp<i64>| {
                    let x1 = constant(20i32);
                    let x2 = x1 << x1;
                    let x3 = x2.cast::<bool>();
                    let x4 = x2.cast::<i16>();
                    let x5 = (x0, x1);
                    let x6 = (x4, x0, x5, x2);
                    let x7 = cond::<(i16, i64, (i64, i32), i32)>(x3, x6, x6).unlift();
                    let x8 = constant(4.25f32);
                    let x9 = x8 - x8;
                    let x10 = x8.cast::<i64>();
                    let x11 = constant(1i64);
                    let x12 = x10 | x11;
                    let x13 = x0 / x12;
                    x6
                }, a9);
                let a12 = map(|x0: Exp<i8>| {
                    let x1 = x0.cast::<i64>();
                    let x2 = constant(true);
                    let x3 = (x1, x2);
                    let x4 = constant(4i64);
                    let x5 = while_::<(i64, i64), _, _>(|(x5, x6)| x5.lt(x4.min(40)) & {
                        let x7 = (x3, x3);
                        let x8 = cond::<((i64, bool), (i64, bool))>(x2, x7, x7).unlift();
                        x2
                    }, |(x5, x6)| (x5 + 1, {
                        let x7 = x4 >> x1;
                        let x8 = a3.shape();
                        let x9 = constant(1i64);
                        x9
                    }), (0i64, x1)).unlift().1;
                    let x6 = (x5, x2);
                    let x7 = (x3, x6);
                    let x8 = constant(12.5f64);
                    let x9 = x8.clamp(x8, x8);
                    let x10 = x8.max(x9);
                    let x11 = x9.min(x9);
                    let x12 = constant(9i64);
                    let x13 = x5.rem_euclid(x12);
                    let x14 = while_::<(i64, f64), _, _>(|(x14, x15)| x14.lt(x13.min(40)) & x2, |(x14, x15)| (x14 + 1, {
                        let x16 = x11.cast::<u16>();
                        let x17 = x16.cast::<f64>();
                        let x18 = -x15;
                        let x19 = -x18;
                        x19
                    }), (0i64, x10)).unlift().1;
                    let x15 = a0.shape().0;
                    let x16 = constant(0i64);
                    let x17 = x13 + x16;
                    let x18 = constant(0i64);
                    let x19 = x17.ge(x18);
                    let x20 = x17.lt(x15);
                    let x21 = x19 & x20;
                    let x22 = a0.shape().1;
                    let x23 = constant(1i64);
                    let x24 = x16 + x23;
                    let x25 = constant(0i64);
                    let x26 = x24.ge(x25);
                    let x27 = x24.lt(x22);
                    let x28 = x26 & x27;
                    let x29 = x21 & x28;
                    let x30 = a0.at((x17, x24));
                    let x31 = cond::<f64>(x29, x30, x30);
                    let x32 = x7.0;
                    let x33 = x32.0;
                    let x34 = x33.cast::<f64>();
                    let x35 = x34.trunc();
                    x35
                }, a2);
                (map(|k: Exp<i64>| k + 1, a6), a7, a8)
            },
            (unit(0i64), a5, a3),
            ).unlift();
            (r1, r2)
        };
        let a8 = map(|x0: Exp<i64>| {
            let x1 = x0.clamp(x0, x0);
            let x2 = x1.max(x1);
            let x3 = constant(12i16);
            let x4 = constant(13i32);
            let x5 = (x0, x4);
            let x6 = (x3, x0, x5, x4);
            x6
        }, a1);
        let a9 = sum_all(a7);
        let a10 = acond({
            let x0 = constant(true);
            x0
        }, a8, a8);
        let a11 = {
            let () = ();
            replicate(All, a10)
        };
        let a12 = generate({
            let x0 = a8.shape();
            let x1 = constant(-1i64);
            let x2 = x0 + x1;
            let x3 = a11.shape();
            let x4 = constant(4i64);
            let x5 = x3 / x4;
            (x2, x5)
        }, |(x0, x1)| {
            let x2 = x0.abs();
            let x3 = constant(4i64);
            let x4 = while_::<(i64, i64), _, _>(|(x4, x5)| x4.lt(x3.min(40)) & {
                let x6 = constant(true);
                x6
            }, |(x4, x5)| (x4 + 1, {
                let x6 = constant(0i64);
                let x7 = x1.ne(x6);
                let x8 = x5 / x1;
                let x9 = cond::<i64>(x7, x8, x5);
                x9
            }), (0i64, x2)).unlift().1;
            let x5 = x3 * x3;
            let x6 = x5.cast::<i32>();
            let x7 = x6.signum();
            let x8 = x4 - x5;
            let x9 = constant(23i32);
            let x10 = x7 << x9;
            let x11 = x9 * x9;
            let x12 = constant(-3i16);
            let x13 = (x1, x11);
            let x14 = (x12, x5, x13, x11);
            x14
        });
        (a4, a6, a9, a12)
    });
    let a0 = Array::<Dim2, f64>::from_extents(&[6, 6], vec![-1.3358658027060915f64, 1.801623628141118f64, 0.8905060397230953f64, -0.365604526048954f64, 1e-30f64, 0.5f64, 0.9333357450044368f64, f64::INFINITY, -0.7927207919698147f64, 1e-30f64, 0.42681749972731264f64, -5e-324f64, 1e-30f64, -1.5456732501911739f64, f64::NAN, -1.1448905537450669f64, -1.3987389219911117f64, 5e-324f64, -1.0f64, -1.345006403568286f64, -1.464920486154726f64, -1.4929660320080638f64, 1.4900590969425096f64, -0.5241344626156716f64, 0.7483688642137629f64, 0.5f64, -1.4184005801850592f64, -0.5666603442597689f64, -1.905141778883023f64, -1.8542807185956014f64, -9.3e18f64, -1.0129280220326482f64, 0.4202468603379148f64, -0.8979275506473927f64, 1.3769823230375726f64, f64::NEG_INFINITY])?;
    let a1 = Array::<Dim1, i64>::from_extents(&[3], vec![17i64, 15i64, 10i64])?;
    let a2 = Array::<Dim2, i8>::from_extents(&[3, 3], vec![89i8, 0i8, 5i8, 0i8, -128i8, -61i8, -2i8, 5i8, -127i8])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
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
            let x5 = value_and_gradient(|x5: Exp<f64>| x4, x4).unlift();
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
        let a4 = {
            let times = {
            let x0 = constant(3i64);
            x0
        }.min(40);
            let (_, r1) = awhile(
            |(a4, a5): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, bool>>)| the(a4).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a4, a5): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, bool>>)| {
                (map(|k: Exp<i64>| k + 1, a4), a5)
            },
            (unit(0i64), a1),
            ).unlift();
            r1
        };
        let a5 = generate({
            let x0 = constant(3i64);
            let x1 = a3.shape().1;
            let x2 = a0.shape().1;
            let x3 = a2.shape();
            let x4 = a0.shape().2;
            let x5 = x3 * x4;
            (x0, x1, x2, x5)
        }, |(x0, x1, x2, x3)| x0);
        let (a6, a7, a8) = acond({
            let x0 = constant(true);
            let x1 = x0 & x0;
            x1
        }, (a0, a3, a4), (a0, a3, a4)).unlift();
        let a9 = scanl(|p, q| {
        let _: Exp<bool> = q;
        p
    }, {
            let x0 = constant(3453i64);
            let x1 = constant(9i64);
            let x2 = x0.rem_euclid(x1);
            let x3 = x1.cast::<bool>();
            let x4 = while_::<(i64, bool), _, _>(|(x4, x5)| x4.lt(x2.min(40)) & x3, |(x4, x5)| (x4 + 1, x5), (0i64, x3)).unlift().1;
            x4
        }, a8);
        let a10 = dot(a2, a2);
        let a11 = generate({
            let x0 = a7.shape().2;
            let x1 = constant(-2i64);
            let x2 = x0 + x1;
            x2
        }, |x0| {
            let x1 = constant(0i64);
            let x2 = x0 + x1;
            let x3 = a9.at(x2);
            let x4 = cond::<bool>((x0.ge(0) & x0.lt(a8.shape())), a8.at(x0), constant(false));
            let x5 = x3 | x4;
            x5
        });
        let a12 = fold(|p, q| p + q, {
            let x0 = a11.shape();
            x0
        }, a3);
        let a13 = take({
            let x0 = constant(6i64);
            x0
        }, a12);
        (a5, a6, a10, a13)
    });
    let a0 = Array::<Dim4, bool>::from_extents(&[2, 3, 3, 2], vec![true, false, true, true, false, false, false, false, false, false, false, true, false, false, true, false, false, true, false, false, false, false, false, false, false, true, true, false, true, false, true, true, true, false, true, true])?;
    let a1 = Array::<Dim1, bool>::from_extents(&[2], vec![true, true])?;
    let a2 = Array::<Dim1, i64>::from_extents(&[3], vec![7015464i64, 25061i64, 105626153431i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

fn seed_13() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, f32>>, a1: Acc<Array<Dim2, f32>>, a2: Acc<Array<Dim1, f32>>| {
        let a3 = map(|x0: Exp<f32>| {
            let x1 = x0 / x0;
            x1
        }, a2);
        let (a4, a5, a6) = acond({
            let x0 = constant(true);
            x0
        }, (a2, a2, a0), (a2, a2, a1)).unlift();
        let a7 = enum_from_n::<_, f64>({
            let x0 = constant(3i64);
            let x1 = constant(4i64);
            (x0, x1)
        }, {
            let x0 = constant(1.8515747669515896f64);
            x0
        });
        let a8 = scanl1(|p, q| p.max(q), a6);
        (a3, a4, a5, a7, a8)
    });
    let a0 = Array::<Dim2, f32>::from_extents(&[2, 4], vec![f32::NEG_INFINITY, 1.5103285f32, 0.52649194f32, 0.5f32, 1.0f32, 0.5268865f32, 3.4028235e38f32, 3.4028235e38f32])?;
    let a1 = Array::<Dim2, f32>::from_extents(&[1, 3], vec![-3.25f32, 0.0f32, 6.75f32])?;
    let a2 = Array::<Dim1, f32>::from_extents(&[0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

fn seed_14() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (i64, f64)>>, a1: Acc<Array<Dim2, f32>>, a2: Acc<Array<Dim1, (i64, f64)>>, a3: Acc<Array<Dim1, (i64, f64)>>| {
        let a4 = call(&afun(|a0: Acc<Array<Dim1, (i64, f64)>>| {
            let (a1, a2, a3) = acond({
                let x0 = constant(true);
                x0
            }, (a0, a0, a0), (a0, a0, a0)).unlift();
            a2
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
            let x4 = x1.exp2();
            let x5 = (x3, x4);
            x5
        }, a3);
        let a11 = reshape({
            let x0 = a8.shape().0;
            let x1 = a8.shape().1;
            let x2 = x0 * x1;
            x2
        }, a8);
        let a12 = drop({
            let x0 = constant(6i64);
            x0
        }, a5);
        let a13 = zip_with3_min(|x0: (Exp<i64>, Exp<f64>), x1: (Exp<i64>, Exp<f64>), x2: (Exp<i64>, Exp<f64>)| {
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
        (a4, a7, a9, a11, a12, a13)
    });
    let a0 = Array::<Dim1, (i64, f64)>::from_extents(&[0], vec![])?;
    let a1 = Array::<Dim2, f32>::from_extents(&[6, 6], vec![5.5f32, 3.5f32, 4.0f32, 6.5f32, 7.5f32, 1.25f32, 4.75f32, 7.75f32, -1.0f32, 3.75f32, -2.5f32, 5.75f32, 2.25f32, 8.25f32, 7.5f32, 12.0f32, -4.0f32, 12.75f32, 10.0f32, 15.25f32, 10.0f32, 11.25f32, 2.0f32, 1.0f32, 6.5f32, 13.75f32, -0.5f32, 11.0f32, 13.75f32, 0.75f32, 1.5f32, -0.25f32, 2.0f32, -0.75f32, 11.5f32, -3.75f32])?;
    let a2 = Array::<Dim1, (i64, f64)>::from_extents(&[3], vec![(16i64, -1.032338857030357f64), (14494240i64, 255.5f64), (2i64, 0.0f64)])?;
    let a3 = Array::<Dim1, (i64, f64)>::from_extents(&[6], vec![(8i64, 3.25f64), (6i64, -2.5f64), (5i64, 7.25f64), (18i64, 14.25f64), (-3i64, 13.25f64), (19i64, 12.75f64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2, &a3))?.to_tuple())
}

fn seed_16() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, f64>>, a1: Acc<Array<Dim3, i64>>| {
        let a2 = zip_with_min(|x0: Exp<f64>, x1: Exp<f64>| {
            let x2 = constant(1u16);
            let x3 = x2 + x2;
            x3
        }, a0, a0);
        let a3 = zip_with_min(|x0: Exp<i64>, x1: Exp<i64>| {
            let x2 = constant(555204336059598495i64);
            x2
        }, a1, a1);
        let a4 = fold(|p, q| p | q, {
            let x0 = constant(235061471221i64);
            x0
        }, a3);
        (a2, a4)
    });
    let a0 = Array::<Dim2, f64>::from_extents(&[0, 16], vec![])?;
    let a1 = Array::<Dim3, i64>::from_extents(&[16, 32, 0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_17() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (i64, i64)>>, a1: Acc<Array<Dim2, i64>>| {
        let a2 = scanr1(|p, q| cond::<i64>(p.lt(q), q, p), a1);
        let a3 = gather(a2, a0);
        let (a4, a5) = scanl_ex(|p, q| p.max(q), {
            let x0 = constant(2i16);
            let x1 = x0.div_euclid(x0);
            let x2 = x1.cast::<i64>();
            x2
        }, a2);
        let a6 = map(|x0: Exp<i64>| x0, a4);
        let a7 = {
            let (n0, n1, n2) = {
            let x0 = a6.shape().0;
            let x1 = constant(4i64);
            let x2 = x0.div_euclid(x1);
            let x3 = constant(2i64);
            let x4 = a0.shape();
            let x5 = a5.shape();
            let x6 = x4 * x5;
            (x2, x3, x6)
        };
            replicate((n0, All, n1, n2), a5)
        };
        let a8 = imap(|(x0, x1), x2: Exp<i64>| {
            let x3 = x1.cast::<f32>();
            let x4 = x3.erfc();
            x4
        }, a1);
        let a9 = generate({
            let x0 = a2.shape().1;
            let x1 = a6.shape().1;
            let x2 = constant(-1i64);
            let x3 = x1 + x2;
            (x0, x3)
        }, |(x0, x1)| {
            let x2 = constant(10u16);
            let x3 = a4.shape().1;
            let x4 = (x2, x3);
            let x5 = x4.1;
            x5
        });
        (a3, a7, a8, a9)
    });
    let a0 = Array::<Dim1, (i64, i64)>::from_extents(&[4], vec![(9i64, 10i64), (-1i64, 19i64), (-1i64, 6i64), (9i64, 8i64)])?;
    let a1 = Array::<Dim2, i64>::from_extents(&[0, 0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_18() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, u8>>| {
        let a1 = take({
            let x0 = constant(2i64);
            let x1 = constant(20i64);
            let x2 = x0.rem_euclid(x1);
            x2
        }, a0);
        let a2 = dot(a1, a1);
        let a3 = zip3_min(a2, a2, a2);
        let (a4, a5) = {
            let times = {
            let x0 = constant(4i64);
            x0
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a4, a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, u8>>, Acc<Array<Dim1, u8>>)| the(a4).lt(times) & {
                let x0 = constant(4i64);
                let x1 = constant(true);
                let x2 = while_::<(i64, bool), _, _>(|(x2, x3)| x2.lt(x0.min(40)) & x3, |(x2, x3)| (x2 + 1, x1), (0i64, x1)).unlift().1;
                let x3 = x2.ne(x2);
                x3
            },
            |(a4, a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, u8>>, Acc<Array<Dim1, u8>>)| {
                (map(|k: Exp<i64>| k + 1, a4), a5, a6)
            },
            (unit(0i64), a2, a1),
            ).unlift();
            (r1, r2)
        };
        let a6 = {
            let times = {
            let x0 = constant(1i64);
            x0
        }.min(40);
            let (_, r1) = awhile(
            |(a6, a7): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, u8>>)| the(a6).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a6, a7): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, u8>>)| {
                let a8 = fold_all(|p, q| p.max(q), {
                    let x0 = constant(15u8);
                    x0
                }, a1);
                (map(|k: Exp<i64>| k + 1, a6), a8)
            },
            (unit(0i64), a4),
            ).unlift();
            r1
        };
        let a7 = backpermute({
            let x0 = constant(4i64);
            cond(a1.shape().ne(0), x0, 0)
        }, |x0| {
            let x1 = constant(2i64);
            x1.rem_euclid(a1.shape().max(1))
        }, a1);
        (a3, a6, a7, a7, a4)
    });
    let a0 = Array::<Dim1, u8>::from_extents(&[3], vec![15u8, 30u8, 102u8])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_19() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim3, f64>>| {
        let a1 = imap(|(x0, x1, x2), x3: Exp<f64>| {
            let x4 = x3 / x3;
            x4
        }, a0);
        let a2 = zip_with_min(|x0: Exp<f64>, x1: Exp<f64>| {
            let x2 = constant(9i32);
            let x3 = x1.cast::<i32>();
            let x4 = x2.min(x3);
            let x5 = constant(8i32);
            let x6 = x4 * x5;
            let x7 = x2.rem_euclid(x6);
            x7
        }, a1, a1);
        let a3 = generate({
            let x0 = constant(5i64);
            x0
        }, |x0| {
            let x1 = x0 - x0;
            let x2 = x0 - x1;
            let x3 = (x2, x2);
            x3
        });
        let a4 = zip_with_min(|x0: (Exp<i64>, Exp<i64>), x1: (Exp<i64>, Exp<i64>)| {
            let x2 = constant(13.0f64);
            let x3 = x2.clamp(x2, x2);
            let x4 = x3.max(x3);
            x4
        }, a3, a3);
        let a5 = tail(a4);
        let a6 = generate({
            let x0 = constant(4i64);
            x0
        }, |x0| {
            let x1 = x0.cast::<f64>();
            let x2 = x1 + x1;
            let x3 = (x1, x1, x2);
            x3
        });
        let a7 = generate({
            let x0 = a5.shape();
            let x1 = constant(3i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = constant(3579892354928894266i64);
            x2
        });
        let (a8, a9) = unzip(a3);
        let a10 = {
            let (n0, n1, n2) = {
            let x0 = a3.shape();
            let x1 = constant(7i64);
            let x2 = x0 + x1;
            let x3 = constant(2i64);
            let x4 = constant(2i64);
            (x2, x3, x4)
        };
            replicate((n0, All, n1, n2), a8)
        };
        (a2, a6, a7, a9, a10)
    });
    let a0 = Array::<Dim3, f64>::from_extents(&[2, 3, 3], vec![-0.4736374676809745f64, 0.7964530544203505f64, -0.38316076339784244f64, -1.7876827152507095f64, 0.508753076959036f64, -0.4219045572916822f64, -1.6405681776383632f64, 1.653433644987076f64, 1.335053378866737f64, -0.8619173817622814f64, 1e-30f64, 0.8632890484193063f64, -0.9383690968200402f64, -1.7005022186014869f64, -1.901076817035896f64, -1.1561333586523777f64, 1.831978076441367f64, -0.3981367572464882f64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
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
            let x1 = constant(1i64);
            let x2 = x0 | x1;
            let x3 = x0.div_euclid(x2);
            let x4 = -x3;
            let x5 = constant(12i8);
            let x6 = x5.cast::<bool>();
            (x6 & (x4.ge(0) & x4.lt(a0.shape())), x4)
        }, a0);
        let a3 = drop({
            let x0 = constant(6369430i64);
            x0
        }, a2);
        let a4 = zip_with_min(|x0: Exp<u64>, x1: Exp<u64>| {
            let x2 = constant(4294967296i64);
            let x3 = x1.cast::<i64>();
            let x4 = x2.max(x3);
            let x5 = !x4;
            x5
        }, a0, a0);
        let a5 = reshape({
            let x0 = a4.shape();
            x0
        }, a4);
        let a6 = zip3_min(a2, a0, a2);
        let a7 = take({
            let x0 = constant(0i64);
            x0
        }, a5);
        (a1, a3, a6, a7)
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
        let a3 = zip_with_min(|x0: Exp<i64>, x1: Exp<i64>| {
            let x2 = constant(0.5867219f32);
            let x3 = x2.lgamma();
            x3
        }, a0, a0);
        let a4 = map(|x0: Exp<f32>| {
            let x1 = x0.cast::<i64>();
            let x2 = constant(1i64);
            let x3 = x1 | x2;
            x3
        }, a1);
        let a5 = scanr1(|p, q| p ^ q, a2);
        let a6 = generate({
            let x0 = constant(0i64);
            let x1 = cond::<i64>(a5.shape().ne(0), a5.at(x0.rem_euclid(a5.shape().max(1))), constant(0i64));
            let x2 = constant(7i64);
            let x3 = x1.rem_euclid(x2);
            let x4 = constant(1i64);
            let x5 = constant(2i64);
            (x3, x4, x5)
        }, |(x0, x1, x2)| x1);
        let (a7, a8) = scanr_ex(|p, q| p ^ q, {
            let x0 = constant(1i64);
            x0
        }, a5);
        let a9 = map(|x0: Exp<f32>| x0, a1);
        let a10 = fold(|p, q| p + q, {
            let x0 = a6.shape().1;
            x0
        }, a5);
        (a3, a4, a7, a8, a9, a10)
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
        }, (a0, a0, a0), (a0, a0, a0)).unlift();
        (a1, a2, a3, a3, a3)
    });
    let a0 = Array::<Dim1, i64>::from_extents(&[2], vec![512329i64, 74681637181909839i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_24() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, (f32, f32)>>, a1: Acc<Array<Dim1, (i64, i64)>>| {
        let a2 = zip_with_min(|x0: (Exp<i64>, Exp<i64>), x1: (Exp<f32>, Exp<f32>)| x0, a1, a0);
        a2
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
        let a2 = zip_with_min(|x0: (Exp<i64>, Exp<i64>), x1: (Exp<i64>, Exp<i64>)| {
            let x2 = constant(-2.25f32);
            let x3 = x2 * x2;
            let x4 = x3.powi(8);
            x3
        }, a1, a1);
        let a3 = map(|x0: (Exp<i64>, Exp<i64>)| x0, a1);
        let a4 = sum_all(a2);
        (a3, a4)
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
        let a4 = zip_with_min(|x0: Exp<f64>, x1: Exp<f64>| {
            let x2 = a2.len();
            let x3 = x2.cast::<f64>();
            let x4 = x3.cast::<bool>();
            let x5 = cond::<f64>(x4, x0, x1);
            let x6 = x5.hypot(x5);
            let x7 = x6.erf();
            let x8 = x7.polygamma(1);
            let x9 = x0.clamp(x8, x5);
            let x10 = x9.tan();
            x10
        }, a1, a1);
        let a5 = fold_all(|p, q| p.max(q), {
            let x0 = constant(16.0f64);
            x0
        }, a2);
        let a6 = generate({
            let x0 = a4.shape();
            let x1 = a4.shape();
            let x2 = constant(-1i64);
            let x3 = x1 + x2;
            (x0, x3)
        }, |(x0, x1)| {
            let x2 = constant(3i64);
            let x3 = x0 * x2;
            x3
        });
        let (a7, a8) = scanl_ex(|p, q| p.min(q), {
            let x0 = constant(1.4969505976627158f64);
            let x1 = x0.acos();
            x1
        }, a1);
        let a9 = map(|x0: Exp<i64>| {
            let x1 = constant(15.0f64);
            x1
        }, a6);
        let a10 = fold(|p, q| p | q, {
            let x0 = constant(-1.1477520930179272f64);
            let x1 = x0 % x0;
            let x2 = x1.cast::<i64>();
            x2
        }, a6);
        (a3, a5, a7, a8, a9, a10, a9)
    });
    let a0 = Array::<Dim4, f64>::from_extents(&[1, 1, 1, 4], vec![3.25f64, 14.25f64, 14.5f64, -2.5f64])?;
    let a1 = Array::<Dim1, f64>::from_extents(&[3], vec![11.75f64, 7.75f64, 2.5f64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_30() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, i64>>| {
        let a1 = {
            let times = {
            let x0 = constant(4i64);
            x0
        }.min(40);
            let (_, r1) = awhile(
            |(a1, a2): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, i64>>)| the(a1).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a1, a2): (Acc<Array<Dim0, i64>>, Acc<Array<Dim1, i64>>)| {
                let a3 = init(a2);
                (map(|k: Exp<i64>| k + 1, a1), a3)
            },
            (unit(0i64), a0),
            ).unlift();
            r1
        };
        a1
    });
    let a0 = Array::<Dim1, i64>::from_extents(&[2], vec![-9223372036854775807i64, 98908539612364697i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
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
            let x2 = x1.cast::<f64>();
            let x3 = constant(3i64);
            let x4 = x1.rem_euclid(x3);
            let x5 = while_::<(i64, f64), _, _>(|(x5, x6)| x5.lt(x4.min(40)) & {
                let x7 = constant(true);
                x7
            }, |(x5, x6)| (x5 + 1, x6), (0i64, x2)).unlift().1;
            let x6 = x2 + x2;
            let x7 = a1.shape();
            let x8 = constant(2i64);
            let x9 = x3 + x8;
            let x10 = constant(0i64);
            let x11 = x9.ge(x10);
            let x12 = x9.lt(x7);
            let x13 = x11 & x12;
            let x14 = x5 * x6;
            let x15 = cond::<f64>(x13, x14, x14);
            let x16 = x15.powi(8);
            let x17 = x16.powi(8);
            x17
        }, a3, a3);
        (a2, a4)
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
    let f = afun(|a0: Acc<Array<Dim1, f32>>, a1: Acc<Array<Dim1, i16>>, a2: Acc<Array<Dim1, (f64, f64, f64, i64)>>| {
        let (a3, a4, a5) = acond({
            let x0 = constant(true);
            x0
        }, (a0, a2, a1), (a0, a2, a1)).unlift();
        let a6 = fold(|p, q| (p.0 + q.0 + p.0 * q.0, p.1.min(q.1), p.2 + q.2 + p.2 * q.2, p.3 * q.3), {
            let x0 = constant(-0.5670573061884276f64);
            let x1 = x0.cast::<i64>();
            let x2 = (x0, x0, x0, x1);
            x2
        }, a4);
        let (a7, a8) = scanr_ex(|p, q| p | q, {
            let x0 = constant(5i16);
            x0
        }, a5);
        let a9 = {
            let () = ();
            slice(All, a5)
        };
        let (a10, a11) = scanr_ex(|p, q| p.min(q), {
            let x0 = constant(2i64);
            let x1 = x0.cast::<i16>();
            x1
        }, a1);
        (a3, a6, a7, a9, a10, a11)
    });
    let a0 = Array::<Dim1, f32>::from_extents(&[3], vec![0.5f32, 1.0f32, f32::INFINITY])?;
    let a1 = Array::<Dim1, i16>::from_extents(&[3], vec![2i16, 13i16, 7i16])?;
    let a2 = Array::<Dim1, (f64, f64, f64, i64)>::from_extents(&[3], vec![(1.7976931348623157e308f64, 1e30f64, 1.5888031194663332f64, 9223372036854775806i64), (-0.6422091367702207f64, 1e30f64, 1.7685243837237539f64, -9223372036854775808i64), (f64::NAN, 1e-30f64, -1.193213598786278f64, -1i64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

fn seed_34() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, ((i16, f64), bool)>>| {
        let a1 = {
            let () = ();
            replicate(All, a0)
        };
        let a2 = fold(|p, q| ((p.0.0 + q.0.0 + p.0.0 * q.0.0, p.0.1.max(q.0.1)), p.1 | q.1), {
            let x0 = constant(true);
            let x1 = constant(-1i16);
            let x2 = constant(-0.22654798814032873f64);
            let x3 = (x1, x2);
            let x4 = (x3, x0);
            x4
        }, a0);
        let (a3, a4) = call(&afun(|a0: Acc<Array<Dim0, ((i16, f64), bool)>>| {
            let a1 = zip_with_min(|x0: ((Exp<i16>, Exp<f64>), Exp<bool>), x1: ((Exp<i16>, Exp<f64>), Exp<bool>)| {
                let x2 = constant(0.0f32);
                let x3 = x2.cast::<f64>();
                x3
            }, a0, a0);
            (a1, a1)
        }), a2).unlift();
        let (a5, a6) = call(&afun(|a0: Acc<Array<Dim0, f64>>| {
            let (a1, a2) = acond({
                let x0 = constant(true);
                x0
            }, (a0, a0), (a0, a0)).unlift();
            let a3 = {
                let n0 = {
                let x0 = constant(1i64);
                x0
            };
                replicate(n0, a1)
            };
            (a3, a2)
        }), a3).unlift();
        let a7 = backpermute({
            let x0 = a1.shape();
            let x1 = a1.shape();
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = constant(2i64);
            let x3 = x0.rem_euclid(x2);
            x3
        }, a1);
        (a4, a6, a7)
    });
    let a0 = Array::<Dim1, ((i16, f64), bool)>::from_extents(&[2], vec![((3570i16, 0.3228182962341313f64), false), ((10i16, -0.5936295726415759f64), true)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
}

fn seed_35() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, i64>>, a1: Acc<Array<Dim2, i16>>, a2: Acc<Array<Dim3, (u16, i8)>>| {
        let a3 = fold_all(|p, q| p + q, {
            let x0 = constant(7i16);
            x0
        }, a1);
        let a4 = zip_min(a1, a1);
        let a5 = {
            let times = {
            let x0 = constant(4i64);
            x0
        }.min(40);
            let (_, r1) = awhile(
            |(a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim3, (u16, i8)>>)| the(a5).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a5, a6): (Acc<Array<Dim0, i64>>, Acc<Array<Dim3, (u16, i8)>>)| {
                let a7 = map(|x0: (Exp<i16>, Exp<i16>)| {
                    let x1 = constant(1563u16);
                    let x2 = x1.cast::<i8>();
                    let x3 = (x1, x2);
                    let x4 = constant(0.7546418097547973f64);
                    let x5 = value_and_gradient(|x5: Exp<f64>| {
                        let x6 = x1.trailing_zeros();
                        let x7 = x4.cast::<bool>();
                        let x8 = cond::<u16>(x7, x1, x1);
                        let x9 = (x6, x1, x8);
                        let x10 = x5.powi(2);
                        let x11 = x6.min(x6);
                        x10
                    }, x4).unlift();
                    let x6 = x5.1;
                    let x7 = x4.pow(x4);
                    let x8 = constant(0u32);
                    let x9 = constant(2u32);
                    let x10 = x8.rem_euclid(x9);
                    let x11 = x6.cast::<i64>();
                    let x12 = constant(5i64);
                    let x13 = x11.rem_euclid(x12);
                    let x14 = x1.cast::<bool>();
                    let x15 = while_::<(i64, bool), _, _>(|(x15, x16)| x15.lt(x13.min(40)) & {
                        let x17 = x10.cast::<i16>();
                        x16
                    }, |(x15, x16)| (x15 + 1, {
                        let x17 = x5.1;
                        let x18 = x7.gt(x17);
                        let x19 = x7.is_infinite();
                        x19
                    }), (0i64, x14)).unlift().1;
                    let x16 = x0.1;
                    let x17 = x16.count_ones();
                    let x18 = x1.ge(x1);
                    let x19 = x0.1;
                    let x20 = x17 * x19;
                    let x21 = x19 ^ x19;
                    let x22 = a5.at(());
                    let x23 = x20.ne(x21);
                    let x24 = x21 * x21;
                    x0
                }, a4);
                let a8 = zip_with_min(|x0: (Exp<i16>, Exp<i16>), x1: Exp<i16>| {
                    let x2 = constant(7i8);
                    let x3 = x2.clamp(x2, x2);
                    let x4 = x2.cast::<u16>();
                    let x5 = x2.abs();
                    let x6 = (x4, x5);
                    x6
                }, a4, a1);
                let a9 = imap(|(x0, x1, x2), x3: (Exp<u16>, Exp<i8>)| {
                    let x4 = x1.cast::<bool>();
                    let x5 = x3.0;
                    let x6 = (x5, x5, x5);
                    let x7 = constant(17u16);
                    let x8 = (x7, x5, x5);
                    let x9 = cond::<(u16, u16, u16)>(x4, x6, x8).unlift();
                    let x10 = x3.0;
                    let x11 = x5.clamp(x5, x10);
                    let x12 = (x11, x11, x10);
                    let x13 = x6.2;
                    let x14 = x13.cast::<u32>();
                    let x15 = x14 - x14;
                    x14
                }, a6);
                (map(|k: Exp<i64>| k + 1, a5), a6)
            },
            (unit(0i64), a2),
            ).unlift();
            r1
        };
        let a6 = generate({
            let x0 = a5.len();
            x0
        }, |x0| {
            let x1 = x0.cast::<u16>();
            let x2 = (x1, x1, x1);
            x2
        });
        (a3, a6)
    });
    let a0 = Array::<Dim2, i64>::from_extents(&[2, 1], vec![405000i64, 4582741376i64])?;
    let a1 = Array::<Dim2, i16>::from_extents(&[2, 2], vec![23i16, 4i16, 12i16, 1i16])?;
    let a2 = Array::<Dim3, (u16, i8)>::from_extents(&[0, 2, 0], vec![])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
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
            let x6 = while_::<(i64, f32), _, _>(|(x6, x7)| x6.lt(x5.min(40)) & {
                let x8 = constant(true);
                x8
            }, |(x6, x7)| (x6 + 1, x0), (0i64, x0)).unlift().1;
            let x7 = constant(5i64);
            let x8 = x4.rem_euclid(x7);
            let x9 = while_::<(i64, f32), _, _>(|(x9, x10)| x9.lt(x8.min(40)) & {
                let x11 = constant(true);
                x11
            }, |(x9, x10)| (x9 + 1, x6), (0i64, x2)).unlift().1;
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
        let a5 = drop({
            let x0 = constant(2i64);
            x0
        }, a1);
        let a6 = reverse(a1);
        let (a7, a8) = scanl_ex(|p, q| p.max(q), {
            let x0 = constant(0.25f32);
            x0
        }, a5);
        (a4, a6, a7, a8)
    });
    let a0 = Array::<Dim1, f32>::from_extents(&[1], vec![14.75f32])?;
    let a1 = Array::<Dim2, f32>::from_extents(&[1, 2], vec![1.2150549f32, -0.5732221f32])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_37() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim1, f64>>| {
        let a1 = drop({
            let x0 = constant(5i64);
            x0
        }, a0);
        let a2 = backpermute({
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
        let a3 = reshape({
            let x0 = a0.shape();
            x0
        }, a0);
        let a4 = zip_min(a2, a2);
        let a5 = generate({
            let x0 = a2.shape().0;
            let x1 = a2.len();
            (x0, x1)
        }, |(x0, x1)| x0);
        let a6 = map(|x0: Exp<f64>| {
            let x1 = x0.max(x0);
            let x2 = x1.tanh();
            let x3 = constant(true);
            let x4 = x3.cast::<f64>();
            let x5 = cond::<f64>(x3, x2, x4);
            let x6 = x5.clamp(x5, x4);
            let x7 = constant(f64::NEG_INFINITY);
            let x8 = cond::<f64>(x3, x6, x7);
            let x9 = x4 % x0;
            let x10 = x9 % x8;
            let x11 = x10.tanh();
            x11
        }, a3);
        let a7 = fold1(|p, q| p + q, a6);
        let a8 = backpermute({
            let x0 = a6.shape();
            cond(a6.shape().ne(0), x0, 0)
        }, |x0| x0.rem_euclid(a6.shape().max(1)), a6);
        let a9 = reshape({
            let x0 = a1.shape();
            let x1 = constant(1i64);
            (x0, x1)
        }, a1);
        let a10 = map(|x0: Exp<f64>| {
            let x1 = x0.max(x0);
            let x2 = constant(true);
            let x3 = constant(0i64);
            let x4 = while_::<(i64, f64), _, _>(|(x4, x5)| x4.lt(x3.min(40)) & x2, |(x4, x5)| (x4 + 1, {
                let x6 = x2.cast::<f64>();
                x6
            }), (0i64, x1)).unlift().1;
            x4
        }, a2);
        let a11 = enum_from_n::<_, i32>({
            let x0 = a10.shape().0;
            let x1 = a8.shape();
            let x2 = constant(2i64);
            (x0, x1, x2)
        }, {
            let x0 = constant(-2i32);
            x0
        });
        let a12 = flatten(a9);
        let a13 = fill({
            let x0 = a9.shape().0;
            x0
        }, {
            let x0 = constant(0i64);
            x0
        });
        let a14 = scanl(|p, q| p + q + p * q, {
            let x0 = constant(16i64);
            x0
        }, a5);
        (a4, a7, a11, a12, a13, a14)
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
        let a6 = zip3_min(a0, a3, a0);
        let a7 = maximum_all(a1);
        let a8 = {
            let n0 = {
            let x0 = constant(1i64);
            x0
        };
            replicate((All, n0, All), a6)
        };
        (a2, a4, a5, a7, a8, a8, a8)
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
        let a10 = drop({
            let x0 = constant(1i64);
            let x1 = x0 + x0;
            x1
        }, a7);
        let a11 = zip_with_min(|x0: Exp<f32>, x1: Exp<f32>| {
            let x2 = x1.cast::<i16>();
            let x3 = x2.cast::<i64>();
            let x4 = constant(1i64);
            let x5 = x3.rem_euclid(x4);
            x5
        }, a10, a10);
        (a3, a6, a8, a9, a11)
    });
    let a0 = Array::<Dim1, f32>::from_extents(&[3], vec![0.07381651f32, 0.99841464f32, -9.3e18f32])?;
    let a1 = Array::<Dim2, f64>::from_extents(&[2, 4], vec![-1.0f64, -0.5367796621877745f64, 1.6383663270168518f64, -1.4606109156480258f64, 1.0f64, 5e-324f64, -9.3e18f64, -1.3022347038317874f64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
}

fn seed_41() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim2, i64>>| {
        let a1 = acond({
            let x0 = constant(true);
            x0
        }, a0, a0);
        let a2 = flatten(a0);
        let a3 = map(|x0: Exp<i64>| {
            let x1 = constant(92u8);
            let x2 = x1.cast::<bool>();
            let x3 = x2.cast::<u8>();
            x3
        }, a0);
        let a4 = drop({
            let x0 = constant(-2i64);
            let x1 = x0 + x0;
            x1
        }, a2);
        let a5 = generate({
            let x0 = a0.shape().1;
            let x1 = a2.shape();
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = constant(13u8);
            x2
        });
        let a6 = acond({
            let x0 = constant(true);
            x0
        }, a3, a5);
        let a7 = zip_with_min(|x0: Exp<u8>, x1: Exp<u8>| x1, a5, a5);
        let a8 = generate({
            let x0 = constant(0i64);
            let x1 = cond::<i64>(a4.shape().ne(0), a4.at(x0.rem_euclid(a4.shape().max(1))), constant(0i64));
            let x2 = constant(2i64);
            let x3 = x1.rem_euclid(x2);
            x3
        }, |x0| {
            let x1 = constant(-1i64);
            let x2 = x0 + x1;
            let x3 = cond::<u8>((x2.ge(0) & x2.lt(a6.shape().0)) & (x0.ge(0) & x0.lt(a6.shape().1)), a6.at((x2, x0)), constant(0u8));
            x3
        });
        let a9 = map(|x0: Exp<i64>| {
            let x1 = x0 * x0;
            let x2 = x1.cast::<u8>();
            let x3 = constant(122u8);
            let x4 = x2 >> x3;
            x4
        }, a1);
        (a7, a8, a9)
    });
    let a0 = Array::<Dim2, i64>::from_extents(&[2, 5], vec![714789519480760451i64, 523527767344504i64, 4249472677207223036i64, 43748702051i64, 48173297408616i64, 24305525i64, 2177397i64, 8738573061640825151i64, 175190719i64, 1466091633386i64])?;
    Ok(run_on(&accel::interp::Interpreter, &f, &a0)?.to_tuple())
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
            let x0 = constant(0i64);
            x0
        };
            slice(n0, a0)
        };
        let a4 = call(&afun(|a0: Acc<Array<Dim2, f32>>, a1: Acc<Array<Dim0, f32>>| {
            let (a2, a3) = {
                let times = {
                let x0 = constant(2i64);
                x0
            }.min(40);
                let (_, r1, r2) = awhile(
                |(a2, a3, a4): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, f32>>, Acc<Array<Dim0, f32>>)| the(a2).lt(times) & {
                    let x0 = constant(true);
                    x0
                },
                |(a2, a3, a4): (Acc<Array<Dim0, i64>>, Acc<Array<Dim2, f32>>, Acc<Array<Dim0, f32>>)| {
                    (map(|k: Exp<i64>| k + 1, a2), a3, a4)
                },
                (unit(0i64), a0, a1),
                ).unlift();
                (r1, r2)
            };
            let (a4, a5, a6) = {
                let times = {
                let x0 = constant(0i64);
                x0
            }.min(40);
                let (_, r1, r2, r3) = awhile(
                |(a4, a5, a6, a7): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, f32>>, Acc<Array<Dim2, f32>>, Acc<Array<Dim2, f32>>)| the(a4).lt(times) & {
                    let x0 = constant(7.75f64);
                    let x1 = x0.is_nan();
                    x1
                },
                |(a4, a5, a6, a7): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, f32>>, Acc<Array<Dim2, f32>>, Acc<Array<Dim2, f32>>)| {
                    let (a8, a9) = scanr_ex(|p, q| p + q, {
                        let x0 = constant(true);
                        let x1 = constant(11.75f32);
                        let x2 = cond::<f32>(x0, x1, x1);
                        x2
                    }, a0);
                    (map(|k: Exp<i64>| k + 1, a4), a5, a7, a8)
                },
                (unit(0i64), a1, a2, a2),
                ).unlift();
                (r1, r2, r3)
            };
            a6
        }), (a1, a3));
        let a5 = reshape({
            let x0 = a4.shape().0;
            let x1 = a4.shape().1;
            (x0, x1)
        }, a4);
        let a6 = zip_with_min(|x0: Exp<f32>, x1: Exp<f32>| {
            let x2 = constant(6i8);
            let x3 = x2.cast::<f32>();
            let x4 = x3.cast::<i8>();
            x4
        }, a4, a1);
        let (a7, a8) = call(&afun(|a0: Acc<Array<Dim2, i8>>| {
            let a1 = generate({
                let x0 = constant(4i64);
                x0
            }, |x0| {
                let x1 = constant(1i64);
                let x2 = x0 | x1;
                let x3 = x2.cast::<f32>();
                let x4 = x3.cast::<i64>();
                let x5 = x4.cast::<f32>();
                x5
            });
            let a2 = zip_with_min(|x0: Exp<i8>, x1: Exp<i8>| {
                let x2 = constant(2i64);
                let x3 = x1.cast::<i64>();
                let x4 = constant(1i64);
                let x5 = x2 | x4;
                let x6 = x3.div_euclid(x5);
                x6
            }, a0, a0);
            let a3 = imap(|x0, x1: Exp<f32>| {
                let x2 = constant(-1.2303356602675155f64);
                let x3 = x2 + x2;
                let x4 = constant(-1.1843441890427666f64);
                let x5 = x4 * x3;
                let x6 = x5 - x4;
                let x7 = (x6, x5);
                x7
            }, a1);
            (a2, a3)
        }), a6).unlift();
        let a9 = use_(&Array::<Dim0, i8>::from_extents(&[], vec![2i8]).unwrap());
        let a10 = zip_with_min(|x0: Exp<i8>, x1: Exp<i8>| {
            let x2 = constant(19i8);
            x2
        }, a9, a9);
        let a11 = {
            let n0 = {
            let x0 = a5.shape().1;
            x0
        };
            replicate((All, n0, All), a7)
        };
        let a12 = zip_with_min(|x0: Exp<f32>, x1: Exp<f32>| {
            let x2 = x1.cast::<f64>();
            let x3 = constant(2.0f64);
            let x4 = (x2, x3);
            x4
        }, a2, a2);
        let a13 = drop({
            let x0 = constant(12i64);
            let x1 = constant(0i64);
            let x2 = constant(1i64);
            let x3 = x1 | x2;
            let x4 = x0 / x3;
            let x5 = constant(3i64);
            let x6 = x4.rem_euclid(x5);
            x6
        }, a6);
        (a8, a10, a11, a12, a13)
    });
    let a0 = Array::<Dim1, f32>::from_extents(&[1], vec![-0.6644446f32])?;
    let a1 = Array::<Dim2, f32>::from_extents(&[1, 1], vec![0.14366889f32])?;
    let a2 = Array::<Dim1, f32>::from_extents(&[2], vec![1.7734771f32, 0.32131884f32])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1, &a2))?.to_tuple())
}

fn seed_46() -> Result<ArrayTuple, Error> {
    let f = afun(|a0: Acc<Array<Dim0, f64>>| {
        let (a1, a2) = {
            let times = {
            let x0 = constant(0i64);
            x0
        }.min(40);
            let (_, r1, r2) = awhile(
            |(a1, a2, a3): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, f64>>, Acc<Array<Dim0, f64>>)| the(a1).lt(times) & {
                let x0 = constant(true);
                x0
            },
            |(a1, a2, a3): (Acc<Array<Dim0, i64>>, Acc<Array<Dim0, f64>>, Acc<Array<Dim0, f64>>)| {
                let a4 = acond({
                    let x0 = constant(true);
                    x0
                }, a2, a0);
                (map(|k: Exp<i64>| k + 1, a1), a2, a4)
            },
            (unit(0i64), a0, a0),
            ).unlift();
            (r1, r2)
        };
        let a3 = zip_min(a0, a1);
        let a4 = map(|x0: Exp<f64>| {
            let x1 = x0.log2();
            let x2 = x1 + x0;
            x2
        }, a1);
        let a5 = generate({
            let x0 = constant(2i64);
            let x1 = constant(2i64);
            (x0, x1)
        }, |(x0, x1)| {
            let x2 = a4.at(());
            let x3 = a4.at(());
            let x4 = x2 * x3;
            let x5 = a2.at(());
            let x6 = x4 + x5;
            x6
        });
        let a6 = map(|x0: Exp<f64>| {
            let x1 = x0.cast::<bool>();
            let x2 = cond::<f64>(x1, x0, x0);
            x2
        }, a4);
        let a7 = scanr(|p, q| p + q, {
            let x0 = constant(-0.5848578722949522f64);
            let x1 = x0.abs();
            x1
        }, a5);
        (a3, a6, a7)
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
    let f = afun(|a0: Acc<Array<Dim1, (i64, bool, f64, i64)>>, a1: Acc<Array<Dim2, (i64, bool, f64, i64)>>| {
        let a2 = take({
            let x0 = constant(2i64);
            x0
        }, a1);
        let a3 = acond({
            let x0 = constant(37892701673999560i64);
            let x1 = x0.gt(x0);
            x1
        }, a0, a0);
        let a4 = map(|x0: (Exp<i64>, Exp<bool>, Exp<f64>, Exp<i64>)| {
            let x1 = x0.3;
            let x2 = x1.signum();
            let x3 = x2.ne(x1);
            let x4 = x0.2;
            let x5 = (x2, x3, x4, x1);
            x5
        }, a3);
        let a5 = zip_with_min(|x0: (Exp<i64>, Exp<bool>, Exp<f64>, Exp<i64>), x1: (Exp<i64>, Exp<bool>, Exp<f64>, Exp<i64>)| {
            let x2 = x0.0;
            let x3 = x2.count_ones();
            let x4 = x3.ge(x3);
            let x5 = x2.cast::<f32>();
            let x6 = constant(11.25f32);
            let x7 = constant(3i64);
            let x8 = x2.rem_euclid(x7);
            let x9 = while_::<(i64, f32), _, _>(|(x9, x10)| x9.lt(x8.min(40)) & x4, |(x9, x10)| (x9 + 1, {
                let x11 = x5.sin();
                x11
            }), (0i64, x6)).unlift().1;
            x9
        }, a3, a3);
        let a6 = backpermute({
            let x0 = a5.shape();
            let x1 = a5.shape();
            let x2 = a5.shape();
            (cond(a5.shape().ne(0), x0, 0), cond(a5.shape().ne(0), x1, 0), cond(a5.shape().ne(0), x2, 0))
        }, |(x0, x1, x2)| x1.rem_euclid(a5.shape().max(1)), a5);
        (a2, a4, a6)
    });
    let a0 = Array::<Dim1, (i64, bool, f64, i64)>::from_extents(&[5], vec![(17i64, true, 4.75f64, 1i64), (12i64, true, 6.75f64, 18i64), (19i64, true, 4.25f64, -2i64), (11i64, true, -3.5f64, 9i64), (14i64, true, 12.5f64, 15i64)])?;
    let a1 = Array::<Dim2, (i64, bool, f64, i64)>::from_extents(&[2, 3], vec![(40172i64, false, 0.3969530088751121f64, 900i64), (1660078796043i64, false, 0.4989026310719642f64, 1437575i64), (0i64, true, 1.5708541489114554f64, 164680720439368407i64), (114079888555488i64, true, -1.9566603665714872f64, 852688972057285608i64), (8583935735032638i64, true, -1.8479226345708977f64, 47109732726i64), (31773977784472484i64, true, -0.7733180867542733f64, 2i64)])?;
    Ok(run_on(&accel::interp::Interpreter, &f, (&a0, &a1))?.to_tuple())
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
