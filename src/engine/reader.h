// SPDX-License-Identifier: Apache-2.0
// Opens engine files. Safe on any bytes: nothing of a file is trusted, mapped executable or run here (decisions N13, N14).
//
// Level 1: header, section table, bounds and hashes, FlatBuffers verification. Level 2: runtime::validate, and every constant inside the
// weights. Weights are hashed only on demand. Tested by src/engine/writer_damage_test.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <rota/status.h>

#include "core/file.h"
#include "engine/container.h"
#include "engine/places.h"
#include "engine/target.h"
#include "runtime/program.h"

namespace rota::engine {

struct ReadOptions {
  bool verifyWeights = false;
  bool checkTarget = true;  ///< False to inspect engines of other machines.
  bool attachWeights =
      true;  ///< False: engines whose weights lie elsewhere open without them; constantData then has no addresses.
  /// Where weights are that are not in the engine: a weights file or another engine of the same model (stripped engines), or the folder with
  /// the model's data files.
  std::string weightsFrom{};
  bool nativeCode = true;  ///< False: only engines that need no more than the generic target (N14).
};

/// An engine file whose plan has been verified and validated. Immutable.
struct EngineFile {
  std::shared_ptr<const MappedFile> file;
  std::shared_ptr<const MappedFile> weightsFile;  ///< Set when the weights lie in a file of their own.
  Container container;
  std::shared_ptr<const runtime::Program> program;
  Target target;
  std::string_view manifest;
  std::span<const std::byte> weights;
  Places places;         ///< Constants that stay in files of the model.
  FoundConstants found;  ///< Constants that are not in `weights`.

  bool isPlaced(std::size_t constant) const;
  /// nullptr when the weights are not attached.
  const std::byte* constantData(std::size_t constant) const;
};

Result<std::shared_ptr<const EngineFile>> readEngine(const std::string& path,
                                                     const ReadOptions& options = {});

}  // namespace rota::engine
