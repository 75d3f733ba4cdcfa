use accel_dual::{Differentiable, Real, Settings, grad, par_map, vjp};

#[derive(Clone, Debug, PartialEq, Differentiable)]
#[differentiable(crate = accel_dual)]
enum List<T> {
    Nil,
    Cons(T, usize, Box<List<T>>),
}

fn sum<T: Real>(l: &List<T>) -> T {
    match l { List::Nil => T::zero(), List::Cons(x, n, rest) => *x * T::lit(*n as f64) + sum(rest) }
}

#[test]
fn it_works() {
    let (y, pb) = vjp(|(x, y)| { let z = x + y; x * z }, (12.0, 13.0)).unwrap();
    assert_eq!(y, 300.0);
    assert_eq!(pb.call(&1.0).unwrap(), (37.0, 12.0));
    let l = List::Cons(2.0, 3, Box::new(List::Cons(4.0, 5, Box::new(List::Nil))));
    assert_eq!(grad(|l| sum(&l), &l).unwrap(), List::Cons(3.0, 3, Box::new(List::Cons(5.0, 5, Box::new(List::Nil)))));
    let xs: Vec<f64> = (0..1000).map(|i| i as f64 / 100.0).collect();
    let f = |xs: Vec<accel_dual::Rev>| { let a = xs[0]; par_map(&xs, |x| (*x * a + 1.0).sin() * *x).into_iter().sum() };
    fn same<T: Real>(x: &[T]) -> T { let a = x[0]; x.iter().map(|x| (*x * a + T::one()).sin() * *x).sum() }
    let g = grad(f, &xs).unwrap();
    let h = grad(|xs: Vec<_>| same(&xs), &xs).unwrap();
    let d = Settings { deterministic: true, ..Settings::default() }.value_and_grad(f, &xs).unwrap().1;
    for i in 0..1000 { assert!((g[i] - h[i]).abs() < 1e-9); assert!((d[i] - h[i]).abs() < 1e-9); }
}
