# SPDX-License-Identifier: Apache-2.0
# rota_component: one stage of the data's way, one folder of src/.
#
#   rota_component(NAME [FOLDER path] [ONLY regex] [EXCEPT regex] [SOURCES_EXCEPT regex]
#                  [DEPENDS component...] [LIBRARY runtime|compile] [TESTS shared] [LABEL null|cpu] [UNITY files])
#
# All *.cpp below src/FOLDER (default: NAME) whose path inside it matches ONLY and not EXCEPT form the OBJECT library
# rota_NAME; objects, not an archive, so that leaves which register themselves are never dropped. SOURCES_EXCEPT leaves
# out sources, not tests. LIBRARY names the shared library that takes the objects. *_test.cpp form one GoogleTest
# program, rota_NAME_test: one ctest entry with LABEL. UNITY compiles so many sources at once: for folders of many small
# files, whose names at namespace scope must then be unique in the folder.
#
# The tests of a low component link its objects and those of its dependencies only: it builds without the rest, and an
# upward use fails to link. TESTS shared links the two shared libraries instead, for components that load modules.
#
# A folder without sources is silently fine. tools/lint.py reads these calls as its table of allowed includes.

function(rota_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;ONLY;EXCEPT;SOURCES_EXCEPT;LIBRARY;TESTS;LABEL;UNITY" "DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rota_component(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER "${name}")
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL null)
  endif()

  set(root "${CMAKE_SOURCE_DIR}/src/${arg_FOLDER}")
  file(GLOB_RECURSE files RELATIVE "${root}" CONFIGURE_DEPENDS "${root}/*.cpp")
  set(sources "")
  set(tests "")
  foreach(file IN LISTS files)
    if((arg_ONLY AND NOT file MATCHES "${arg_ONLY}") OR (arg_EXCEPT AND file MATCHES "${arg_EXCEPT}"))
      continue()
    elseif(file MATCHES "_test\\.cpp$")
      list(APPEND tests "${root}/${file}")
    elseif(NOT arg_SOURCES_EXCEPT OR NOT file MATCHES "${arg_SOURCES_EXCEPT}")
      list(APPEND sources "${root}/${file}")
    endif()
  endforeach()

  # The objects that a test of this component needs, those of lower components first.
  set(closure "")
  foreach(dependency IN LISTS arg_DEPENDS)
    get_property(known GLOBAL PROPERTY "ROTA_DECLARED_${dependency}")
    if(NOT known)
      message(FATAL_ERROR "rota_component(${name}): ${dependency} must be declared before it")
    endif()
    get_property(lower GLOBAL PROPERTY "ROTA_CLOSURE_${dependency}")
    list(APPEND closure ${lower})
  endforeach()

  if(sources)
    add_library(rota_${name} OBJECT ${sources})
    rota_internal_target(rota_${name})
    if(arg_UNITY)
      set_target_properties(rota_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${arg_UNITY})
    endif()
    list(APPEND closure rota_${name})
    if(arg_LIBRARY)
      set_property(GLOBAL APPEND PROPERTY "ROTA_OBJECTS_${arg_LIBRARY}" rota_${name})
    endif()
  endif()
  list(REMOVE_DUPLICATES closure)
  set_property(GLOBAL PROPERTY "ROTA_CLOSURE_${name}" ${closure})
  set_property(GLOBAL PROPERTY "ROTA_DECLARED_${name}" TRUE)

  if(tests AND ROTA_BUILD_TESTS)
    add_executable(rota_${name}_test ${tests})
    rota_internal_target(rota_${name}_test)
    target_link_libraries(rota_${name}_test PRIVATE GTest::gmock_main)
    # Test code runs once; compiling it is what takes time. What it tests keeps its optimisation.
    target_compile_options(rota_${name}_test PRIVATE -O0)
    set_target_properties(rota_${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    set_property(GLOBAL APPEND PROPERTY ROTA_TEST_PROGRAMS rota_${name}_test)
    if(arg_TESTS STREQUAL "shared")
      set_property(GLOBAL APPEND PROPERTY ROTA_TESTS_SHARED rota_${name}_test)
    else()
      rota_link_objects(rota_${name}_test ${closure})
    endif()
    # Tests run from the source folder, so that they find tests/ by a relative path.
    add_test(NAME ${name} COMMAND rota_${name}_test WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT 300)
  endif()
endfunction()

# Flags and include folders of our own code.
function(rota_internal_target target)
  target_link_libraries(${target} PRIVATE rota_options rota_dependencies_compile)
  add_dependencies(${target} rota_schema)
endfunction()

# Objects of OBJECT libraries, without their usage requirements.
function(rota_link_objects target)
  foreach(library IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${library}>)
  endforeach()
endfunction()

# rota_vector_kernels(NAME FOLDER path LIBRARY runtime): compiles every source of the folder once per instruction set,
# each time with ROTA_SIMD_NAMESPACE naming the namespace its code must live in. tools/lint.py --link checks that no
# shared inline function leaks out of the wider variants, where the linker might pick it for a machine without them.
function(rota_vector_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;LIBRARY;FOR" "")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${arg_FOLDER}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  if(NOT sources)
    return()
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(variants v1 v2 v3 v4)
    set(flags_v1 -march=x86-64)
    set(flags_v2 -march=x86-64-v2)
    set(flags_v3 -march=x86-64-v3)
    set(flags_v4 -march=x86-64-v4 -mprefer-vector-width=512)
  else()
    set(variants generic)
    set(flags_generic "")
  endif()
  foreach(variant IN LISTS variants)
    set(target rota_${name}_${variant})
    add_library(${target} OBJECT ${sources})
    rota_internal_target(${target})
    target_compile_definitions(${target} PRIVATE ROTA_SIMD_NAMESPACE=${variant})
    target_compile_options(${target} PRIVATE ${ROTA_KERNEL_OPTIMISATION} ${flags_${variant}})
    set_property(GLOBAL APPEND PROPERTY "ROTA_OBJECTS_${arg_LIBRARY}" ${target})
    set_property(GLOBAL APPEND PROPERTY "ROTA_CLOSURE_${arg_FOR}" ${target})
  endforeach()
endfunction()
