# SPDX-License-Identifier: Apache-2.0
# The engine schema: src/engine/schema/NAME.fbs becomes <build>/generated/engine/schema/NAME_generated.h, included as
# "engine/schema/NAME_generated.h".

file(GLOB ROTA_SCHEMAS CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/engine/schema/*.fbs")
set(ROTA_SCHEMA_HEADERS "")
foreach(schema IN LISTS ROTA_SCHEMAS)
  cmake_path(GET schema STEM name)
  set(folder "${CMAKE_BINARY_DIR}/generated/engine/schema")
  set(header "${folder}/${name}_generated.h")
  add_custom_command(
    OUTPUT "${header}"
    COMMAND "${ROTA_FLATC}" --cpp --cpp-std c++17 --scoped-enums -o "${folder}" -I "${CMAKE_SOURCE_DIR}/src/engine/schema"
            "${schema}"
    DEPENDS "${schema}" ${ROTA_SCHEMAS}
    COMMENT "flatc ${name}.fbs"
    VERBATIM)
  list(APPEND ROTA_SCHEMA_HEADERS "${header}")
endforeach()
add_custom_target(rota_schema DEPENDS ${ROTA_SCHEMA_HEADERS})
