# SPDX-License-Identifier: Apache-2.0
# What Rota needs from the system. Everything that is missing is reported at once, with the Debian package that has it.

set(ROTA_MISSING "")

# rota_need(FOUND WHAT PACKAGE): note WHAT as missing, to be had from PACKAGE, unless FOUND.
macro(rota_need found what package)
  if(NOT ${found})
    string(APPEND ROTA_MISSING "\n  ${what}: Debian package ${package}")
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(fmt QUIET)
rota_need(fmt_FOUND "fmt" libfmt-dev)
find_package(spdlog QUIET)
rota_need(spdlog_FOUND "spdlog" libspdlog-dev)
find_package(nlohmann_json QUIET)
rota_need(nlohmann_json_FOUND "nlohmann-json" nlohmann-json3-dev)
find_path(ROTA_ZLIB_INCLUDE zlib.h)
find_library(ROTA_ZLIB_LIBRARY z)
if(ROTA_ZLIB_INCLUDE AND ROTA_ZLIB_LIBRARY)
  set(zlib_FOUND TRUE)
endif()
rota_need(zlib_FOUND "zlib" zlib1g-dev)
find_package(CLI11 QUIET)
rota_need(CLI11_FOUND "CLI11" libcli11-dev)
# oneDNN's own CMake file asks for OpenCL, which we do not use.
find_path(ROTA_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(ROTA_DNNL_LIBRARY dnnl)
if(ROTA_DNNL_INCLUDE AND ROTA_DNNL_LIBRARY)
  set(dnnl_FOUND TRUE)
endif()
rota_need(dnnl_FOUND "oneDNN" libdnnl-dev)

find_path(ROTA_XXHASH_INCLUDE xxhash.h)
find_library(ROTA_XXHASH_LIBRARY xxhash)
if(ROTA_XXHASH_INCLUDE AND ROTA_XXHASH_LIBRARY)
  set(xxhash_FOUND TRUE)
endif()
rota_need(xxhash_FOUND "xxHash" libxxhash-dev)
find_path(ROTA_PROTOZERO_INCLUDE protozero/pbf_reader.hpp)
rota_need(ROTA_PROTOZERO_INCLUDE "protozero" libprotozero-dev)
find_path(ROTA_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h)
rota_need(ROTA_FLATBUFFERS_INCLUDE "FlatBuffers headers" libflatbuffers-dev)
find_program(ROTA_FLATC flatc)
rota_need(ROTA_FLATC "flatc, the FlatBuffers compiler" flatbuffers-compiler)

if(ROTA_BUILD_TESTS)
  find_package(GTest QUIET)
  rota_need(GTest_FOUND "GoogleTest" libgtest-dev)
  if(GTest_FOUND AND NOT TARGET GTest::gmock_main)
    string(APPEND ROTA_MISSING "\n  GoogleMock: Debian package libgmock-dev")
  endif()
endif()
if(ROTA_BUILD_BENCHMARKS)
  find_package(benchmark QUIET)
  rota_need(benchmark_FOUND "Google Benchmark" libbenchmark-dev)
endif()

if(ROTA_MISSING)
  message(FATAL_ERROR "Missing:${ROTA_MISSING}\n`make setup` installs all of them.")
endif()

# What the lean runtime may use, and what the compile side may use besides. --as-needed drops what nobody calls.
add_library(rota_dependencies_runtime INTERFACE)
target_include_directories(rota_dependencies_runtime SYSTEM INTERFACE "${ROTA_XXHASH_INCLUDE}" "${ROTA_FLATBUFFERS_INCLUDE}")
target_link_libraries(rota_dependencies_runtime INTERFACE "${ROTA_XXHASH_LIBRARY}" spdlog::spdlog fmt::fmt Threads::Threads
                                                          ${CMAKE_DL_LIBS})
add_library(rota_dependencies_compile INTERFACE)
target_include_directories(rota_dependencies_compile SYSTEM INTERFACE "${ROTA_PROTOZERO_INCLUDE}" "${ROTA_ZLIB_INCLUDE}")
target_link_libraries(rota_dependencies_compile INTERFACE rota_dependencies_runtime nlohmann_json::nlohmann_json CLI11::CLI11
                                                          "${ROTA_ZLIB_LIBRARY}")

add_library(rota_dependencies_onednn INTERFACE)
target_include_directories(rota_dependencies_onednn SYSTEM INTERFACE "${ROTA_DNNL_INCLUDE}")
target_link_libraries(rota_dependencies_onednn INTERFACE "${ROTA_DNNL_LIBRARY}")
