// SPDX-License-Identifier: Apache-2.0
// Small questions about programs: texts for messages, bytes of layouts, roots of aliases.
// Tested by src/runtime/program_test.cpp.
#include "runtime/program.h"

#include <array>

#include "core/checked.h"

namespace rota::runtime {

namespace {

constexpr std::size_t kSourcesInMessages = 3;
constexpr int kTextDepth = 12;

std::string sizeTextAt(const Program& program, std::uint32_t entry, int depth) {
  if (entry >= program.sizes.size()) return "?";
  const SizeContext::FlatOp& op = program.sizes[entry];
  using Op = SizeContext::Op;
  if (op.op == Op::kConstant) return std::to_string(op.immediate);
  if (op.op == Op::kSymbol) {
    const auto id = static_cast<std::size_t>(op.immediate);
    return id < program.symbols.size() ? program.symbols[id].name : "?";
  }
  if (depth == 0) return "…";
  const std::string a = sizeTextAt(program, op.a, depth - 1);
  const std::string b = sizeTextAt(program, op.b, depth - 1);
  switch (op.op) {
    case Op::kAdd: return "(" + a + " + " + b + ")";
    case Op::kMul: return a + "*" + b;
    case Op::kFloorDiv: return "floordiv(" + a + ", " + b + ")";
    case Op::kMod: return "mod(" + a + ", " + b + ")";
    case Op::kMin: return "min(" + a + ", " + b + ")";
    case Op::kMax: return "max(" + a + ", " + b + ")";
    case Op::kConstant:
    case Op::kSymbol: break;
  }
  return "?";
}

}  // namespace

std::string describeSources(const Program& program, const std::vector<std::uint32_t>& sources) {
  std::string text;
  for (std::size_t i = 0; i < sources.size() && i < kSourcesInMessages; ++i) {
    if (sources[i] >= program.sources.size()) continue;
    const SourceInfo& source = program.sources[sources[i]];
    if (!text.empty()) text += ", ";
    text += source.scope + source.name;
    if (!source.opType.empty()) text += " (" + source.opType + ")";
  }
  if (sources.size() > kSourcesInMessages)
    text += " and " + std::to_string(sources.size() - kSourcesInMessages) + " more";
  return text;
}

std::string sizeText(const Program& program, std::uint32_t entry) {
  std::string text = sizeTextAt(program, entry, kTextDepth);
  if (text.size() > 2 && text.front() == '(' && text.back() == ')') {
    // Drop the outer pair when it encloses the whole text.
    int open = 0;
    std::size_t i = 0;
    for (; i + 1 < text.size(); ++i) {
      if (text[i] == '(') ++open;
      if (text[i] == ')') --open;
      if (open == 0) break;
    }
    if (i + 1 == text.size()) text = text.substr(1, text.size() - 2);
  }
  return text;
}

std::optional<std::size_t> layoutBytes(DType dtype, Dims dims, const Layout& layout) {
  if (layout.blocks.empty()) return checkedBytes(dtype, dims);
  if (dims.size() > kMaxRank) return std::nullopt;
  std::array<std::int64_t, kMaxRank> block{};
  std::array<std::int64_t, kMaxRank> padded{};
  for (std::size_t i = 0; i < dims.size(); ++i) block[i] = 1;
  for (const Layout::Block& b : layout.blocks) {
    if (b.axis >= dims.size() || b.size < 1) return std::nullopt;
    auto product = checkedMul(block[b.axis], b.size);
    if (!product) return std::nullopt;
    block[b.axis] = *product;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) return std::nullopt;
    const std::int64_t blocks = dims[i] / block[i] + (dims[i] % block[i] != 0 ? 1 : 0);
    auto size = checkedMul(blocks, block[i]);
    if (!size) return std::nullopt;
    padded[i] = *size;
  }
  return checkedBytes(dtype, Dims(padded.data(), dims.size()));
}

std::int32_t rootOf(const Program& program, std::int32_t value) {
  while (program.values[static_cast<std::size_t>(value)].storage == Storage::kAlias)
    value = program.values[static_cast<std::size_t>(value)].aliasOf;
  return value;
}

}  // namespace rota::runtime
