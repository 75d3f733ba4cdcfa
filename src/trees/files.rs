//! Arrays in files, by their names.

use super::named;
use accel_core::ast::ty::Repr;
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, Column, Columns, RawArray, RawExtents, ScalarType, checked_size};
use accel_core::types::Arrays;
use accel_core::types::arrays::name_of_part;
use npyz::{AutoSerialize, Deserialize, NpyFile, Order, WriteOptions, WriterBuilder};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Writes the arrays of a value into a file, by their [names](super::named): an `.npz` file, which `numpy.load` reads.
///
/// An array of elements with several numbers is stored as several arrays: `points.0`, `points.1`. The file is replaced as a whole: who reads it at
/// the same time, or after a failure, sees the former one.
///
/// ```
/// use accel::prelude::*;
/// use accel::trees::{load, save};
///
/// #[derive(Clone, Arrays)]
/// struct Layer {
///     weights: Matrix<f64>,
///     bias: Vector<f32>,
/// }
/// let layer = Layer { weights: Array::matrix(1, 2, vec![1.0, 2.0])?, bias: Array::vector(vec![3.0]) };
/// let folder = std::env::temp_dir().join(format!("accel-layer-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// save(folder.join("layer.npz"), &layer)?;
/// let again: Layer = load(folder.join("layer.npz"))?;
/// assert_eq!(again.weights.to_vec(), [1.0, 2.0]);
///
/// let wrong = load::<(Vector<f64>, Vector<f64>)>(folder.join("layer.npz"));
/// assert!(wrong.is_err_and(|e| e.to_string().ends_with("there is no array `0`; there are `weights`, `bias`")));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::File`] if the file cannot be written.
pub fn save<P: Arrays>(file: impl AsRef<Path>, x: &P) -> Result<()> {
    let place = Place(file.as_ref().to_owned());
    let folder = place.0.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unfinished = NamedTempFile::new_in(folder).map_err(|e| place.error(e))?;
    let mut archive = ZipWriter::new(BufWriter::new(unfinished));
    for (name, array) in named(x) {
        let several = array.columns.len() != 1;
        for (k, column) in array.columns.iter().enumerate() {
            let name = if several { name_of_part(&name, k) } else { name.clone() };
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
            archive.start_file(npyz::npz::file_name_from_array_name(&name), options).map_err(|e| place.error(e))?;
            write(&mut archive, &array.extents, column).map_err(|e| place.error(e))?;
        }
    }
    let unfinished = archive.finish().map_err(|e| place.error(e))?.into_inner().map_err(|e| place.error(e))?;
    unfinished.persist(&place.0).map_err(|e| place.error(e))?;
    Ok(())
}

/// Reads a value from an `.npz` file that [`save`] or NumPy has written. Arrays are found by their [names](super::named); others in the file are ignored.
///
/// # Errors
/// [`Error::File`] if the file cannot be read, or if an array is not there or has another type or another number of dimensions.
pub fn load<P: Arrays>(file: impl AsRef<Path>) -> Result<P> {
    let place = Place(file.as_ref().to_owned());
    let opened = File::open(&place.0).map_err(|e| place.error(e))?;
    let mut archive = ZipArchive::new(BufReader::new(opened)).map_err(|e| place.error(e))?;
    let ty = P::Repr::raw();
    let mut names = vec![];
    P::names("", &mut names);
    let mut arrays = vec![];
    for (name, (rank, types)) in names.into_iter().zip(ty.arrays()) {
        let (mut extents, mut columns): (Option<RawExtents>, Columns) = (None, Columns::new());
        for (k, t) in types.iter().enumerate() {
            let name = if types.len() != 1 { name_of_part(&name, k) } else { name.clone() };
            let (found, column) = place.read(&mut archive, &name, *t)?;
            if found.len() != rank || extents.as_ref().is_some_and(|extents| *extents != found) {
                return Err(
                    place.error(format!("the array `{name}` has the extents {found:?}, expected {rank} dimensions"))
                );
            }
            extents = Some(found);
            columns.push(column);
        }
        arrays.push(RawArray { extents: extents.unwrap_or_else(|| RawExtents::from_elem(0, rank)), columns });
    }
    let tuple = ArrayTuple::of(&ty, &mut arrays.into_iter());
    P::from_tuple(tuple.ok_or_else(|| Error::Internal("a value with fewer names than arrays".into()))?)
}

