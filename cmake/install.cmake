# SPDX-License-Identifier: Apache-2.0
# What `make install PREFIX=...` puts where: the program, both libraries, the public headers, CMake and pkg-config files.
include(CMakePackageConfigHelpers)

set(installed "")
foreach(target rota_runtime_shared rota_shared)
  if(TARGET ${target})
    list(APPEND installed ${target})
  endif()
endforeach()
if(NOT installed)
  return()
endif()

install(TARGETS ${installed} EXPORT rotaTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(target rota rota_onednn_module)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endforeach()
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/rota" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/rota")

set(cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/rota")
install(EXPORT rotaTargets NAMESPACE rota:: DESTINATION "${cmake_folder}")
configure_package_config_file("${CMAKE_SOURCE_DIR}/cmake/rotaConfig.cmake.in" "${CMAKE_BINARY_DIR}/rotaConfig.cmake"
                              INSTALL_DESTINATION "${cmake_folder}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/rotaConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/rotaConfig.cmake" "${CMAKE_BINARY_DIR}/rotaConfigVersion.cmake" DESTINATION "${cmake_folder}")

foreach(name rota rota_runtime)
  set(ROTA_PC_NAME ${name})
  set(ROTA_PC_REQUIRES "")
  if(name STREQUAL "rota")
    set(ROTA_PC_REQUIRES "rota_runtime")
  endif()
  configure_file("${CMAKE_SOURCE_DIR}/cmake/rota.pc.in" "${CMAKE_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${CMAKE_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
