# A made-up parallel HDF5, linked to a made-up MPI, must be refused by cmake/charter_check_hdf5.cmake when Charter's MPI is
# another one, and accepted when it is the same. Run with -DCOMPILER -DSOURCE -DWORK.
cmake_minimum_required(VERSION 3.25)

function(build_library name text)
  file(WRITE ${WORK}/${name}.c "${text}\n")
  execute_process(COMMAND ${COMPILER} -shared -fPIC -Wl,--no-as-needed -Wl,-rpath,${WORK} ${name}.c ${ARGN} -o lib${name}.so
                  WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "cannot build lib${name}.so")
  endif()
endfunction()

if(DEFINED HDF5)
  # The inner run: only the check itself.
  include(${SOURCE}/cmake/charter_check_hdf5.cmake)
  charter_check_hdf5_mpi("${HDF5}" "${MPI}")
  return()
endif()

function(expect hdf5 mpi accepted)
  execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE=${SOURCE} -DWORK=${WORK} -DHDF5=${WORK}/lib${hdf5}.so
                          -DMPI=${WORK}/lib${mpi}.so -P ${CMAKE_CURRENT_LIST_FILE}
                  RESULT_VARIABLE status ERROR_VARIABLE message)
  if(accepted AND NOT status EQUAL 0)
    message(FATAL_ERROR "${hdf5} with ${mpi} was refused: ${message}")
  endif()
  if(NOT accepted AND (status EQUAL 0 OR NOT message MATCHES "parallel HDF5"))
    message(FATAL_ERROR "${hdf5} with ${mpi} was not refused: ${message}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${WORK})
build_library(mpi "int mpi_a(void) { return 1; }")
build_library(mpich "int mpi_b(void) { return 2; }")
build_library(hdf5_serial "int H5open(void) { return 0; }")
build_library(hdf5_with_mpi "int H5open(void) { return 0; }" -L. -lmpi)
build_library(hdf5_with_mpich "int H5open(void) { return 0; }" -L. -lmpich)
expect(hdf5_serial mpi TRUE)
expect(hdf5_with_mpi mpi TRUE)
expect(hdf5_with_mpich mpich TRUE)
expect(hdf5_with_mpich mpi FALSE)
expect(hdf5_with_mpi mpich FALSE)
