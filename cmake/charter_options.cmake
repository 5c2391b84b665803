# What a person may choose with -D. Every choice that cannot be honoured is a configure error.
option(CHARTER_BUILD_TESTS "Build the tests" ON)
option(CHARTER_BUILD_BENCH "Build the benchmarks" ON)
option(CHARTER_WERROR "Warnings are errors" ON)
option(CHARTER_NATIVE "Optimise for the CPU of the build machine (-march=native)" ON)
option(CHARTER_COMPILE_TOGETHER "Compile several files at a time where a folder allows it" ON)
option(CHARTER_SANITIZE "Address and undefined-behaviour sanitizers" OFF)
option(CHARTER_FUZZ "The fuzz targets of tests/fuzz instead of the tests: clang with libFuzzer and both sanitizers" OFF)
set(CHARTER_TEST_TIME_SCALE 1 CACHE STRING "Time limits of the tests are multiplied by this whole number")
set(CHARTER_BLAS "onednn" CACHE STRING "Matrix products: onednn | cblas | cublas")
set_property(CACHE CHARTER_BLAS PROPERTY STRINGS onednn cblas cublas)
set(CHARTER_SHARED_DATA "${CMAKE_SOURCE_DIR}/../shared/data" CACHE PATH
    "Folder with real models, tokenizers and data for the tests; tests that need it are skipped without it")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CHARTER_CCACHE ccache)
if(CHARTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source tree count as relative: clones in different folders share what they compiled. ccache 4.7 does
  # not look at -fmacro-prefix-map; the namespace keeps objects apart that were compiled with another one.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_NAMESPACE=charter-relative-paths ${CHARTER_CCACHE})
endif()
