// SPDX-License-Identifier: Apache-2.0
// The stable error codes of Rota. A number is never reused; `rota explain R1101` prints the long text.
//
// The explanations and the process exit code of each stand in src/core/error_table.cpp, which refuses to compile
// when a code of this list has no row there.
#pragma once

#include <cstdint>

namespace rota {

enum class ErrorCode : std::uint16_t {
  kOk = 0,
  // 10xx: how Rota was called.
  kUsage = 1001,        ///< Wrong command line or API call.
  kUnknownKnob = 1002,  ///< A route names a knob that does not exist.
  kBadRoute = 1003,     ///< A route or expression that does not parse.
  kUnknownName = 1004,  ///< An input, output, symbol or file name that nothing has.
  kBadDevice = 1005,    ///< A device that is not there.
  // 11xx: the model file.
  kNotAModel = 1101,       ///< The bytes are not an ONNX model.
  kModelTruncated = 1102,  ///< The model ends in the middle of a field.
  kModelInvalid = 1103,    ///< A structurally wrong graph.
  kModelTooDeep = 1104,    ///< Subgraphs or functions nested too deep, or recursive.
  kExternalData = 1105,    ///< External data that is missing, out of bounds or outside the model folder.
  kModelTooLarge = 1106,   ///< A size, count or product beyond the limits.
  // 12xx: the graph.
  kUnsupportedOperator = 1201,
  kUnsupportedVersion = 1202,
  kUnsupportedType = 1203,
  kShapeMismatch = 1204,  ///< Shapes that an operator cannot combine.
  kTypeMismatch = 1205,
  kBadAttribute = 1206,
  kMissingInput = 1207,
  kBadGraph = 1208,  ///< Cycle, value defined twice, value never defined.
  // 13xx: the engine file.
  kNotAnEngine = 1301,
  kEngineDamaged = 1302,
  kEngineVersion = 1303,  ///< Written by another format version.
  kEngineTarget = 1304,   ///< Built for other hardware or libraries.
  // 14xx: inputs, shapes and data of a request.
  kInputMissing = 1401,
  kInputShape = 1402,
  kInputType = 1403,
  kShapeGuard = 1404,      ///< Two dims that must be equal are not.
  kOutOfProfile = 1405,    ///< A dim outside its profile.
  kBadIndex = 1406,        ///< An index outside its table, found while running.
  kBadInputData = 1407,    ///< An input file that does not parse.
  kOutputBuffer = 1408,    ///< A caller's output buffer that is too small.
  kDivisionByZero = 1409,  ///< Integer division by zero while running.
  // 15xx: files and the system.
  kFileNotFound = 1501,
  kFileRead = 1502,
  kFileWrite = 1503,
  kDiskFull = 1504,
  kOutOfMemory = 1505,
  kLibraryMissing = 1506,  ///< A shared library that the plan needs cannot be opened.
  // 16xx: results.
  kAccuracy = 1601,
  kInterrupted = 1602,
  kTimeLimit = 1603,
  // 19xx: bugs.
  kInternal = 1901,
};

}  // namespace rota
