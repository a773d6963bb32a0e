// SPDX-License-Identifier: Apache-2.0
// Constants that are not in the engine: left in the model's own files, or to be given when the engine is loaded.
//
// A place is a file, an offset and, from the plan, the hash of the bytes: what somebody else may rewrite is only used when it still hashes to
// what was built with. So loading reads these bytes once; they stay mapped, nothing is copied. Tested by src/engine/writer_places_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/status.h>

#include "core/file.h"
#include "runtime/program.h"

namespace rota::engine {

struct Place {
  std::uint32_t constant = 0;
  std::uint32_t file = 0;  ///< Index into Places::files.
  std::uint64_t offset = 0;
};

struct Places {
  struct File {
    std::string name;  ///< Relative to the engine's folder.
    std::uint64_t bytes = 0;
  };
  std::vector<File> files;
  std::vector<Place> constants;  ///< In ascending order of `constant`.
};

std::string packPlaces(const Places& places);
/// Bounds and order against `program`; the files are not looked at. `name` is the engine, for messages.
Result<Places> readPlaces(std::span<const std::byte> section, const runtime::Program& program,
                          const std::string& name);

/// Addresses of constants found outside, and what keeps them mapped.
struct FoundConstants {
  std::map<std::size_t, const std::byte*> data;
  std::vector<std::shared_ptr<const void>> keepers;
};

/// Maps the files of `places` (in `folder`, if given, by their last name; else where they are named, or beside the engine) and checks the
/// bytes by their hashes.
Status findPlaced(const Places& places, const runtime::Program& program, const std::string& engine,
                  const std::string& folder, FoundConstants& found);

/// The path of `file` as seen from the folder of `engine`.
std::string relativeTo(const std::string& engine, const std::string& file);

}  // namespace rota::engine
