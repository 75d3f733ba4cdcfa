//! The devices of this machine, and the choice of one.

use crate::{cl, loader};
use accel_core::error::{Error, Result};
use ocl::ffi::*;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The type of a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceType {
    /// A processor.
    Cpu,
    /// A graphics processor or a similar device.
    Gpu,
    /// Anything else.
    Accelerator,
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceType::Cpu => "cpu",
            DeviceType::Gpu => "gpu",
            DeviceType::Accelerator => "accelerator",
        })
    }
}

/// A device that programs can run on: one of [`devices`].
#[derive(Clone, Debug)]
pub struct Device {
    /// Its position in the list of all devices.
    pub index: usize,
    /// The name of its platform, that is, of its driver.
    pub platform: String,
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: DeviceType,
    /// The size of its memory, in bytes.
    pub memory: u64,
    /// The largest size of a buffer, and so of a column of an array, in bytes.
    pub largest_buffer: u64,
    /// The size of the local memory of a work-group, in bytes.
    pub local_memory: u64,
    /// The number of compute units.
    pub units: usize,
    /// The largest number of work-items of a work-group.
    pub largest_group: usize,
    /// Whether it supports 64-bit floating-point numbers.
    pub fp64: bool,
    /// Whether it supports atomic operations on 64-bit integers.
    pub atomics_64: bool,
    /// The PCI number of its vendor.
    pub(crate) vendor: u64,
    /// Whether division and square roots of `f32` can be rounded correctly.
    pub(crate) exact_division: bool,
    pub(crate) id: DeviceId,
}

/// OpenCL's handle of a device. It is valid as long as the process runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DeviceId(pub cl_device_id);
// SAFETY: an address that is only passed to OpenCL, which accepts it from any thread.
unsafe impl Send for DeviceId {}
// SAFETY: as above.
unsafe impl Sync for DeviceId {}

impl fmt::Display for Device {
    /// A line of text for users.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Device { index, platform, name, kind, memory, units, fp64, .. } = self;
        let gib = *memory as f64 / (1u64 << 30) as f64;
        let double = if *fp64 { "" } else { ", no f64" };
        write!(f, "{index}: {name} ({platform}), {kind}, {units} units, {gib:.1} GiB{double}")
    }
}

/// All usable devices of this machine. The list can be empty, if there is a loader but no driver.
///
/// # Errors
/// `Error::Device` if there is no OpenCL loader, or a driver fails.
pub fn devices() -> Result<Vec<Device>> {
    // pocl 3.1 initialises its devices at the first query, and crashes if another thread queries at the same time.
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    loader::load()?;
    let mut found = vec![];
    for platform in cl::platforms()? {
        let name = cl::platform_text(platform, CL_PLATFORM_NAME)?;
        for id in cl::device_ids(platform)? {
            if cl::device_number(id, CL_DEVICE_AVAILABLE)? != 0
                && cl::device_number(id, CL_DEVICE_COMPILER_AVAILABLE)? != 0
            {
                found.push(describe(found.len(), &name, id)?);
            }
        }
    }
    Ok(found)
}

/// The PCI numbers of the vendors AMD and NVIDIA. On their graphics cards, a work-group that has started runs until it
/// ends, whatever other groups do.
const KEEP_GROUPS: [u64; 2] = [0x1002, 0x10de];

impl Device {
    /// Whether groups can wait for values of other groups that have started. Then scans need only one launch.
    pub(crate) fn may_look_back(&self) -> bool {
        self.kind == DeviceType::Gpu && self.atomics_64 && KEEP_GROUPS.contains(&self.vendor)
    }
}

