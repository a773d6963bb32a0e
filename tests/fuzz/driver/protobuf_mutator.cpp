// SPDX-License-Identifier: Apache-2.0
// See protobuf_mutator.h.
#include "driver/protobuf_mutator.h"

#include <algorithm>
#include <cstring>

namespace rota::fuzz {
namespace {

constexpr int kMaxDepth = 24;

bool readVarint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

void writeVarint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

bool readFixed(std::string_view& bytes, std::size_t width, std::uint64_t& value) {
  if (bytes.size() < width) return false;
  value = 0;
  std::memcpy(&value, bytes.data(), width);
  bytes.remove_prefix(width);
  return true;
}

/// All fields of the tree, with the list that each stands in.
struct Place {
  std::vector<Field>* list;
  std::size_t index;
  Field& field() const { return (*list)[index]; }
};

void collect(std::vector<Field>& fields, std::vector<Place>& places) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    places.push_back({&fields, i});
    collect(fields[i].fields, places);
  }
}

void changeBytes(std::string& bytes, Random& random, const std::vector<std::string>& words) {
  switch (random.below(6)) {
    case 0:
      if (!words.empty()) bytes = words[random.below(words.size())];
      break;
    case 1:
      if (!bytes.empty()) bytes[random.below(bytes.size())] ^= static_cast<char>(1u << random.below(8));
      break;
    case 2: bytes.resize(random.below(2 * bytes.size() + 2)); break;
    case 3:
      if (bytes.size() >= 8) {
        const std::uint64_t number = awkwardNumber(random);
        std::memcpy(bytes.data() + random.below(bytes.size() - 7), &number, sizeof number);
      }
      break;
    case 4: {  // a packed list of numbers
      bytes.clear();
      for (std::size_t n = random.below(6); n > 0; --n) writeVarint(awkwardNumber(random), bytes);
      break;
    }
    default: bytes = std::to_string(static_cast<std::int64_t>(awkwardNumber(random)));
  }
}

void changeValue(Field& field, Random& random, const std::vector<std::string>& words) {
  if (field.wireType == 2 && !field.isMessage) {
    changeBytes(field.bytes, random, words);
  } else if (field.wireType != 2) {
    field.value = random.oneIn(3) ? field.value + random.below(5) - 2 : awkwardNumber(random);
  } else if (random.oneIn(4)) {
    field.number = 1 + static_cast<std::uint32_t>(random.below(26));
  }
}

}  // namespace

bool parseMessage(std::string_view bytes, std::vector<Field>& fields, int depth) {
  while (!bytes.empty()) {
    std::uint64_t tag = 0;
    if (!readVarint(bytes, tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return false;
    Field field;
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.wireType = static_cast<std::uint32_t>(tag & 7);
    if (field.wireType == 0) {
      if (!readVarint(bytes, field.value)) return false;
    } else if (field.wireType == 1 || field.wireType == 5) {
      if (!readFixed(bytes, field.wireType == 1 ? 8 : 4, field.value)) return false;
    } else if (field.wireType == 2) {
      std::uint64_t length = 0;
      if (!readVarint(bytes, length) || length > bytes.size()) return false;
      const std::string_view content = bytes.substr(0, length);
      bytes.remove_prefix(length);
      // Two bytes and a plausible tag: shorter texts are texts.
      field.isMessage = depth < kMaxDepth && length >= 2 && static_cast<unsigned char>(content[0]) < 0xc0 &&
                        parseMessage(content, field.fields, depth + 1);
      if (!field.isMessage) {
        field.fields.clear();
        field.bytes = content;
      }
    } else {
      return false;
    }
    fields.push_back(std::move(field));
  }
  return true;
}

void writeMessage(const std::vector<Field>& fields, std::string& out) {
  for (const Field& field : fields) {
    writeVarint(static_cast<std::uint64_t>(field.number) << 3 | field.wireType, out);
    if (field.wireType == 0) {
      writeVarint(field.value, out);
    } else if (field.wireType == 2) {
      std::string content = field.bytes;
      if (field.isMessage) writeMessage(field.fields, content);
      writeVarint(content.size(), out);
      out += content;
    } else {
      out.append(reinterpret_cast<const char*>(&field.value), field.wireType == 1 ? 8 : 4);
    }
  }
}

void mutateMessage(std::vector<Field>& fields, Random& random, const std::vector<std::string>& words) {
  std::vector<Place> places;
  collect(fields, places);
  if (places.empty()) return;
  const Place at = places[random.below(places.size())];
  const Place other = places[random.below(places.size())];
  switch (random.below(8)) {
    case 0: at.list->erase(at.list->begin() + static_cast<std::ptrdiff_t>(at.index)); break;
    case 1: {
      const Field copy = at.field();
      at.list->insert(at.list->begin() + static_cast<std::ptrdiff_t>(random.below(at.list->size() + 1)),
                      copy);
      break;
    }
    case 2: {  // a field of the same number from elsewhere, whole
      std::vector<Place> alike;
      for (const Place& p : places)
        if (p.field().number == at.field().number && p.field().wireType == at.field().wireType)
          alike.push_back(p);
      const Field copy = alike[random.below(alike.size())].field();
      at.field() = copy;
      break;
    }
    case 3: {  // something foreign put inside
      const Field copy = other.field();
      if (at.field().isMessage) at.field().fields.push_back(copy);
      break;
    }
    case 4:
      if (at.list->size() > 1) {
        const std::size_t with = random.below(at.list->size());
        std::swap((*at.list)[at.index], (*at.list)[with]);
      }
      break;
    default: changeValue(at.field(), random, words);
  }
}

}  // namespace rota::fuzz
