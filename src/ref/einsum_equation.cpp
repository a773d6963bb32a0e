// SPDX-License-Identifier: Apache-2.0
// Parser of Einsum equations; see einsum_equation.h. Tested by src/ref/einsum_test.cpp.
#include "ref/einsum_equation.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/check.h"

namespace rota::ref {

namespace {

Status equationError(std::string_view equation, std::string what, std::string expected) {
  return Status(ErrorCode::kBadAttribute, std::move(what))
      .expected(std::move(expected))
      .found("'" + std::string(equation) + "'");
}

std::optional<std::uint8_t> labelOf(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint8_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<std::uint8_t>(c - 'a' + 26);
  return std::nullopt;
}

// One term: letters and at most one ellipsis, which stands for `ellipsis` axes (for an input: what its rank leaves).
Status parseTerm(std::string_view equation, std::string_view text, std::optional<std::size_t> rank,
                 std::size_t ellipsis, EinsumTerm& term) {
  std::size_t letters = 0;
  std::size_t dots = 0;
  for (const char c : text) {
    letters += labelOf(c).has_value() ? 1 : 0;
    dots += c == '.' ? 1 : 0;
  }
  const bool hasEllipsis = text.find("...") != std::string_view::npos;
  if (dots != (hasEllipsis ? 3 : 0))
    return equationError(equation, "The equation has a stray dot", "at most one '...' in a term");
  if (rank) {
    if (hasEllipsis ? letters > *rank : letters != *rank) {
      return equationError(equation, "A term of the equation does not fit its operand",
                           std::to_string(*rank) + " axes in '" + std::string(text) + "'");
    }
    ellipsis = *rank - letters;
  }
  if (letters + (hasEllipsis ? ellipsis : 0) > kMaxEinsumAxes) {
    return equationError(equation, "A term of the equation has too many axes",
                         std::to_string(kMaxEinsumAxes) + " or fewer");
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      for (std::size_t k = ellipsis; k-- > 0;) term.push(static_cast<std::uint8_t>(kFirstEllipsisLabel + k));
      i += 2;
      continue;
    }
    const auto label = labelOf(c);
    if (!label)
      return equationError(equation, "The equation has a character that is no label",
                           "letters, ',', '->', '...' and spaces");
    term.push(*label);
  }
  return Status::ok();
}

// Without '->': the ellipsis, then the labels that occur once, sorted.
void implicitOutput(EinsumEquation& e, std::size_t ellipsis) {
  std::array<int, kEinsumLabels> uses{};
  for (std::size_t i = 0; i < e.inputCount; ++i) {
    for (const std::uint8_t label : e.inputs[i].all()) ++uses[label];
  }
  for (std::size_t k = ellipsis; k-- > 0;) e.output.push(static_cast<std::uint8_t>(kFirstEllipsisLabel + k));
  for (std::uint8_t label = 0; label < kFirstEllipsisLabel; ++label) {
    if (uses[label] == 1) e.output.push(label);
  }
}

Status checkOutput(std::string_view equation, const EinsumEquation& e) {
  const auto labels = e.output.all();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(i), labels[i]) !=
        labels.begin() + static_cast<std::ptrdiff_t>(i)) {
      return equationError(equation, "The output of the equation repeats a label",
                           "each label at most once after '->'");
    }
    bool known = false;
    for (std::size_t k = 0; k < e.inputCount; ++k) known = known || e.inputs[k].has(labels[i]);
    if (!known)
      return equationError(equation, "The output of the equation has a label that no operand has",
                           "labels of the operands after '->'");
  }
  return Status::ok();
}

}  // namespace

bool EinsumTerm::has(std::uint8_t label) const {
  return std::find(labels.data(), labels.data() + size, label) != labels.data() + size;
}

Result<EinsumEquation> parseEinsum(std::string_view equation, std::span<const std::size_t> ranks) {
  const std::size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  EinsumEquation e;
  std::size_t ellipsis = 0;
  for (bool more = true; more;) {
    const std::size_t comma = left.find(',');
    const std::string_view text = left.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) left.remove_prefix(comma + 1);
    if (e.inputCount == ranks.size() || e.inputCount == kMaxEinsumOperands) {
      return equationError(
          equation, "The equation has more terms than there are operands",
          std::to_string(ranks.size()) + " terms (at most " + std::to_string(kMaxEinsumOperands) + ")");
    }
    EinsumTerm& term = e.inputs[e.inputCount];
    ROTA_RETURN_IF_ERROR(parseTerm(equation, text, ranks[e.inputCount], 0, term));
    for (const std::uint8_t label : term.all()) {
      if (label >= kFirstEllipsisLabel)
        ellipsis = std::max<std::size_t>(ellipsis, label - kFirstEllipsisLabel + 1U);
    }
    ++e.inputCount;
  }
  if (e.inputCount != ranks.size()) {
    return equationError(equation, "The equation has fewer terms than there are operands",
                         std::to_string(ranks.size()) + " terms");
  }
  if (arrow == std::string_view::npos) {
    implicitOutput(e, ellipsis);
  } else {
    ROTA_RETURN_IF_ERROR(parseTerm(equation, equation.substr(arrow + 2), std::nullopt, ellipsis, e.output));
  }
  ROTA_RETURN_IF_ERROR(checkOutput(equation, e));
  return e;
}

}  // namespace rota::ref