fn describe(index: usize, platform: &str, id: cl_device_id) -> Result<Device> {
    let number = |what| cl::device_number(id, what);
    let size = |what| number(what).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let extensions = cl::device_text(id, CL_DEVICE_EXTENSIONS)?;
    let has = |wanted: &str| extensions.split_whitespace().any(|e| e == wanted);
    let kind = number(CL_DEVICE_TYPE)?;
    Ok(Device {
        index,
        platform: platform.into(),
        name: cl::device_text(id, CL_DEVICE_NAME)?,
        // A simulator of graphics cards claims to be of every type.
        kind: if kind & CL_DEVICE_TYPE_GPU != 0 {
            DeviceType::Gpu
        } else if kind & CL_DEVICE_TYPE_CPU != 0 {
            DeviceType::Cpu
        } else {
            DeviceType::Accelerator
        },
        memory: number(CL_DEVICE_GLOBAL_MEM_SIZE)?,
        largest_buffer: number(CL_DEVICE_MAX_MEM_ALLOC_SIZE)?,
        local_memory: number(CL_DEVICE_LOCAL_MEM_SIZE)?,
        units: size(CL_DEVICE_MAX_COMPUTE_UNITS)?,
        largest_group: size(CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
        fp64: has("cl_khr_fp64") || number(CL_DEVICE_DOUBLE_FP_CONFIG).is_ok_and(|config| config != 0),
        atomics_64: has("cl_khr_int64_base_atomics"),
        vendor: number(CL_DEVICE_VENDOR_ID)?,
        exact_division: number(CL_DEVICE_SINGLE_FP_CONFIG)? & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0,
        id: DeviceId(id),
    })
}

/// The device that a text selects: by its position in the list, by its type, or by a part of its name or of its
/// platform's name. Without a text, the first GPU, or the first device if there is no GPU.
///
/// # Errors
/// `Error::Device` if there is no such device. The message contains the list of devices.
pub fn choose(devices: &[Device], wanted: Option<&str>) -> Result<Device> {
    let Some(first) = devices.first() else {
        return Err(Error::Device(
            "there is no device: install a driver (for the processor, on Debian and Ubuntu: pocl-opencl-icd)".into(),
        ));
    };
    let Some(wanted) = wanted else {
        return Ok(devices.iter().find(|d| d.kind == DeviceType::Gpu).unwrap_or(first).clone());
    };
    let text = wanted.to_lowercase();
    let found = match text.parse::<usize>() {
        Ok(index) => devices.get(index),
        Err(_) => devices.iter().find(|d| d.kind.to_string() == text).or_else(|| {
            devices.iter().find(|d| [&d.name, &d.platform].iter().any(|name| name.to_lowercase().contains(&text)))
        }),
    };
    found.cloned().ok_or_else(|| {
        let all: String = devices.iter().map(|d| format!("\n  {d}")).collect();
        Error::Device(format!(
            "no device {wanted:?}: expected a number, cpu, gpu, or a part of a name of one of these devices{all}"
        ))
    })
}

/// The device that the environment variable `ACCEL_OPENCL_DEVICE` selects, or else the default of [`choose`].
///
/// # Errors
/// As [`devices`] and [`choose`].
pub fn default_device() -> Result<Device> {
    let wanted = std::env::var_os("ACCEL_OPENCL_DEVICE").map(|v| v.to_string_lossy().into_owned());
    choose(&devices()?, wanted.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: usize, platform: &str, name: &str, kind: DeviceType) -> Device {
        Device {
            index,
            platform: platform.into(),
            name: name.into(),
            kind,
            memory: 1 << 30,
            largest_buffer: 1 << 28,
            local_memory: 1 << 15,
            units: 4,
            largest_group: 256,
            fp64: false,
            atomics_64: false,
            vendor: 0x10de,
            exact_division: false,
            id: DeviceId(std::ptr::null_mut()),
        }
    }

    /// This crashed every second process in which several threads made the first query.
    #[test]
    fn several_threads_may_ask() {
        let ask = || {
            devices().inspect_err(|e| println!("LEFT OUT: {e}")).unwrap_or_default().into_iter().map(|d| d.to_string())
        };
        let lists: Vec<Vec<String>> = std::thread::scope(|s| {
            let threads = [(); 4].map(|()| s.spawn(|| ask().collect()));
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(lists.iter().all(|list| *list == lists[0]));
    }

    /// On other devices, the groups may wait for ever.
    #[test]
    fn groups_wait_only_on_cards_that_are_known() {
        let card = Device { atomics_64: true, ..device(0, "Vendor CUDA", "Card", DeviceType::Gpu) };
        assert!(card.may_look_back());
        let others = [
            Device { atomics_64: false, ..card.clone() },
            Device { vendor: 0x8086, ..card.clone() },
            Device { kind: DeviceType::Cpu, ..card.clone() },
        ];
        assert!(others.iter().all(|d| !d.may_look_back()));
    }

    #[test]
    fn devices_are_chosen_by_number_type_and_name() {
        let all = [
            device(0, "Portable Computing", "pthread-EPYC", DeviceType::Cpu),
            device(1, "Vendor CUDA", "Big Card", DeviceType::Gpu),
            device(2, "Vendor CUDA", "Small Card", DeviceType::Gpu),
        ];
        let index = |wanted| choose(&all, wanted).map(|d| d.index).ok();
        assert_eq!(index(None), Some(1));
        for (wanted, expected) in [("2", 2), ("cpu", 0), ("GPU", 1), ("small", 2), ("cuda", 1), ("epyc", 0)] {
            assert_eq!(index(Some(wanted)), Some(expected), "{wanted}");
        }
        for wanted in ["3", "accelerator", "nothing", "-1"] {
            let e = choose(&all, Some(wanted)).unwrap_err().to_string();
            assert!(e.contains(wanted) && e.contains("Small Card"), "{e}");
        }
        assert_eq!(choose(&all[..1], None).unwrap().index, 0);
        assert!(choose(&[], None).unwrap_err().to_string().contains("no device"));
        assert_eq!(all[0].to_string(), "0: pthread-EPYC (Portable Computing), cpu, 4 units, 1.0 GiB, no f64");
    }
}
