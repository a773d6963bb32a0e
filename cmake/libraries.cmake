# SPDX-License-Identifier: Apache-2.0
# The shared libraries, from the objects of the components.
#   librota_runtime   what a process that only runs engines needs
#   librota           import, compile, tune; stands on librota_runtime
#   librota_onednn    loadable module beside librota_runtime, opened only if a plan names it

function(rota_shared_library target side)
  get_property(objects GLOBAL PROPERTY "ROTA_OBJECTS_${side}")
  if(NOT objects)
    return()
  endif()
  add_library(${target} SHARED)
  rota_link_objects(${target} ${objects})
  target_link_libraries(${target} PRIVATE rota_options)
  if(NOT ROTA_SANITIZE) # sanitizers leave their own symbols to the program
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  set_target_properties(
    ${target}
    PROPERTIES LINKER_LANGUAGE CXX
               INSTALL_RPATH "$ORIGIN"
               VERSION "${PROJECT_VERSION}"
               SOVERSION "${PROJECT_VERSION_MAJOR}")
  add_library(rota::${target} ALIAS ${target})
endfunction()

rota_shared_library(rota_runtime_shared runtime)
if(TARGET rota_runtime_shared)
  set_target_properties(rota_runtime_shared PROPERTIES OUTPUT_NAME rota_runtime EXPORT_NAME runtime)
  target_link_libraries(rota_runtime_shared PRIVATE rota_dependencies_runtime)
endif()
rota_shared_library(rota_shared compile)
if(TARGET rota_shared)
  set_target_properties(rota_shared PROPERTIES OUTPUT_NAME rota EXPORT_NAME rota)
  target_link_libraries(rota_shared PRIVATE rota_dependencies_compile PUBLIC rota_runtime_shared)
endif()

if(TARGET rota_onednn)
  # The component is an OBJECT library; the module is what gets loaded.
  add_library(rota_onednn_module MODULE)
  rota_link_objects(rota_onednn_module rota_onednn)
  target_link_libraries(rota_onednn_module PRIVATE rota_options rota_runtime_shared rota_dependencies_onednn)
  set_target_properties(rota_onednn_module PROPERTIES LINKER_LANGUAGE CXX PREFIX lib OUTPUT_NAME rota_onednn
                                                      INSTALL_RPATH "$ORIGIN")
endif()

# Tests that stand on the shared libraries.
get_property(tests GLOBAL PROPERTY ROTA_TESTS_SHARED)
foreach(test IN LISTS tests)
  foreach(library rota_runtime_shared rota_shared)
    if(TARGET ${library})
      target_link_libraries(${test} PRIVATE ${library})
    endif()
  endforeach()
  if(TARGET rota_onednn_module)
    add_dependencies(${test} rota_onednn_module)
  endif()
endforeach()
if(TARGET rota_cli_test AND TARGET rota_cli)
  rota_link_objects(rota_cli_test rota_cli)
endif()

# `ninja rota_tests` builds every test program.
get_property(programs GLOBAL PROPERTY ROTA_TEST_PROGRAMS)
add_custom_target(rota_tests DEPENDS ${programs})