/// A file, for errors.
struct Place(PathBuf);

impl Place {
    fn error(&self, why: impl Display) -> Error {
        Error::File { place: self.0.display().to_string(), why: why.to_string() }
    }

    /// Extents and elements of an array.
    fn read(
        &self,
        archive: &mut ZipArchive<BufReader<File>>,
        name: &str,
        expected: ScalarType,
    ) -> Result<(RawExtents, Column)> {
        let file = npyz::npz::file_name_from_array_name(name);
        let Some(at) = archive.index_for_name(&file) else {
            let quoted = |file: &str| Some(format!("`{}`", npyz::npz::array_name_from_file_name(file)?));
            let there: Vec<String> = archive.file_names().flatten().filter_map(|file| quoted(&file)).collect();
            return Err(self.error(format!("there is no array `{name}`; there are {}", there.join(", "))));
        };
        let entry = archive.by_index(at).map_err(|e| self.error(e))?;
        let bytes = entry.size();
        let npy = NpyFile::new(entry).map_err(|e| self.error(format!("the array `{name}`: {e}")))?;
        let extents: Option<RawExtents> = npy.shape().iter().map(|n| usize::try_from(*n).ok()).collect();
        // No more memory than there are bytes.
        let extents = extents.filter(|extents| checked_size(extents).is_some_and(|n| n as u64 <= bytes));
        let Some(extents) = extents else {
            return Err(self.error(format!("the array `{name}` is shorter than its extents {:?}", npy.shape())));
        };
        let (dtype, order) = (npy.dtype().descr(), npy.order());
        let column = elements(npy, expected)
            .map_err(|e| self.error(format!("the array `{name}` has the type {dtype}, expected {expected}: {e}")))?;
        let column = match order {
            Order::C => column,
            Order::Fortran => from_columns(&column, &extents),
        };
        Ok((extents, column))
    }
}

/// The elements in the order of rows, from those in the order of columns.
fn from_columns(column: &Column, extents: &RawExtents) -> Column {
    let shape = RawArray { extents: extents.clone(), columns: Columns::new() };
    let of_columns = |at| shape.index(at).iter().zip(extents).rev().fold(0, |at, (i, n)| at * n + i);
    let mut rows = Column::with_capacity(column.ty(), column.len());
    (0..column.len()).filter_map(|at| column.get(of_columns(at))).for_each(|x| _ = rows.push(x));
    rows
}

macro_rules! types {
    ($($variant:ident $t:ty),*) => {
        /// Writes a column as an `.npy` file.
        fn write(to: &mut impl Write, extents: &[usize], column: &Column) -> io::Result<()> {
            match column {
                $(Column::$variant(c) => write_all::<$t>(to, extents, c)),*
            }
        }
        /// The elements of a file, which must have this type.
        fn elements(npy: NpyFile<impl Read>, expected: ScalarType) -> io::Result<Column> {
            Ok(match expected {
                $(ScalarType::$variant => read_all::<$t>(npy)?.into()),*
            })
        }
    };
}
types!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);

fn write_all<T: AutoSerialize + Copy>(to: &mut impl Write, extents: &[usize], elements: &[T]) -> io::Result<()> {
    let shape: Vec<u64> = extents.iter().map(|n| *n as u64).collect();
    let mut writer = WriteOptions::<T>::new().default_dtype().shape(&shape).writer(to).begin_nd()?;
    writer.extend(elements.iter().copied())?;
    writer.finish()
}

fn read_all<T: Deserialize>(npy: NpyFile<impl Read>) -> io::Result<Vec<T>> {
    npy.into_vec()
}
