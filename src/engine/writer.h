// SPDX-License-Identifier: Apache-2.0
// Writes engine files. The bytes are a pure function of program, constants, target and manifest: no time, no paths, no pointers.
//
// Constants are asked for one at a time and streamed, so a model may be larger than memory. Equal constants (by content hash) are stored once.
// The file appears under its name only when it is complete. Tested by src/engine/writer_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <rota/status.h>

#include "engine/target.h"
#include "runtime/program.h"

namespace rota::engine {

enum class WeightsPlace : std::uint8_t {
  kInside,
  kExternal,  ///< In "<engine>.<hash>.weights" beside the engine.
  kInPlace,  ///< Where they are: constants that are bytes of a mapped file stay there; the rest as kExternal.
  kStripped,  ///< Nowhere: only hashes are kept, and the bytes are given when the engine is loaded.
};

struct WriteOptions {
  Target target;         ///< rotaVersion is filled in.
  std::string manifest;  ///< JSON text.
  WeightsPlace weights = WeightsPlace::kInside;
};

struct WriteReport {
  std::uint64_t fileBytes = 0;     ///< Of the engine file.
  std::uint64_t weightsBytes = 0;  ///< Stored, inside or outside; stripped ones are counted too.
  std::uint64_t placedBytes = 0;   ///< Left in the files of the model.
  std::uint64_t planBytes = 0;
};

/// The bytes of one constant in its layout, as many as its ConstantInfo says; they need to live until the next call.
using ConstantBytes = std::function<Result<std::span<const std::byte>>(std::size_t constant)>;

/// `program` needs no offsets and hashes in its constants; they are found while writing.
Result<WriteReport> writeEngine(const std::string& path, const runtime::Program& program,
                                const ConstantBytes& constants, const WriteOptions& options);

}  // namespace rota::engine
