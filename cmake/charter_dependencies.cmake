# Every outside library, found once. Each ends as an imported target named charter_dep_<name>.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# Kokkos: Debian's Kokkos 3.4.1 names an include directory that does not exist; put the right one in its place.
# Kokkos would put a launcher of its own before every compilation; charter_add_device_sources chooses instead.
set(Kokkos_LAUNCH_COMPILER OFF)
find_package(Kokkos REQUIRED)
get_target_property(_kokkos_target Kokkos::kokkos TYPE)
foreach(_target Kokkos::kokkos Kokkos::kokkoscore)
  if(TARGET ${_target})
    get_target_property(_dirs ${_target} INTERFACE_INCLUDE_DIRECTORIES)
    foreach(_dir IN LISTS _dirs)
      if(IS_ABSOLUTE "${_dir}" AND NOT EXISTS "${_dir}")
        get_filename_component(_fixed "${Kokkos_INCLUDE_DIRS}" ABSOLUTE BASE_DIR "${Kokkos_DIR}")
        set_target_properties(${_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_fixed}")
      endif()
    endforeach()
  endif()
endforeach()
add_library(charter_dep_kokkos INTERFACE)
target_link_libraries(charter_dep_kokkos INTERFACE Kokkos::kokkos)
# Without its compiler flags, for targets whose own sources do not include it.
add_library(charter_dep_kokkos_library INTERFACE)
target_link_libraries(charter_dep_kokkos_library INTERFACE $<LINK_ONLY:Kokkos::kokkos>)
include(charter_device_build)

find_package(MPI REQUIRED COMPONENTS CXX)
include(charter_check_launcher)
charter_check_launcher("${MPIEXEC_EXECUTABLE}" "${MPI_CXX_INCLUDE_DIRS}")
add_library(charter_dep_mpi INTERFACE)
target_link_libraries(charter_dep_mpi INTERFACE MPI::MPI_CXX)
# Root, and more ranks than cores: scripts/mpirun.sh knows what Open MPI wants then.
set(CHARTER_MPIEXEC_FLAGS "" CACHE STRING "Further flags of the MPI launcher in tests, separated by blanks")

# CUDA libraries. Their host side is compiled and linked wherever the toolkit is, with or without a GPU:
# CUDAToolkit_FOUND guards cuBLAS (CUDA::cublas, CUDA::cudart), the target charter_dep_nccl guards NCCL.
find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
  find_path(CHARTER_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV NCCL_ROOT PATH_SUFFIXES include)
  find_library(CHARTER_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ENV NCCL_ROOT PATH_SUFFIXES lib lib64)
  if(CHARTER_NCCL_INCLUDE_DIR AND CHARTER_NCCL_LIBRARY)
    add_library(charter_dep_nccl INTERFACE)
    target_include_directories(charter_dep_nccl SYSTEM INTERFACE ${CHARTER_NCCL_INCLUDE_DIR})
    target_link_libraries(charter_dep_nccl INTERFACE ${CHARTER_NCCL_LIBRARY} CUDA::cudart)
  endif()
endif()

# Serial HDF5 (docs/dependencies.md: the parts of a checkpoint are written by one process each).
set(HDF5_PREFER_PARALLEL OFF)
set(HDF5_NO_FIND_PACKAGE_CONFIG_FILE ON)
find_package(HDF5 REQUIRED COMPONENTS C)
include(charter_check_hdf5)
charter_check_hdf5_mpi("${HDF5_C_LIBRARIES}" "${MPI_CXX_LIBRARIES}")
add_library(charter_dep_hdf5 INTERFACE)
target_include_directories(charter_dep_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(charter_dep_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
if(HDF5_IS_PARALLEL)
  target_link_libraries(charter_dep_hdf5 INTERFACE charter_dep_mpi)  # its headers include mpi.h
endif()

find_package(Boost REQUIRED COMPONENTS program_options)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
if(CHARTER_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
