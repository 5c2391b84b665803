// SPDX-License-Identifier: Apache-2.0
// The functions of the CUDA driver that Kokkos calls, found in libcuda.so.1 at their first call. Linked as
// usual they would make the driver a condition of starting at all, and not even --help or --dry-run would run
// on a login node. In every program of a device build, as an object (cmake/charter_device_build.cmake);
// cuBLAS and NCCL look for the driver themselves.
#include <cuda.h>
#include <dlfcn.h>

namespace {

// nullptr without a driver.
void* driver_function(const char* name) {
  static void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return driver == nullptr ? nullptr : ::dlsym(driver, name);
}

template <class... Parameters>
CUresult call_driver(const char* name, Parameters... parameters) {
  using Function = CUresult (*)(Parameters...);
  const auto function = reinterpret_cast<Function>(driver_function(name));
  return function == nullptr ? CUDA_ERROR_SHARED_OBJECT_INIT_FAILED : function(parameters...);
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  return call_driver("cuCtxGetDevice", device);
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context) {
  return call_driver("cuCtxPushCurrent_v2", context);
}

CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return call_driver("cuStreamGetCtx", stream, context);
}

}  // extern "C"
