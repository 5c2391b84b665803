# CHARTER_DEVICE_BUILD: whether Kokkos runs kernels on an accelerator. Only CUDA is known. The host compiler compiles the
# tree; CHARTER_NVCC_WRAPPER, which comes with that Kokkos, compiles the kernels.
set(CHARTER_DEVICE_BUILD OFF)
if("CUDA" IN_LIST Kokkos_DEVICES)
  set(CHARTER_DEVICE_BUILD ON)
elseif(Kokkos_DEVICES MATCHES "HIP|SYCL|OPENMPTARGET|OPENACC")
  message(FATAL_ERROR "${Kokkos_DIR} is a Kokkos for ${Kokkos_DEVICES}; Charter knows CPUs and CUDA: choose another with "
                      "-DKokkos_ROOT=PATH")
endif()

if(CHARTER_DEVICE_BUILD AND NOT CHARTER_BLAS STREQUAL "cublas")
  message(FATAL_ERROR "CHARTER_BLAS is ${CHARTER_BLAS}, but ${Kokkos_DIR} is a Kokkos for CUDA, whose kernels leave matrices "
                      "in device memory: use -DCHARTER_BLAS=cublas, or a Kokkos for CPUs (-DKokkos_ROOT=PATH)")
elseif(CHARTER_BLAS STREQUAL "cublas" AND NOT CHARTER_DEVICE_BUILD)
  message(FATAL_ERROR "CHARTER_BLAS is cublas, but ${Kokkos_DIR} is a Kokkos for ${Kokkos_DEVICES}: give a Kokkos built for "
                      "CUDA with -DKokkos_ROOT=PATH (the preset cuda takes it from the environment variable CHARTER_KOKKOS)")
endif()

if(CHARTER_DEVICE_BUILD)
  if(CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
    message(FATAL_ERROR "CMAKE_CXX_COMPILER is ${CMAKE_CXX_COMPILER}; give the host compiler (g++): Charter hands its kernels, "
                        "and nothing else, to nvcc_wrapper itself")
  endif()
  find_program(CHARTER_NVCC_WRAPPER nvcc_wrapper HINTS ${Kokkos_DIR}/../../../bin ${Kokkos_DIR}/../../../../bin
               DOC "nvcc_wrapper of the Kokkos in use" REQUIRED)
  # The host compiler links; Kokkos' flags for linking are nvcc's. What Kokkos calls of the driver is in every executable
  # (charter_cuda_driver), so that libcuda.so.1 is not needed to start; a Kokkos that calls more needs it.
  set_property(TARGET Kokkos::kokkoscore PROPERTY INTERFACE_LINK_OPTIONS "LINKER:--as-needed")
  find_package(CUDAToolkit 12 REQUIRED)
  add_library(charter_cuda_driver OBJECT ${CMAKE_SOURCE_DIR}/src/tensor/cuda_driver.cpp)
  target_include_directories(charter_cuda_driver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(charter_cuda_driver PRIVATE charter_flags INTERFACE ${CMAKE_DL_LIBS})
endif()
