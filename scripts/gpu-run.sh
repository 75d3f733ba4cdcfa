#!/usr/bin/env bash
# scripts/gpu.sh calls this on the machine with the GPU, in the folder that it has packed: it runs the tests, then prints the table.
set -uo pipefail
cd "$(dirname "$0")"
here=$PWD

# The loader itself finds registered drivers. If there is only an unregistered library of a vendor, it is registered for this run.
vendors=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
if ! ls "${vendors%/}"/*.icd >/dev/null 2>&1; then
  mkdir -p vendors
  find / -xdev -name 'libnvidia-opencl.so.1' -o -xdev -name 'libamdocl64.so' -o -xdev -name 'libigdrcl.so' 2>/dev/null >found
  find /usr/local -name 'libnvidia-opencl.so.1' 2>/dev/null >>found
  driver=$(head -n 1 found)
  if [ -z "$driver" ]; then
    echo "no OpenCL driver: no $vendors/*.icd, and no vendor's library was found" >&2
    exit 2
  fi
  echo "$driver" >vendors/found.icd
  export OCL_ICD_VENDORS="$here/vendors/"
  export LD_LIBRARY_PATH="$(dirname "$driver")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
export ACCEL_OPENCL_LIBRARY="$here/lib/libOpenCL.so.1"
export ACCEL_OPENCL_DEVICE="${ACCEL_OPENCL_DEVICE:-gpu}"
export ACCEL_BENCH_DATA="$here/data"

status=0
run() {
  echo "== $*"
  "$@" || status=1
}
run ./tests/accel_opencl
run ./tests/backends opencl:: --include-ignored
run ./tests/kernels ::opencl
run ./tests/random opencl
# The gradients of all programs, also on this device.
export ACCEL_ALSO_ON=opencl
run ./tests/gradients
run ./bench-opencl
exit "$status"
