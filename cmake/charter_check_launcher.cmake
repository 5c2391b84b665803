# charter_launcher_family(VERSION_TEXT RESULT): whose launcher speaks so: "Open MPI", "MPICH", or nothing where that cannot be
# told (srun, jsrun, flux).
function(charter_launcher_family text result)
  set(family "")
  if(text MATCHES "Open MPI|OpenRTE|PRRTE")
    set(family "Open MPI")
  elseif(text MATCHES "HYDRA|MPICH|Intel\\(R\\) MPI|MVAPICH")
    set(family "MPICH")
  endif()
  set(${result} "${family}" PARENT_SCOPE)
endfunction()

# charter_check_launcher(LAUNCHER INCLUDE_DIRS): ranks of one MPI under the launcher of another are N lonely processes. FindMPI
# takes the first mpiexec on the path, whichever compiler wrapper it was given.
function(charter_check_launcher launcher include_dirs)
  set(library "")
  foreach(dir IN LISTS include_dirs)
    if(EXISTS "${dir}/mpi.h")
      file(STRINGS "${dir}/mpi.h" marks REGEX "define +(OPEN_MPI|MPICH_NUMVERSION)[ \t]")
      if(marks MATCHES "OPEN_MPI")
        set(library "Open MPI")
      elseif(marks MATCHES "MPICH_NUMVERSION")
        set(library "MPICH")
      endif()
    endif()
  endforeach()
  execute_process(COMMAND ${launcher} --version OUTPUT_VARIABLE text ERROR_QUIET)
  charter_launcher_family("${text}" family)
  if(library AND family AND NOT library STREQUAL family)
    message(FATAL_ERROR
      "The MPI library is ${library}, but the launcher ${launcher} belongs to ${family}: each rank would be alone.\n"
      "Name the library's own launcher, for example -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.mpich, or another MPI: "
      "-DMPI_CXX_COMPILER=PATH.")
  endif()
endfunction()
