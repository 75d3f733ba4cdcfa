//! Hand tracking: the distances between measured points and the surface of a hand in a pose, and their Jacobian.

use crate::conversions::matrix_of;
use crate::module::{Failure, Module, fits};
use crate::space::{Vec3, add, scale, sub};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// A point or direction in space.
type Point = (f64, f64, f64);

/// An affine map.
#[derive(Clone, Debug, Elt)]
pub struct Affine {
    /// The images of the axes.
    pub axes: (Point, Point, Point),
    /// The image of the origin.
    pub origin: Point,
}

/// A model of a hand.
#[derive(Clone, Debug, Arrays)]
pub struct Hand {
    /// For each bone, the number of its parent, which is smaller, or -1.
    pub parents: Vector<i64>,
    /// For each bone, the map to its parent, in the base pose.
    pub relatives: Vector<Affine>,
    /// For each bone, the map from the hand to the bone, in the base pose.
    pub inverses: Vector<Affine>,
    /// The vertices of the surface in the base pose, each with a fourth coordinate.
    pub positions: Vector<(Point, f64)>,
    /// How much each vertex moves with each bone: `[vertices, bones]`.
    pub weights: Matrix<f64>,
    /// -1 for the mirror image of the hand, 1 for the hand.
    pub side: Scalar<f64>,
}

/// Points that were measured, and where each of them is on the surface: at a vertex.
#[derive(Clone, Debug, Arrays)]
pub struct AtVertices {
    /// `[c]`
    pub vertices: Vector<i64>,
    /// `[c]`
    pub points: Vector<Point>,
}

/// Points that were measured, and where each of them is on the surface: in a triangle.
#[derive(Clone, Debug, Arrays)]
pub struct InTriangles {
    /// The corners of all triangles.
    pub triangles: Vector<(i64, i64, i64)>,
    /// `[c]`
    pub chosen: Vector<i64>,
    /// `[c]`
    pub points: Vector<Point>,
}

/// The pose: rotation and position of the hand, then four angles for each of five fingers.
const POSE: usize = 26;

/// The vertices of the hand in a pose.
fn surface(pose: Acc<Vector<f64>>, hand: HandAcc) -> Acc<Vector<Point>> {
    let HandAcc { parents, relatives, inverses, positions, weights, side } = hand;
    let (vertices, bones) = weights.shape();
    let turned = generate(bones, |bone| turn(relatives.at(bone), joint(pose, bone)));
    let transforms = generate(bones, |bone| {
        let is_child = |(_, parent): (AffineExp, Exp<i64>)| parent.ge(0);
        let to_parent = |(map, parent): (AffineExp, Exp<i64>)| (compose(turned.at(parent), map), parents.at(parent));
        let (absolute, _) = while_(is_child, to_parent, (turned.at(bone), parents.at(bone)));
        compose(absolute, inverses.at(bone))
    });
    // Each vertex moves with the sum of its bones' maps, weighted. This is linear in the numbers of the maps: a product of matrices.
    let rows = |image: fn(AffineExp) -> Vec3| matrix(map(image, transforms));
    let maps = stack([rows(|map| map.axes.0), rows(|map| map.axes.1), rows(|map| map.axes.2), rows(|map| map.origin)]);
    let (points, last) = unzip(positions);
    let (x, y, z) = unzip3(points);
    let places = stack([x, y, z, last]);
    let weighted =
        generate((vertices, 4, bones), |(vertex, k, bone)| weights.at((vertex, bone)) * places.at((k, vertex)));
    let moved = matmul(reshape((vertices, 4 * bones), weighted), reshape((4 * bones, 3), maps));
    let moved = generate(vertices, |vertex| (moved.at((vertex, 0)), moved.at((vertex, 1)), moved.at((vertex, 2))));
    let rotation = unit(rotation((pose.at(0), pose.at(1), pose.at(2))));
    let position = (pose.at(3), pose.at(4), pose.at(5));
    map(|(x, y, z)| add(linear(the(rotation), (x * the(side), y, z)), position), moved)
}

