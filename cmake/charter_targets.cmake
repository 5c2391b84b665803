# charter_library(NAME SOURCES a.cpp ... LINKS targets ...): the one target of a folder.
function(charter_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC charter_flags ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
endfunction()

# charter_program(NAME SOURCES ... LINKS ...): an executable under apps/, placed in <build>/bin.
function(charter_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE charter_flags charter_cpu_check ${ARG_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

# Tests are compiled more often than they are run: at -O3 they would cost a build a minute more.
set(charter_test_optimisation $<$<CONFIG:Release>:-O1>)

# charter_test(NAME SOURCES ... LINKS ... [TIMEOUT s] [LABELS ...]): one process, GoogleTest.
function(charter_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE charter_flags charter_test_main ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${charter_test_optimisation})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "unit;${ARG_LABELS}"
                                          SKIP_REGULAR_EXPRESSION "CHARTER_TEST_SKIPPED")
endfunction()

# charter_rank_test(NAME RANKS 1 2 4 SOURCES ... LINKS ...): the same binary on several MPI rank counts, one ctest
# entry each (NAME.np2 ...). Ranks outnumber cores, so they must yield while they wait.
function(charter_rank_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS;RANKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE charter_flags charter_rank_test_main ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${charter_test_optimisation})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME ${name}.np${ranks}
             COMMAND ${CMAKE_SOURCE_DIR}/scripts/mpirun.sh ${ranks} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}.np${ranks} PROPERTIES TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${ranks}
                         LABELS "ranks;np${ranks};${ARG_LABELS}"
                         ENVIRONMENT "MPIEXEC=${MPIEXEC_EXECUTABLE};CHARTER_MPIEXEC_FLAGS=${CHARTER_MPIEXEC_FLAGS}")
  endforeach()
endfunction()
