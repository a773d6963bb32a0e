// SPDX-License-Identifier: Apache-2.0
// Sizes as text: "batch*seq + 1", "floordiv(h + 1, 2)". What is printed parses back to the same size. A symbol whose name is not an
// identifier (exporters write "past + 1") stands in quotes. The parser also takes // and %, creates no symbols, and bounds its depth.
// Tested by src/core/size_text_test.cpp.
#include <algorithm>

#include "core/size_table.h"

namespace rota {
namespace {

constexpr int kMaxParseDepth = 64;

bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isNameChar(char c) { return isNameStart(c) || (c >= '0' && c <= '9') || c == '.'; }
bool isFunction(std::string_view name) {
  return name == "floordiv" || name == "ceildiv" || name == "mod" || name == "min" || name == "max";
}

std::string symbolText(const std::string& name) {
  if (!name.empty() && isNameStart(name[0]) && std::all_of(name.begin(), name.end(), isNameChar) &&
      !isFunction(name))
    return name;
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string print(Size s, const std::vector<Symbol>& symbols);

std::string printAtom(const SizeAtom* atom, const std::vector<Symbol>& symbols) {
  if (atom->kind == AtomKind::kSymbol) return symbolText(symbols[atom->symbol].name);
  std::string text = atom->kind == AtomKind::kFloorDiv ? "floordiv("
                     : atom->kind == AtomKind::kMod    ? "mod("
                     : atom->kind == AtomKind::kMin    ? "min("
                                                       : "max(";
  for (std::size_t i = 0; i < atom->operands.size(); ++i)
    text += (i == 0 ? "" : ", ") + print(atom->operands[i], symbols);
  return text + ")";
}

std::string print(Size s, const std::vector<Symbol>& symbols) {
  if (!s.isValid()) return "invalid";
  if (const auto value = s.constant()) return std::to_string(*value);
  std::string text;
  for (const Term& term : s.node()->terms) {
    std::string number = std::to_string(term.coefficient);
    const bool isNegative = number[0] == '-';
    if (isNegative) number.erase(0, 1);
    text += text.empty() ? (isNegative ? "-" : "") : (isNegative ? " - " : " + ");
    bool isFirst = true;
    if (number != "1" || term.monomial.empty()) {
      text += number;
      isFirst = false;
    }
    for (const Factor& factor : term.monomial) {
      for (std::uint32_t i = 0; i < factor.power; ++i) {
        text += (isFirst ? "" : "*") + printAtom(factor.atom, symbols);
        isFirst = false;
      }
    }
  }
  return text;
}

class Parser {
 public:
  Parser(const SizeContext& sizes, std::string_view text) : sizes_(sizes), text_(text) {}

  Result<Size> parse() {
    const Size size = sum(0);
    skipSpace();
    if (error_.isOk() && position_ != text_.size()) fail("unexpected text after the expression");
    if (error_.isOk() && !size.isValid()) fail("the value does not fit or divides by zero");
    if (!error_.isOk()) return error_;
    return size;
  }

 private:
  void fail(std::string message, ErrorCode code = ErrorCode::kUsage) {
    if (!error_.isOk()) return;
    error_ = Status(code, std::move(message))
                 .at("size expression '" + std::string(text_.substr(0, 200)) + "'")
                 .found(position_ < text_.size() ? "'" + std::string(text_.substr(position_, 20)) +
                                                       "' at offset " + std::to_string(position_)
                                                 : "the end of the text");
    position_ = text_.size();
  }

  void skipSpace() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  }
  bool take(std::string_view token) {
    skipSpace();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  char peek() {
    skipSpace();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  Size sum(int depth) {
    Size result = term(depth);
    while (error_.isOk()) {
      if (take("+")) {
        result = result + term(depth);
      } else if (take("-")) {
        // The least integer has no positive counterpart.
        const bool isLeast = peek() != '\0' && take("9223372036854775808");
        result = isLeast ? result + Size(kUnboundedBelow) : result - term(depth);
      } else {
        break;
      }
    }
    return result;
  }

  Size term(int depth) {
    Size result = unary(depth);
    while (error_.isOk()) {
      if (take("//")) {
        result = floorDiv(result, unary(depth));
      } else if (take("*")) {
        result = result * unary(depth);
      } else if (take("%")) {
        result = mod(result, unary(depth));
      } else {
        break;
      }
    }
    return result;
  }

  Size unary(int depth) {
    bool isNegative = false;
    while (take("-")) isNegative = !isNegative;
    const char next = peek();
    if (next >= '0' && next <= '9') return number(isNegative);
    const Size value = primary(depth + 1);
    return isNegative ? Size(-1) * value : value;
  }

  Size number(bool isNegative) {
    Int128 value = 0;
    while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') {
      value = value * 10 + (text_[position_++] - '0');
      if (value > Int128{kUnbounded} + 1) {
        fail("a number that does not fit 64 bits");
        return 0;
      }
    }
    if (isNegative) value = -value;
    if (value > kUnbounded) {
      fail("a number that does not fit 64 bits");
      return 0;
    }
    return static_cast<std::int64_t>(value);
  }

  Size primary(int depth) {
    if (depth > kMaxParseDepth) {
      fail("an expression nested too deep");
      return 0;
    }
    const char next = peek();
    if (take("(")) {
      const Size value = sum(depth);
      if (!take(")")) fail("a missing ')'");
      return value;
    }
    if (next == '"') return quoted();
    if (!isNameStart(next)) {
      fail("expected a number, a symbol or '('");
      return 0;
    }
    const std::size_t begin = position_;
    while (position_ < text_.size() && isNameChar(text_[position_])) ++position_;
    const std::string_view name = text_.substr(begin, position_ - begin);
    return isFunction(name) ? call(name, depth) : named(name);
  }

  Size quoted() {
    std::string name;
    for (++position_; position_ < text_.size() && text_[position_] != '"'; ++position_) {
      if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
      name += text_[position_];
    }
    if (!take("\"")) {
      fail("a missing '\"'");
      return 0;
    }
    return named(name);
  }

  Size named(std::string_view name) {
    if (const auto id = sizes_.findSymbol(name)) return sizes_.symbol(*id);
    fail("no symbol has the name '" + std::string(name) + "'", ErrorCode::kUnknownName);
    return 0;
  }

  Size call(std::string_view name, int depth) {
    if (!take("(")) fail("expected '(' after a function");
    Size result = sum(depth);
    int operands = 1;
    while (error_.isOk() && take(",")) {
      const Size operand = sum(depth);
      ++operands;
      result = name == "floordiv"  ? floorDiv(result, operand)
               : name == "ceildiv" ? ceilDiv(result, operand)
               : name == "mod"     ? mod(result, operand)
               : name == "min"     ? min(result, operand)
                                   : max(result, operand);
    }
    if (!take(")")) fail("a missing ')'");
    const bool isBinary = name == "floordiv" || name == "ceildiv" || name == "mod";
    if (operands < 2 || (isBinary && operands > 2)) fail("a wrong number of operands");
    return result;
  }

  const SizeContext& sizes_;
  std::string_view text_;
  std::size_t position_ = 0;
  Status error_;
};

}  // namespace

std::string SizeContext::toString(Size s) const { return print(s, impl_->symbols); }

Result<Size> SizeContext::parse(std::string_view text) const { return Parser(*this, text).parse(); }

}  // namespace rota