/// The angles of a bone's joint, about its first axis and then about its third one. Bones 0 and 1 are those of the arm, and
/// each finger has four bones, of which the last one is stiff.
fn joint(pose: Acc<Vector<f64>>, bone: Exp<i64>) -> (Exp<f64>, Exp<f64>) {
    let (finger, place) = ((bone - 2) / 4, (bone - 2) % 4);
    let is_in_finger = bone.ge(2).and(finger.lt(5));
    let number = finger * 4 + place + 6;
    let bend = cond(place.eq(0), pose.at(number), pose.at(number + 1));
    let bend = cond(is_in_finger.and(place.lt(3)), bend, lit(0.0));
    (bend, cond(is_in_finger.and(place.eq(0)), pose.at(number + 1), lit(0.0)))
}

/// The map after a rotation about its first axis by the first angle, and about its third axis by the second one.
fn turn(map: AffineExp, (bend, spread): (Exp<f64>, Exp<f64>)) -> AffineExp {
    let ((x, y, z), (cos, sin)) = (map.axes, (spread.cos(), spread.sin()));
    let (x, y) = (add(scale(cos, x), scale(sin, y)), sub(scale(cos, y), scale(sin, x)));
    let (cos, sin) = (bend.cos(), bend.sin());
    let (y, z) = (add(scale(cos, y), scale(sin, z)), sub(scale(cos, z), scale(sin, y)));
    AffineExp { axes: (x, y, z), origin: map.origin }
}

/// The images of the axes under the rotation about `r` by the angle |r|. Very small rotations are ignored, as the eval demands.
fn rotation(r: Vec3) -> Exp<(Point, Point, Point)> {
    let angle = (r.0 * r.0 + r.1 * r.1 + r.2 * r.2).sqrt();
    let (x, y, z) = (r.0 / angle, r.1 / angle, r.2 / angle);
    let (cos, sin) = (angle.cos(), angle.sin());
    let (along, turned) = (|a, b| a * b * (1.0 - cos), |a| a * sin);
    let axes = (
        (along(x, x) + cos, along(x, y) + turned(z), along(x, z) - turned(y)),
        (along(x, y) - turned(z), along(y, y) + cos, along(y, z) + turned(x)),
        (along(x, z) + turned(y), along(y, z) - turned(x), along(z, z) + cos),
    );
    cond(angle.lt(1e-4), constant(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))), axes)
}

/// The image of a vector under the linear map that maps the axes to these vectors.
fn linear((x, y, z): (Vec3, Vec3, Vec3), a: Vec3) -> Vec3 {
    add(add(scale(a.0, x), scale(a.1, y)), scale(a.2, z))
}

/// The matrix whose rows are these vectors.
fn matrix(points: Acc<Vector<Point>>) -> Acc<Matrix<f64>> {
    let (x, y, z) = unzip3(points);
    stack_inner([x, y, z])
}

/// First `b`, then `a`.
fn compose(a: AffineExp, b: AffineExp) -> AffineExp {
    let (x, y, z) = b.axes;
    let axes = (linear(a.axes, x), linear(a.axes, y), linear(a.axes, z));
    AffineExp { axes, origin: add(linear(a.axes, b.origin), a.origin) }
}

/// The differences between the points and their vertices.
pub fn at_vertices(pose: Acc<Vector<f64>>, hand: Acc<Hand>, measured: Acc<AtVertices>) -> Acc<Vector<Point>> {
    let (surface, AtVerticesAcc { vertices, points }) = (surface(pose, hand.unlift()), measured.unlift());
    zip_with(|vertex, point| sub(point, surface.at(vertex)), vertices, points)
}

/// The differences between the points and places in their triangles, given by two barycentric coordinates.
pub fn in_triangles(
    pose: Acc<Vector<f64>>,
    places: Acc<Vector<(f64, f64)>>,
    hand: Acc<Hand>,
    measured: Acc<InTriangles>,
) -> Acc<Vector<Point>> {
    let (surface, InTrianglesAcc { triangles, chosen, points }) = (surface(pose, hand.unlift()), measured.unlift());
    let difference = |triangle, (u, v): (Exp<f64>, Exp<f64>), point| {
        let (a, b, c) = triangles.at(triangle);
        let (a, b, c) = (surface.at(a), surface.at(b), surface.at(c));
        sub(point, add(add(scale(u, a), scale(v, b)), scale(1.0 - u - v, c)))
    };
    zip_with3(difference, chosen, places, points)
}

