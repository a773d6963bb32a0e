// SPDX-License-Identifier: Apache-2.0
// The container of engine files (decision N12): a header, sections, a section table. All numbers are little-endian.
//
// The first 48 bytes (magic, format version, header size, writer) keep their meaning in every version, so that any Rota can say what built a
// file. Sections start at multiples of 64 (weights: 4096) and are hashed one by one; the bytes between them are zero, which is checked: no
// byte outside of the weights can change unnoticed. Weights are hashed in chunks of 1 MiB, and only checked on demand (N13).
// Reading allocates nothing that the file can choose the size of. Tested by src/engine/writer_damage_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rota/status.h>

#include "core/hash.h"

namespace rota::engine {

inline constexpr std::array<char, 8> kEngineMagic = {'R', 'O', 'T', 'A', 'E', 'N', 'G', '\0'};
inline constexpr std::array<char, 8> kWeightsMagic = {'R', 'O', 'T', 'A', 'W', 'G', 'T', '\0'};
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::size_t kSectionAlignment = 64;
inline constexpr std::size_t kWeightsAlignment = 4096;
inline constexpr std::size_t kWeightChunk = std::size_t{1} << 20;
inline constexpr std::uint64_t kPlanLimit = std::uint64_t{1} << 30;
inline constexpr std::uint32_t kMaxSections = 1024;

enum class SectionKind : std::uint32_t {
  kPlan = 1,          ///< FlatBuffers, schema/plan.fbs.
  kCode = 2,          ///< Machine code of one target; none is written yet.
  kWeights = 3,       ///< The bytes of the constants.
  kWeightHashes = 4,  ///< 16 bytes for every chunk of the weights.
  kRecipes = 5,       ///< FlatBuffers, schema/recipes.fbs.
  kManifest = 6,      ///< JSON text.
  kExternalName =
      7,        ///< Name of the file beside the engine that holds the weights; none when they were stripped.
  kPlaces = 8,  ///< FlatBuffers, schema/places.fbs: constants that lie in files of the model.
};

/// The weights lie in the file that the kExternalName section names, or, without such a section, are given when the engine is loaded.
inline constexpr std::uint32_t kSectionExternal = 1;

struct Header {
  std::array<char, 8> magic{};
  std::uint32_t formatVersion = 0;
  std::uint32_t headerBytes = 0;
  std::array<char, 32> writer{};  ///< "Rota 0.1.0", zero-padded.
  std::uint64_t fileBytes = 0;
  std::uint64_t tableOffset = 0;
  std::uint32_t sectionCount = 0;
  std::uint32_t flags = 0;
  Hash128 tableHash;
  std::array<std::uint64_t, 3> reserved{};
  Hash128 headerHash;  ///< Of all bytes before it.
};
static_assert(sizeof(Header) == 128);

struct Section {
  std::uint32_t kind = 0;
  std::uint32_t target = 0;  ///< 0: every target.
  std::uint32_t flags = 0;
  std::uint32_t reserved = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  Hash128 hash;  ///< Of the section; for weights, of their chunk hashes.
  std::array<std::uint64_t, 2> reserved2{};
};
static_assert(sizeof(Section) == 64);

/// In front of the weights when they have a file of their own; the weights start at kWeightsAlignment.
struct WeightsHeader {
  std::array<char, 8> magic{};
  std::uint32_t formatVersion = 0;
  std::uint32_t reserved = 0;
  std::uint64_t weightsBytes = 0;
  Hash128 chunksHash;  ///< Equal to the hash of the engine's weights section.
  std::array<std::uint64_t, 1> reserved2{};
  Hash128 headerHash;
};
static_assert(sizeof(WeightsHeader) == 64);

/// "Rota 0.1.0".
std::string writerName();

/// A container whose header, table, and sections (except weights) have been verified.
struct Container {
  Header header;
  std::vector<Section> sections;
  std::span<const std::byte> bytes;

  const Section* find(SectionKind kind) const;
  std::span<const std::byte> content(const Section& section) const;
};

/// The first level of validation. `name` is the file, for messages.
Result<Container> openContainer(std::span<const std::byte> bytes, const std::string& name);

/// An error about a damaged engine file.
Status damaged(const std::string& name, std::string what);

}  // namespace rota::engine
