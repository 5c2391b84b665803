# The sources that include Kokkos (DEVICE_SOURCES below). On a host build they are sources like the others. On a device
# build they become objects of their own, whose compiler is Kokkos' nvcc_wrapper around the host compiler: it stands as
# the compiler launcher, and its -ccbin takes the host compiler that follows. All other files never meet nvcc. ccache goes
# by the list of included files, because what it preprocesses is the host's half only.
function(charter_add_device_sources name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT CHARTER_DEVICE_BUILD)
    target_sources(${name} PRIVATE ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE charter_dep_kokkos)
    return()
  endif()
  add_library(${name}_device OBJECT ${ARG_SOURCES})
  target_link_libraries(${name}_device PRIVATE charter_flags charter_device_flags charter_dep_kokkos ${ARG_LINKS})
  target_compile_definitions(${name}_device PRIVATE $<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>)
  set_target_properties(${name}_device PROPERTIES
                        CXX_COMPILER_LAUNCHER "env;CCACHE_DEPEND=1;${CMAKE_CXX_COMPILER_LAUNCHER};${CHARTER_NVCC_WRAPPER};-ccbin")
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_device>)
  target_link_libraries(${name} PRIVATE charter_dep_kokkos_library)
endfunction()

# Most folders are compiled eight files at a time: what files include costs more than what they say. Not (SEPARATE_FILES)
# kernels, nor where files of a folder have the same names in anonymous namespaces. CHARTER_COMPILE_TOGETHER=OFF is for whoever
# edits one file again and again.
function(charter_compile_together name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${CHARTER_COMPILE_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# charter_library(NAME [SEPARATE_FILES] SOURCES a.cpp ... DEVICE_SOURCES b.cpp ... LINKS targets ...): the one target of a
# folder.
function(charter_library name)
  cmake_parse_arguments(ARG "SEPARATE_FILES" "" "SOURCES;DEVICE_SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC charter_flags ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  if(NOT ARG_SEPARATE_FILES)
    charter_compile_together(${name})
  endif()
  if(ARG_DEVICE_SOURCES)
    charter_add_device_sources(${name} SOURCES ${ARG_DEVICE_SOURCES} LINKS ${ARG_LINKS})
  endif()
endfunction()

if(CHARTER_SANITIZE)
  add_library(charter_keep_libraries OBJECT ${CMAKE_SOURCE_DIR}/tests/support/keep_libraries.cpp)
  target_link_libraries(charter_keep_libraries PRIVATE charter_flags)
endif()

# charter_executable(NAME SOURCE ... ): an executable with what every one needs.
function(charter_executable name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE charter_flags)
  if(CHARTER_SANITIZE)
    target_link_libraries(${name} PRIVATE charter_keep_libraries)
  endif()
  if(CHARTER_DEVICE_BUILD)
    target_link_libraries(${name} PRIVATE charter_cuda_driver)
  endif()
endfunction()

# charter_program(NAME SOURCES ... LINKS ...): an executable under apps/, placed in <build>/bin.
function(charter_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  charter_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE charter_cpu_check ${ARG_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

# Tests are compiled more often than they are run: at -O1 they would cost a build a minute more, at -O3 two. Folders whose
# tests compute much by themselves set another level.
set(charter_test_optimisation $<$<CONFIG:Release>:-O0>)

# What each test of CTest gets: one kind (scripts/print_budget.sh counts its seconds by it), a time limit, the launcher and
# the sanitizers' settings. charter_test_settings(TEST KIND SECONDS [LABEL ...]); KIND: unit | ranks | faults | apps | fuzz.
set(charter_test_environment "MPIEXEC=${MPIEXEC_EXECUTABLE}" "CHARTER_MPIEXEC_FLAGS=${CHARTER_MPIEXEC_FLAGS}")
if(CHARTER_SANITIZE)
  # The HDF5 library asks for whatever length stands in its own metadata, and refuses a file when memory is refused.
  list(APPEND charter_test_environment "UBSAN_OPTIONS=print_stacktrace=1" "ASAN_OPTIONS=allocator_may_return_null=1"
       "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_SOURCE_DIR}/tests/support/leaks_of_libraries.supp")
endif()
function(charter_test_settings test kind seconds)
  math(EXPR limit "${seconds} * ${CHARTER_TEST_TIME_SCALE}")
  set_tests_properties(${test} PROPERTIES TIMEOUT ${limit} LABELS "${kind};${ARGN}"
                                          ENVIRONMENT "${charter_test_environment}")
endfunction()

# charter_test(NAME SOURCES ... [DEVICE_SOURCES ...] LINKS ... [KIND unit] [TIMEOUT 120] [PROCESSORS 1] [LABELS ...]
# [SEPARATE_FILES]): one process, GoogleTest.
function(charter_test name)
  cmake_parse_arguments(ARG "SEPARATE_FILES" "KIND;TIMEOUT;PROCESSORS" "SOURCES;DEVICE_SOURCES;LINKS;LABELS"
                        KIND unit TIMEOUT 120 PROCESSORS 1 ${ARGN})
  charter_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE charter_test_main ${ARG_LINKS})
  if(ARG_DEVICE_SOURCES)
    charter_add_device_sources(${name} SOURCES ${ARG_DEVICE_SOURCES} LINKS charter_test_main ${ARG_LINKS})
  endif()
  target_compile_options(${name} PRIVATE ${charter_test_optimisation})
  if(NOT ARG_SEPARATE_FILES)
    charter_compile_together(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  charter_test_settings(${name} ${ARG_KIND} ${ARG_TIMEOUT} ${ARG_LABELS})
  set_tests_properties(${name} PROPERTIES PROCESSORS ${ARG_PROCESSORS}
                                          SKIP_REGULAR_EXPRESSION "CHARTER_TEST_SKIPPED")
endfunction()

# charter_rank_test(NAME RANKS 1 2 4 SOURCES ... LINKS ...): the same binary on several MPI rank counts, one ctest
# entry each (NAME.np2 ...). Ranks outnumber cores, so they must yield while they wait.
function(charter_rank_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS;RANKS" TIMEOUT 120 ${ARGN})
  charter_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE charter_rank_test_main ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${charter_test_optimisation})
  charter_compile_together(${name})
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME ${name}.np${ranks}
             COMMAND ${CMAKE_SOURCE_DIR}/scripts/mpirun.sh ${ranks} $<TARGET_FILE:${name}>)
    charter_test_settings(${name}.np${ranks} ranks ${ARG_TIMEOUT} np${ranks} ${ARG_LABELS})
    set_tests_properties(${name}.np${ranks} PROPERTIES PROCESSORS ${ranks})
  endforeach()
endfunction()
