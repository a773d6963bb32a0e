// SPDX-License-Identifier: Apache-2.0
#include "engine/container.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/check.h"
#include "engine/recognize.h"

static_assert(std::endian::native == std::endian::little, "engine files are read and written in place");

namespace rota::engine {

namespace {

constexpr std::size_t kStablePrefix = 48;

std::string printable(std::span<const char> text) {
  std::string clean;
  for (char c : text) {
    if (c == '\0') break;
    clean += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return clean.empty() ? "an unnamed program" : clean;
}

Status checkPrefix(std::span<const std::byte> bytes, const std::string& name) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < kEngineMagic.size() && i < bytes.size(); ++i)
    same += static_cast<char>(bytes[i]) == kEngineMagic[i] ? 1 : 0;
  if (same + 2 < kEngineMagic.size() && !(same == bytes.size() && same > 0))
    return Status(ErrorCode::kNotAnEngine, "This file is not a Rota engine")
        .at(name)
        .expected("an engine, as written by 'rota build MODEL.onnx -o ENGINE'")
        .found(recognize(bytes))
        .fix("name an engine file, or build one from the model first");
  if (bytes.size() < kStablePrefix)
    return damaged(name, "it ends inside the header, after " + std::to_string(bytes.size()) + " bytes");
  if (same != kEngineMagic.size())
    return damaged(name, "its first 8 bytes are not what an engine starts with");
  return Status::ok();
}

Status checkHeader(const Header& header, std::span<const std::byte> bytes, const std::string& name) {
  if (hashBytes(&header, offsetof(Header, headerHash)) != header.headerHash)
    return damaged(name, "the hash of its header does not match");
  if (header.headerBytes != sizeof(Header)) return damaged(name, "its header has an impossible size");
  if (header.fileBytes != bytes.size())
    return damaged(
        name, bytes.size() < header.fileBytes
                  ? "it has been cut off: " + std::to_string(bytes.size()) + " of " +
                        std::to_string(header.fileBytes) + " bytes are there"
                  : std::to_string(bytes.size() - header.fileBytes) + " bytes have been added at its end");
  if (header.sectionCount > kMaxSections || header.tableOffset % kSectionAlignment != 0 ||
      header.tableOffset > bytes.size() ||
      header.sectionCount * sizeof(Section) > bytes.size() - header.tableOffset)
    return damaged(name, "its section table lies outside of the file");
  return Status::ok();
}

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Ranges must not overlap, and what lies between them must be zero.
Status checkRanges(std::vector<Range> ranges, std::span<const std::byte> bytes, const std::string& name) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uint64_t end = 0;
  ranges.push_back({bytes.size(), bytes.size()});
  for (const Range& r : ranges) {
    if (r.begin < end) return damaged(name, "two of its sections overlap");
    const auto gap = bytes.subspan(end, r.begin - end);
    if (gap.size() > kWeightsAlignment ||
        std::any_of(gap.begin(), gap.end(), [](std::byte b) { return b != std::byte{0}; }))
      return damaged(name, "there are unexpected bytes between its sections, at " + std::to_string(end));
    end = r.end;
  }
  return Status::ok();
}

const char* nameOf(std::uint32_t kind) {
  switch (static_cast<SectionKind>(kind)) {
    case SectionKind::kPlan: return "plan";
    case SectionKind::kCode: return "code";
    case SectionKind::kWeights: return "weights";
    case SectionKind::kWeightHashes: return "weight hashes";
    case SectionKind::kRecipes: return "recipes";
    case SectionKind::kManifest: return "manifest";
    case SectionKind::kExternalName: return "external name";
    case SectionKind::kPlaces: return "places";
  }
  return "unknown";
}

Status checkSections(const Container& container, const std::string& name) {
  const std::uint64_t size = container.bytes.size();
  std::vector<Range> ranges = {{0, sizeof(Header)},
                               {container.header.tableOffset,
                                container.header.tableOffset + container.sections.size() * sizeof(Section)}};
  for (std::size_t i = 0; i < container.sections.size(); ++i) {
    const Section& s = container.sections[i];
    const std::string what = "its section " + std::to_string(i) + " (" + nameOf(s.kind) + ")";
    const bool external = (s.flags & kSectionExternal) != 0;
    if (external && s.kind != static_cast<std::uint32_t>(SectionKind::kWeights))
      return damaged(name, what + " cannot lie in another file");
    if (external) continue;
    if (s.offset % kSectionAlignment != 0 || s.offset > size || s.size > size - s.offset)
      return damaged(name, what + " lies outside of the file");
    if (s.size != 0) ranges.push_back({s.offset, s.offset + s.size});
  }
  ROTA_RETURN_IF_ERROR(checkRanges(std::move(ranges), container.bytes, name));
  for (std::size_t i = 0; i < container.sections.size(); ++i) {
    const Section& s = container.sections[i];
    if (s.kind == static_cast<std::uint32_t>(SectionKind::kWeights)) continue;
    const auto content = container.content(s);
    if (hashBytes(content.data(), content.size()) != s.hash)
      return damaged(name, std::string("the hash of its ") + nameOf(s.kind) + " section does not match");
  }
  return Status::ok();
}

}  // namespace

std::string writerName() { return "Rota " ROTA_VERSION; }

Status damaged(const std::string& name, std::string what) {
  return Status(ErrorCode::kEngineDamaged, "This engine file is damaged: " + std::move(what))
      .at(name)
      .fix("copy the file again, or build the engine again");
}

const Section* Container::find(SectionKind kind) const {
  for (const Section& s : sections)
    if (s.kind == static_cast<std::uint32_t>(kind)) return &s;
  return nullptr;
}

std::span<const std::byte> Container::content(const Section& section) const {
  return bytes.subspan(section.offset, section.size);
}

Result<Container> openContainer(std::span<const std::byte> bytes, const std::string& name) {
  ROTA_RETURN_IF_ERROR(checkPrefix(bytes, name));
  Container container;
  container.bytes = bytes;
  std::memcpy(&container.header, bytes.data(), std::min(bytes.size(), sizeof(Header)));
  const Header& header = container.header;
  // A flipped bit in the version field is damage, not another version: then the hash tells, where there is one that we know.
  const bool ours =
      bytes.size() >= sizeof(Header) && hashBytes(&header, offsetof(Header, headerHash)) == header.headerHash;
  if (header.formatVersion != kFormatVersion && (ours || header.headerBytes != sizeof(Header)))
    return Status(ErrorCode::kEngineVersion, "This engine was written in another format")
        .at(name)
        .expected("format version " + std::to_string(kFormatVersion) + ", which " + writerName() + " reads")
        .found("format version " + std::to_string(header.formatVersion) + ", built with " +
               printable(header.writer))
        .fix("build the engine again with this version of Rota, or run it with the version that built it");
  if (bytes.size() < sizeof(Header))
    return damaged(name, "it ends inside the header, after " + std::to_string(bytes.size()) + " bytes");
  ROTA_RETURN_IF_ERROR(checkHeader(header, bytes, name));
  container.sections.resize(header.sectionCount);
  const std::size_t tableBytes = header.sectionCount * sizeof(Section);
  if (tableBytes != 0) std::memcpy(container.sections.data(), bytes.data() + header.tableOffset, tableBytes);
  if (hashBytes(container.sections.data(), tableBytes) != header.tableHash)
    return damaged(name, "the hash of its section table does not match");
  ROTA_RETURN_IF_ERROR(checkSections(container, name));
  return container;
}

}  // namespace rota::engine
