# charter_flags: the compiler flags of every Charter target. No -ffast-math; -ffp-contract=off, so that a fused
# multiply-add happens where the source says std::fma and nowhere else (docs/verify-mode.md).
add_library(charter_flags INTERFACE)
target_compile_options(charter_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                               -Wcast-align -Wimplicit-fallthrough -ffp-contract=off -fopenmp-simd)
# File names in messages and dumps are relative to the source tree, and a build is the same in any folder. The second
# form is what the compiler sees below ccache, which makes paths relative to the build folder (charter_options.cmake).
cmake_path(RELATIVE_PATH CMAKE_SOURCE_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE source_from_build)
target_compile_options(charter_flags INTERFACE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=
                                               -fmacro-prefix-map=${source_from_build}/=)
if(CHARTER_WERROR)
  target_compile_options(charter_flags INTERFACE -Werror)
endif()
if(CHARTER_NATIVE)
  target_compile_options(charter_flags INTERFACE -march=native)
endif()
if(CHARTER_SANITIZE)
  # A finding ends the program. -O1 and short debug information: what the sanitizers add makes -O2 cost several times the
  # time to compile. The assertions of the standard library see an index that ASan takes for a neighbour's memory. GCC
  # itself says that the sanitizers lead it to call what is initialised uninitialised.
  target_compile_options(charter_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                 -fno-omit-frame-pointer -O1 -g1
                                                 $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_definitions(charter_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(charter_flags INTERFACE -fsanitize=address,undefined)
endif()
if(CHARTER_FUZZ)
  # -O1: search speed against the minutes of a build. Every finding of the sanitizers ends the process.
  target_compile_options(charter_flags INTERFACE -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined
                                                 -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(charter_flags INTERFACE -fsanitize=address,undefined)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
target_include_directories(charter_flags INTERFACE ${CMAKE_SOURCE_DIR})
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  target_include_directories(charter_flags SYSTEM INTERFACE ${CMAKE_SOURCE_DIR}/cmake/clang14)
endif()

# charter_device_flags: what nvcc gets besides, on a device build. The flags above reach the host compiler through
# nvcc_wrapper. No fused multiply-adds of nvcc's own choice either, and a warning about a kernel (a host function called
# from one, say) is an error, because it means wrong code.
add_library(charter_device_flags INTERFACE)
target_compile_options(charter_device_flags INTERFACE --fmad=false)
if(CHARTER_WERROR)
  target_compile_options(charter_device_flags INTERFACE -Werror=all-warnings)
endif()
