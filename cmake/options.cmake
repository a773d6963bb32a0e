# SPDX-License-Identifier: Apache-2.0
# Options, compiler flags and output folders.

option(ROTA_BUILD_TESTS "Build the unit tests" ON)
option(ROTA_BUILD_PROGRAMS "Build the rota program and the examples" ON)
option(ROTA_BUILD_BENCHMARKS "Build the programs under bench/" ON)
option(ROTA_BUILD_FUZZERS "Build the fuzzers under tests/fuzz (Clang only)" OFF)
set(ROTA_SANITIZE "" CACHE STRING "Sanitizers for everything, for example address,undefined or thread")
set(ROTA_KERNEL_OPTIMISATION "-O3" CACHE STRING "Optimisation level of the vector kernels, in every build type")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON) # a changed library does not relink what uses it

# -g1 keeps function names and lines for stack traces and profiles at a tenth of the cost of -g.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
# Both the build tree and the installed tree can be moved: programs find the libraries beside them.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")

# Work trees of one project share compiled objects: paths are hashed relative to the source folder.
find_program(ROTA_CCACHE ccache)
if(ROTA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros
      ${ROTA_CCACHE})
endif()

# The flags of our own code. Dependencies come in as SYSTEM and stay silent.
add_library(rota_options INTERFACE)
target_include_directories(rota_options INTERFACE "${CMAKE_SOURCE_DIR}/include" "${CMAKE_SOURCE_DIR}/src")
target_include_directories(rota_options SYSTEM INTERFACE "${CMAKE_BINARY_DIR}/generated")
target_compile_definitions(rota_options INTERFACE "ROTA_VERSION=\"${PROJECT_VERSION}\"" "ROTA_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\"")
target_compile_options(
  rota_options
  INTERFACE
    -Wall
    -Wextra
    -Wpedantic
    -Wconversion
    -Werror
    -Wno-psabi # vector types as arguments of inlined functions
    -ffp-contract=off # an FMA is a decision of a kernel, never of the compiler (N20, N21)
    "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=" # no path of the build machine in the program
)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(rota_options INTERFACE -fno-semantic-interposition)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of libstdc++ 12 uses a function that it has marked as deprecated.
  target_compile_options(rota_options INTERFACE -Wno-deprecated-declarations)
  # GCC's -Wconversion does not include -Wsign-conversion in C++; Clang's does. One rule for both.
  target_compile_options(rota_options INTERFACE -Wno-sign-conversion)
endif()

target_link_options(rota_options INTERFACE -Wl,--as-needed)
find_program(ROTA_LLD NAMES ld.lld-19)
if(ROTA_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 knows the linker by the word 'lld' only: give it a folder in which that word means version 19.
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/linker")
  file(CREATE_LINK "${ROTA_LLD}" "${CMAKE_BINARY_DIR}/linker/ld.lld" SYMBOLIC)
  target_link_options(rota_options INTERFACE "-B${CMAKE_BINARY_DIR}/linker" -fuse-ld=lld)
elseif(ROTA_LLD)
  target_link_options(rota_options INTERFACE "--ld-path=${ROTA_LLD}")
endif()

if(ROTA_SANITIZE)
  target_compile_options(rota_options INTERFACE "-fsanitize=${ROTA_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rota_options INTERFACE "-fsanitize=${ROTA_SANITIZE}")
endif()
if(ROTA_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "The fuzzers need Clang: use `cmake --preset fuzz`.")
  endif()
  target_compile_options(rota_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