/// The columns of the Jacobian, `[26, c]`: one for each number of the pose. Each is a derivative in forward mode, along an axis.
pub fn by_pose_at_vertices(pose: Acc<Vector<f64>>, hand: Acc<Hand>, measured: Acc<AtVertices>) -> Acc<Matrix<Point>> {
    let along = jvp(afun(at_vertices).by(|(pose, _, _)| pose));
    columns(pose, |axis| call(&along, ((pose, hand, measured), axis)).1)
}

/// The columns of the Jacobian: the two for the coordinates of all points, `[c]`, and those for the pose, `[26, c]`. A difference
/// depends only on the coordinates of its own point. So a direction that changes those of all points gives all derivatives.
pub fn jacobian_in_triangles(
    pose: Acc<Vector<f64>>,
    places: Acc<Vector<(f64, f64)>>,
    hand: Acc<Hand>,
    measured: Acc<InTriangles>,
) -> (Acc<Vector<Point>>, Acc<Vector<Point>>, Acc<Matrix<Point>>) {
    let differences = afun(in_triangles);
    let by_place = jvp(differences.by(|(_, places, _, _)| places));
    let by_place = |axis| call(&by_place, ((pose, places, hand, measured), fill(places.shape(), constant(axis)))).1;
    let by_pose = jvp(differences.by(|(pose, _, _, _)| pose));
    let by_pose = columns(pose, |axis| call(&by_pose, ((pose, places, hand, measured), axis)).1);
    (by_place((1.0, 0.0)), by_place((0.0, 1.0)), by_pose)
}

/// The derivatives along each axis.
fn columns(pose: Acc<Vector<f64>>, along: impl FnOnce(Acc<Vector<f64>>) -> Acc<Vector<Point>>) -> Acc<Matrix<Point>> {
    let n = pose.shape();
    let axes = generate((n, n), |(i, j)| cond(i.eq(j), lit(1.0), lit(0.0)));
    map_accum_l(|(), axis| ((), along(axis)), (), axes).1
}

/// The differences and their Jacobian.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    let (simple, complicated) = (compile_on(backend, afun(at_vertices))?, compile_on(backend, afun(in_triangles))?);
    let module = Module::new(backend).with("objective", move |input: Input, repetition| {
        let (differences, timings) = match arguments(input)? {
            Arguments::Simple(arguments) => repetition.run(|| simple.run(&arguments))?,
            Arguments::Complicated(arguments) => repetition.run(|| complicated.run(&arguments))?,
        };
        Ok((coordinates(&differences.to_vec()), timings))
    });
    let simple = compile_on(backend, afun(by_pose_at_vertices))?;
    let complicated = compile_on(backend, afun(jacobian_in_triangles))?;
    Ok(module.with("jacobian", move |input: Input, repetition| match arguments(input)? {
        Arguments::Simple(arguments) => {
            let (by_pose, timings) = repetition.run(|| simple.run(&arguments))?;
            let [_, c]: [usize; 2] = by_pose.shape().into();
            Ok((rows(&[&by_pose.to_vec()], c), timings))
        }
        Arguments::Complicated(arguments) => {
            let ((by_first, by_second, by_pose), timings) = repetition.run(|| complicated.run(&arguments))?;
            let [_, c]: [usize; 2] = by_pose.shape().into();
            Ok((rows(&[&by_first.to_vec(), &by_second.to_vec(), &by_pose.to_vec()], c), timings))
        }
    }))
}

