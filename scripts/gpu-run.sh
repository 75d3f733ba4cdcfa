#!/usr/bin/env bash
# scripts/gpu.sh calls this on the machine with the GPU, in the folder that it has packed: it runs the tests, then prints the table.
#
#   ./run              all of them
#   ./run COMMAND ..   a command, for example ./bench-opencl product
set -uo pipefail
cd "$(dirname "$0")"
here=$PWD

# The loader itself finds registered drivers. If none of them is a GPU's, an unregistered library of a vendor is registered for this run.
# ACCEL_OPENCL_DEVICE chooses a device of the registered drivers instead.
libraries='libnvidia-opencl\.so|libamdocl64\.so|libigdrcl\.so'
vendors=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
if [ -z "${ACCEL_OPENCL_DEVICE-}" ] && ! grep -qE "$libraries" "${vendors%/}"/*.icd 2>/dev/null; then
  mkdir -p vendors
  driver=$(find /usr /opt -regextype posix-extended -regex ".*/($libraries)(\.1)?" 2>/dev/null | head -n 1)
  if [ -z "$driver" ]; then
    echo "no OpenCL driver of a GPU: none in $vendors/*.icd, and no vendor's library was found" >&2
    exit 2
  fi
  echo "$driver" >vendors/found.icd
  export OCL_ICD_VENDORS="$here/vendors/"
  export LD_LIBRARY_PATH="$(dirname "$driver")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export ACCEL_OPENCL_LIBRARY="$here/lib/libOpenCL.so.1"
export ACCEL_OPENCL_DEVICE="${ACCEL_OPENCL_DEVICE:-gpu}"
export ACCEL_BENCH_DATA="$here/data"
# Otherwise JAX takes three quarters of the GPU's memory.
export XLA_PYTHON_CLIENT_PREALLOCATE=false

if [ $# -gt 0 ]; then
  exec "$@"
fi

status=0
run() {
  echo "== $*"
  "$@" || status=1
}
run ./tests/accel_opencl
# These two call examples, which read files of the checkout.
run ./tests/backends opencl:: --include-ignored --skip gmm_and_ba_run --skip what_is_missing_is_an_error
run ./tests/kernels ::opencl
run ./tests/random opencl
# The gradients of all programs, also on this device.
export ACCEL_ALSO_ON=opencl
run ./tests/gradients
run ./bench-opencl
exit "$status"
