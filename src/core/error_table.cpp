// SPDX-License-Identifier: Apache-2.0
// The texts of `rota explain` and the exit codes. The rows are the cases of one switch without a default, so that the
// compiler refuses a code of error_code.h that has no row (-Wswitch) or has two; the sorted table is computed from it.
// Tested by src/core/error_table_test.cpp.
// lint: table
#include "core/error_table.h"

#include <array>
#include <cstddef>

namespace rota {
namespace {

constexpr int kFailed = 1, kWrongUsage = 2, kAccuracyMissed = 3, kEngineMismatch = 4, kStopped = 5,
              kUnsupported = 6, kNoRoom = 7, kNoTime = 8;

/// The row of `code`; one without a title for numbers that no code has.
constexpr ErrorInfo rowOf(ErrorCode code) {  // NOLINT(readability-function-size): a table
  const auto row = [code](int exitCode, const char* title, const char* explanation) {
    return ErrorInfo{code, exitCode, title, explanation};
  };
  switch (code) {
    case ErrorCode::kOk: break;
    case ErrorCode::kUsage:
      return row(kWrongUsage, "wrong usage",
                 "The command line or an API call does not make sense: an option that does not exist, a "
                 "value that does not parse, two "
                 "options that exclude each other, or a required one that is missing. The message names the "
                 "option. `rota COMMAND --help` "
                 "lists the options of a command with an example.");
    case ErrorCode::kUnknownKnob:
      return row(kWrongUsage, "unknown knob",
                 "A build route sets a knob that this version does not have. Usual causes are a typing error "
                 "and a route written for another "
                 "version. `rota knobs` lists all knobs; the message proposes the nearest name.");
    case ErrorCode::kBadRoute:
      return row(kWrongUsage, "build route does not parse",
                 "A build route or a tuning expression has a syntax error, or gives a knob a value outside "
                 "its domain. The message shows the "
                 "position and the values that are allowed. `rota knobs NAME` prints the domain of a knob.");
    case ErrorCode::kUnknownName:
      return row(kWrongUsage, "unknown name",
                 "An option or a call names an input, output, symbol or node that the model does not have. "
                 "Names are case-sensitive and are "
                 "those of the model file. `rota inspect` prints the names of inputs, outputs and symbols.");
    case ErrorCode::kBadDevice:
      return row(
          kWrongUsage, "device not available",
          "The device that was asked for is not in this machine, or its driver or libraries cannot be used. "
          "Rota never falls back from a "
          "device that was named. `rota devices` lists what was found and why the others cannot be used.");
    case ErrorCode::kNotAModel:
      return row(kFailed, "not an ONNX model",
                 "The file is not a serialised ONNX ModelProto. Usual causes: a download that saved a web "
                 "page or a Git LFS pointer instead of "
                 "the model, a file of another framework, or a compressed archive. Export the model to ONNX, "
                 "or fetch the real file.");
    case ErrorCode::kModelTruncated:
      return row(kFailed, "the model file ends too early",
                 "The file starts like an ONNX model but ends in the middle of a field. Usually a download "
                 "or a copy was cut off. Compare the "
                 "size with the source and fetch the file again.");
    case ErrorCode::kModelInvalid:
      return row(kFailed, "invalid model",
                 "The file parses, but the graph in it breaks a rule of the ONNX standard: a missing graph, "
                 "a tensor whose data does not match "
                 "its dims, an attribute without a value. The message names the element. The program that "
                 "wrote the model should be fixed; "
                 "`onnx.checker` of the onnx package usually reports the same place.");
    case ErrorCode::kModelTooDeep:
      return row(kFailed, "nested too deep",
                 "Subgraphs (If, Loop, Scan) or model functions are nested deeper than the limit, or a "
                 "function calls itself. Real models stay "
                 "far below the limit, so a damaged or hostile file is the likely cause.");
    case ErrorCode::kExternalData:
      return row(kFailed, "external data cannot be used",
                 "The model keeps weights in files beside it, and one of them is missing, is shorter than "
                 "the model says, or has a path that "
                 "leads outside the folder of the model (which is refused for safety). Keep the data files "
                 "in the folder of the model under "
                 "the names that the message shows.");
    case ErrorCode::kModelTooLarge:
      return row(kFailed, "a size beyond the limits",
                 "A count, a dim or the product of dims in the model is larger than can be represented or "
                 "than the limits allow. In a "
                 "sound model this means a dim was exported wrongly (for example a negative number read as "
                 "unsigned); otherwise the file is "
                 "damaged.");
    case ErrorCode::kUnsupportedOperator:
      return row(kUnsupported, "unsupported operator",
                 "The model uses an operator that this version does not have. `rota check` lists every such "
                 "node at once. Options: a newer "
                 "version of Rota, exporting at another opset so that the exporter writes the operator as "
                 "simpler ones, or replacing the part "
                 "of the model.");
    case ErrorCode::kUnsupportedVersion:
      return row(kUnsupported, "unsupported version",
                 "The model uses an ONNX IR version or an operator-set version that this version of Rota "
                 "does not know. Convert the model with "
                 "`onnx.version_converter`, export it at an opset that the message names, or use a newer "
                 "version of Rota.");
    case ErrorCode::kUnsupportedType:
      return row(kUnsupported, "unsupported type",
                 "An operator is used with an element type, or a kind of value (sequence, optional, map), "
                 "that is not supported there. The "
                 "message lists the types that are. Often a Cast before and after the node, or another "
                 "export precision, solves it.");
    case ErrorCode::kShapeMismatch:
      return row(
          kFailed, "shapes do not fit",
          "An operator got shapes that it cannot combine. The message gives both shapes in the names of the "
          "model. Where an input of the "
          "model is dynamic, look at the shapes that were set for it; else the model was exported wrongly.");
    case ErrorCode::kTypeMismatch:
      return row(kFailed, "types do not fit",
                 "An operator got element types that its definition does not allow together, or a value has "
                 "another type than the model "
                 "declares for it. The model was exported or edited wrongly; a Cast before the node is the "
                 "usual repair.");
    case ErrorCode::kBadAttribute:
      return row(kFailed, "bad attribute",
                 "An attribute of a node is missing although it is required, has the wrong type, or a value "
                 "outside its range. The message gives "
                 "what the operator allows.");
    case ErrorCode::kMissingInput:
      return row(kFailed, "a required input of a node is missing",
                 "A node leaves out an input that its operator requires, or gives fewer inputs than the "
                 "operator has. The model was exported or "
                 "edited wrongly.");
    case ErrorCode::kBadGraph:
      return row(kFailed, "graph is not well-formed",
                 "The nodes do not form a valid graph: a value is used that nothing defines, a value is "
                 "defined twice, nodes depend on each "
                 "other in a circle, or a name is used for two things. The model was exported or edited "
                 "wrongly; the message names the value.");
    case ErrorCode::kNotAnEngine:
      return row(kEngineMismatch, "not an engine file",
                 "The file does not begin like an engine of Rota. Usual causes: the path of the model was "
                 "given instead of the engine's, or the "
                 "engine belongs to another runtime. Build one with `rota build MODEL.onnx -o ENGINE`.");
    case ErrorCode::kEngineDamaged:
      return row(kEngineMismatch, "engine file is damaged",
                 "The engine was cut off or its content changed after it was written: a checksum or a bound "
                 "does not hold. Nothing of it was "
                 "run. Copy the file again or build it again.");
    case ErrorCode::kEngineVersion:
      return row(kEngineMismatch, "engine of another version",
                 "The engine was written in a format that this version does not read. The message gives the "
                 "version it was built with and the "
                 "ones that can be read. Build the engine again with this version, or run it with the one "
                 "that built it.");
    case ErrorCode::kEngineTarget:
      return row(kEngineMismatch, "engine built for other hardware",
                 "The engine holds code for a processor, a GPU or a library version that this machine does "
                 "not have. The message gives both "
                 "sides. Build the engine on this machine, or for it with `--cpu` or `--arch`.");
    case ErrorCode::kInputMissing:
      return row(kFailed, "an input was not given",
                 "The model has an input without a default for which no data was bound. The message lists "
                 "the inputs. Give it with "
                 "`--inputs NAME=FILE` or bind it before the run.");
    case ErrorCode::kInputShape:
      return row(kFailed, "input of the wrong shape",
                 "An input has another rank than the model declares, or differs in a dim that is fixed. The "
                 "message shows both shapes with the "
                 "names of the dims.");
    case ErrorCode::kInputType:
      return row(kFailed, "input of the wrong type",
                 "An input has another element type than the model or `--io` declares. Rota does not convert "
                 "inputs by itself, because that would "
                 "hide a mistake. Convert the data, or declare the type with `--io NAME=TYPE` at build.");
    case ErrorCode::kShapeGuard:
      return row(kFailed, "dims that must be equal are not",
                 "Two dims were taken as equal while compiling, because an operator of the model needs them "
                 "to be, but the inputs of this request give "
                 "them different sizes. The message names both dims and the node that ties them. The inputs "
                 "do not belong together.");
    case ErrorCode::kOutOfProfile:
      return row(kFailed, "shape outside the profile",
                 "A dim of an input lies outside the range of every optimization profile that the engine was "
                 "built with. The message gives the "
                 "range. Use inputs inside it, or build again with a wider `--profile`.");
    case ErrorCode::kBadIndex:
      return row(kFailed, "index out of range",
                 "While running, an index (of Gather, Scatter, Slice, an embedding, a label) lay outside its "
                 "table. Nothing outside the table was "
                 "read or written. The message names the node; the usual cause is input data that does not "
                 "suit the model, such as token numbers "
                 "of another vocabulary.");
    case ErrorCode::kBadInputData:
      return row(kFailed, "input file does not parse",
                 "A data file (.npy, .npz, .pb, .bin, .json) is damaged, has an element type that is not "
                 "supported, or a size that does not match the "
                 "input. The message gives what was found at which place.");
    case ErrorCode::kOutputBuffer:
      return row(
          kFailed, "output buffer too small",
          "The memory that the caller gave for an output is smaller than the result. The message gives both "
          "sizes. Sizes that depend on "
          "data have an upper bound, which can be asked for before the run; or use the allocator callback.");
    case ErrorCode::kDivisionByZero:
      return row(kFailed, "integer division by zero",
                 "While running, an integer Div or Mod had a zero divisor, for which there is no result. The "
                 "message names the node. Look at "
                 "the input data from which the divisor is computed.");
    case ErrorCode::kFileNotFound:
      return row(kFailed, "file not found",
                 "There is no file of this name. The message shows the path as it was tried; relative paths "
                 "start at the working folder.");
    case ErrorCode::kFileRead:
      return row(kFailed, "file cannot be read",
                 "The file exists but cannot be read: no permission, a folder or device instead of a regular "
                 "file, or an error of the "
                 "disk or network it lies on. The message carries the reason of the system.");
    case ErrorCode::kFileWrite:
      return row(kFailed, "file cannot be written",
                 "The file cannot be created or replaced: the folder does not exist, is read-only or belongs "
                 "to someone else, or the path names "
                 "a folder or device. What was there before is unchanged. The message carries the reason of "
                 "the system.");
    case ErrorCode::kDiskFull:
      return row(kNoRoom, "disk full",
                 "The disk or the quota has no room for the file. The incomplete file was removed, and one "
                 "of the same name from before "
                 "is unchanged. Free some space, or write to another disk.");
    case ErrorCode::kOutOfMemory:
      return row(kNoRoom, "out of memory",
                 "Memory that the job needs could not be had, or a limit given by `--memory` or "
                 "`--workspace` leaves too little. The message gives "
                 "the amount. Smaller shapes or profiles, fewer parallel contexts, or a higher limit help.");
    case ErrorCode::kLibraryMissing:
      return row(
          kEngineMismatch, "a library or a kernel is missing",
          "The engine needs a shared library (for example oneDNN or a GPU library) that cannot be "
          "opened here or has a version that it cannot use, or a kernel that this build of the runtime "
          "does not have. `rota devices` lists the libraries that were found; the engine can be built "
          "again with what is here.");
    case ErrorCode::kAccuracy:
      return row(kAccuracyMissed, "accuracy limit not met",
                 "The outputs differ from the reference by more than the threshold that was set. The message "
                 "gives metric, value, threshold "
                 "and output. `rota compare` finds the node where the difference begins; a higher precision "
                 "for it usually repairs it.");
    case ErrorCode::kInterrupted:
      return row(kStopped, "interrupted",
                 "The job was stopped by Ctrl-C or SIGTERM. What was learnt until then is saved, and files "
                 "that were complete stay valid. "
                 "Starting the same command again goes on from there where the command keeps a cache.");
    case ErrorCode::kTimeLimit:
      return row(kNoTime, "time limit reached with nothing valid",
                 "The time that was allowed ended before one valid result existed. Give more time, or ask "
                 "for less: a lower `--level` builds "
                 "a valid engine from predicted times within seconds.");
    case ErrorCode::kInternal:
      return row(kFailed, "internal error",
                 "This is a bug in Rota, not a mistake of yours. Please report it with the message, the "
                 "output of `rota version`, and if possible "
                 "the model or a part of it that shows the error.");
  }
  return {ErrorCode::kOk, 0, nullptr, nullptr};
}

constexpr int kFirstNumber = 1000;
constexpr int kLastNumber = 1999;

consteval std::size_t rowCount() {
  std::size_t rows = 0;
  for (int number = kFirstNumber; number <= kLastNumber; ++number) {
    if (rowOf(static_cast<ErrorCode>(number)).title != nullptr) ++rows;
  }
  return rows;
}

consteval auto makeTable() {
  std::array<ErrorInfo, rowCount()> table{};
  std::size_t next = 0;
  for (int number = kFirstNumber; number <= kLastNumber; ++number) {
    const ErrorInfo row = rowOf(static_cast<ErrorCode>(number));
    if (row.title != nullptr) table[next++] = row;
  }
  return table;
}

constexpr auto kTable = makeTable();

}  // namespace

std::span<const ErrorInfo> errorTable() { return kTable; }

const ErrorInfo* findErrorInfo(ErrorCode code) {
  for (const ErrorInfo& row : kTable) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

int exitCodeOf(ErrorCode code) {
  if (code == ErrorCode::kOk) return 0;
  const ErrorInfo* row = findErrorInfo(code);
  return row != nullptr ? row->exitCode : kFailed;
}

}  // namespace rota