/// The input that the eval sends. Without `us`, the numbers in `correspondences` are those of vertices, and otherwise of
/// triangles.
#[derive(Deserialize)]
struct Input {
    theta: Vec<f64>,
    data: Data,
    us: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
struct Data {
    model: Model,
    correspondences: Vec<i64>,
    points: Vec<Point>,
}

#[derive(Deserialize)]
struct Model {
    bone_count: usize,
    parents: Vec<i64>,
    base_relatives: Vec<[[f64; 4]; 4]>,
    inverse_base_absolutes: Vec<[[f64; 4]; 4]>,
    base_positions: Vec<[f64; 4]>,
    weights: Vec<Vec<f64>>,
    triangles: Vec<(i64, i64, i64)>,
    is_mirrored: bool,
}

/// The arguments of the two variants.
enum Arguments {
    Simple((Vector<f64>, Hand, AtVertices)),
    Complicated((Vector<f64>, Vector<(f64, f64)>, Hand, InTriangles)),
}

fn arguments(input: Input) -> Result<Arguments, Failure> {
    let Input { theta, us, data: Data { model, correspondences, points } } = input;
    let Model { bone_count, parents, base_relatives, inverse_base_absolutes, base_positions, weights, .. } = model;
    let lengths = [
        ("theta", theta.len(), POSE),
        ("parents", parents.len(), bone_count),
        ("base_relatives", base_relatives.len(), bone_count),
        ("inverse_base_absolutes", inverse_base_absolutes.len(), bone_count),
        ("points", points.len(), correspondences.len()),
        ("us", us.len(), if us.is_empty() { 0 } else { correspondences.len() }),
    ];
    if let Some((name, found, expected)) = lengths.into_iter().find(|(_, found, expected)| found != expected) {
        return Err(Failure::Input(format!("`{name}` has {found} entries and should have {expected}")));
    }
    if let Some((bone, parent)) = (0..).zip(&parents).find(|(bone, parent)| !(-1..*bone).contains(*parent)) {
        return Err(Failure::Input(format!("the parent of bone {bone} is {parent}, which is not a bone before it")));
    }
    // A point and its number take a few bytes of the message, and have a row of three numbers in each column.
    fits(correspondences.len() as u64 * 48 * (POSE as u64 + 2))?;
    let maps = |name: &str, maps: &[[[f64; 4]; 4]]| maps.iter().map(|map| affine(name, map)).collect::<Result<_, _>>();
    let hand = Hand {
        relatives: Array::vector(maps("base_relatives", &base_relatives)?),
        inverses: Array::vector(maps("inverse_base_absolutes", &inverse_base_absolutes)?),
        weights: matrix_of("weights", [base_positions.len(), bone_count], weights)?,
        positions: Array::vector(base_positions.into_iter().map(|[x, y, z, w]| ((x, y, z), w)).collect()),
        parents: Array::vector(parents),
        side: Array::scalar(if model.is_mirrored { -1.0 } else { 1.0 }),
    };
    let (pose, chosen, points) = (Array::vector(theta), Array::vector(correspondences), Array::vector(points));
    Ok(match us.is_empty() {
        true => Arguments::Simple((pose, hand, AtVertices { vertices: chosen, points })),
        false => {
            let measured = InTriangles { triangles: Array::vector(model.triangles), chosen, points };
            Arguments::Complicated((pose, Array::vector(us), hand, measured))
        }
    })
}

/// The affine map of a matrix.
fn affine(name: &str, matrix: &[[f64; 4]; 4]) -> Result<Affine, Failure> {
    let column = |i: usize| (matrix[0][i], matrix[1][i], matrix[2][i]);
    match matrix[3] == [0.0, 0.0, 0.0, 1.0] {
        true => Ok(Affine { axes: (column(0), column(1), column(2)), origin: column(3) }),
        false => Err(Failure::Input(format!("a matrix of `{name}` ends with {:?} and is no affine map", matrix[3]))),
    }
}

/// The coordinates of points, one after the other.
fn coordinates(points: &[Point]) -> Vec<f64> {
    points.iter().flat_map(|&(x, y, z)| [x, y, z]).collect()
}

/// The rows of a matrix from its columns, each of c points.
fn rows(columns: &[&[Point]], c: usize) -> Vec<Vec<f64>> {
    let columns = columns.iter().flat_map(|columns| columns.chunks(c.max(1))).map(coordinates).collect::<Vec<_>>();
    (0..3 * c).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}
