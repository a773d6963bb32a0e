// SPDX-License-Identifier: Apache-2.0
// Attributes: a vector sorted by name; operators have few, so a binary search in one block of memory beats a map.
// Tested by src/core/attributes_test.cpp.
#include "core/attributes.h"

#include <algorithm>

namespace rota {
namespace {

/// Position of `name`, or where it would be inserted; works on const and non-const vectors.
template <typename Entries> auto positionOf(Entries& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const Attributes::Entry& entry, std::string_view n) { return entry.name < n; });
}

template <typename T> const T* typed(const Attribute* attribute) {
  return attribute != nullptr ? std::get_if<T>(attribute) : nullptr;
}

}  // namespace

const Attribute* Attributes::find(std::string_view name) const {
  const auto it = positionOf(entries_, name);
  return it != entries_.end() && it->name == name ? &it->value : nullptr;
}

void Attributes::set(std::string name, Attribute value) {
  const auto it = positionOf(entries_, name);
  if (it != entries_.end() && it->name == name) {
    it->value = std::move(value);
  } else {
    entries_.insert(it, Entry{std::move(name), std::move(value)});
  }
}

void Attributes::erase(std::string_view name) {
  const auto it = positionOf(entries_, name);
  if (it != entries_.end() && it->name == name) entries_.erase(it);
}

std::int64_t Attributes::getInt(std::string_view name, std::int64_t fallback) const {
  const auto* value = typed<std::int64_t>(find(name));
  return value != nullptr ? *value : fallback;
}

float Attributes::getFloat(std::string_view name, float fallback) const {
  const auto* value = typed<float>(find(name));
  return value != nullptr ? *value : fallback;
}

std::string_view Attributes::getString(std::string_view name, std::string_view fallback) const {
  const auto* value = typed<std::string>(find(name));
  return value != nullptr ? std::string_view(*value) : fallback;
}

const std::vector<std::int64_t>* Attributes::getInts(std::string_view name) const {
  return typed<std::vector<std::int64_t>>(find(name));
}

const std::vector<float>* Attributes::getFloats(std::string_view name) const {
  return typed<std::vector<float>>(find(name));
}

const std::vector<std::string>* Attributes::getStrings(std::string_view name) const {
  return typed<std::vector<std::string>>(find(name));
}

const Tensor* Attributes::getTensor(std::string_view name) const { return typed<Tensor>(find(name)); }

}  // namespace rota
