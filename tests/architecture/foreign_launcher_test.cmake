# A launcher of another MPI than the library's must be refused by cmake/charter_check_launcher.cmake, one that fits or that
# belongs to a scheduler accepted. Run with -DSOURCE -DWORK.
cmake_minimum_required(VERSION 3.25)
include(${SOURCE}/cmake/charter_check_launcher.cmake)

if(DEFINED LAUNCHER)
  # The inner run: only the check itself.
  charter_check_launcher(${LAUNCHER} "${INCLUDES}")
  return()
endif()

function(write_launcher name text)
  file(WRITE ${WORK}/${name} "#!/bin/sh\necho '${text}'\n")
  file(CHMOD ${WORK}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

function(expect launcher library accepted)
  execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE=${SOURCE} -DLAUNCHER=${WORK}/${launcher} -DINCLUDES=${WORK}/${library}
                          -P ${CMAKE_CURRENT_LIST_FILE}
                  RESULT_VARIABLE status ERROR_VARIABLE message)
  if(accepted AND NOT status EQUAL 0)
    message(FATAL_ERROR "${launcher} with ${library} was refused: ${message}")
  endif()
  if(NOT accepted AND (status EQUAL 0 OR NOT message MATCHES "each rank would be alone"))
    message(FATAL_ERROR "${launcher} with ${library} was not refused: ${message}")
  endif()
endfunction()

write_launcher(mpirun "mpirun (Open MPI) 4.1.4")
write_launcher(hydra "HYDRA build details:")
write_launcher(srun "slurm 22.05.8")
file(WRITE ${WORK}/openmpi/mpi.h "#define OPEN_MPI 1\n")
file(WRITE ${WORK}/mpich/mpi.h "#define MPICH_NUMVERSION 40002300\n")
expect(mpirun openmpi TRUE)
expect(hydra mpich TRUE)
expect(srun openmpi TRUE)
expect(srun mpich TRUE)
expect(mpirun mpich FALSE)
expect(hydra openmpi FALSE)
