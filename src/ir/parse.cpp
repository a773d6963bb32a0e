// SPDX-License-Identifier: Apache-2.0
// Reads the text form of graphs that print.cpp writes: a plain recursive descent over characters. Errors name the line. Depth and counts
// are bounded by the text itself and kMaxGraphDepth. Tested by src/ir/text_test.cpp.
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "core/check.h"
#include "core/checked.h"
#include "core/element_access.h"
#include "ir/graph.h"
#include "ir/text.h"

namespace rota::ir {
namespace {

class GraphParser {
 public:
  explicit GraphParser(std::string_view text) : text_(text) {}

  Result<std::unique_ptr<Graph>> parse() {
    auto graph = std::make_unique<Graph>();
    ROTA_RETURN_IF_ERROR(parseOutermost(*graph));
    return graph;
  }

 private:
  // --- Characters.

  Status fail(const std::string& expected) {
    std::size_t line = 1;
    for (char c : text_.substr(0, position_)) line += c == '\n' ? 1 : 0;
    const std::size_t end = std::min(text_.find('\n', position_), position_ + 40);
    const std::string rest(position_ < text_.size() ? text_.substr(position_, end - position_)
                                                    : "the end of the text");
    return Status(ErrorCode::kBadGraph, "the text of a graph does not parse")
        .at("line " + std::to_string(line))
        .expected(expected)
        .found(rest);
  }

  void skipSpace() {
    while (position_ < text_.size() &&
           (text_[position_] == ' ' || text_[position_] == '\n' || text_[position_] == '\t'))
      ++position_;
    if (position_ < text_.size() && text_[position_] == '#' && text_.substr(position_, 2) == "##") {
      position_ = std::min(text_.find('\n', position_), text_.size());  // a comment line, for golden tests
      skipSpace();
    }
  }
  char peek() {
    skipSpace();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool take(std::string_view token) {
    skipSpace();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  /// A word that stands alone.
  bool takeWord(std::string_view word) {
    skipSpace();
    const std::size_t end = position_ + word.size();
    if (text_.substr(position_, word.size()) != word || (end < text_.size() && isPlainNameChar(text_[end])))
      return false;
    position_ = end;
    return true;
  }
  Status expect(std::string_view token) {
    return take(token) ? Status::ok() : fail("'" + std::string(token) + "'");
  }

  std::string plainWord(bool identifierOnly) {
    skipSpace();
    const std::size_t begin = position_;
    while (position_ < text_.size() && isPlainNameChar(text_[position_])) {
      const char c = text_[position_];
      if (identifierOnly && (c == '.' || c == '/' || c == '-')) break;
      ++position_;
    }
    return std::string(text_.substr(begin, position_ - begin));
  }

  Result<std::string> quoted() {
    if (!take("\"")) return fail("a text in quotes");
    std::string result;
    while (position_ < text_.size() && text_[position_] != '"') {
      char c = text_[position_++];
      if (c == '\\' && position_ < text_.size()) {
        c = text_[position_++];
        if (c == 'x') {
          unsigned value = 0;
          const char* begin = text_.data() + position_;
          const auto [end, problem] =
              std::from_chars(begin, begin + std::min<std::size_t>(2, text_.size() - position_), value, 16);
          if (problem != std::errc()) return fail("two hexadecimal digits after \\x");
          position_ += static_cast<std::size_t>(end - begin);
          c = static_cast<char>(value);
        }
      }
      result += c;
    }
    if (position_ == text_.size()) return fail("the closing quote");
    ++position_;
    return result;
  }

  Result<std::string> nameOrQuoted(bool identifierOnly) {
    if (peek() == '"') return quoted();
    std::string name = plainWord(identifierOnly);
    if (name.empty()) return fail("a name");
    return name;
  }

  Result<std::int64_t> integer() {
    skipSpace();
    std::int64_t value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (problem != std::errc()) return fail("an integer");
    position_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  /// A number, "inf", "-inf" or "nan", as text.
  std::string numberText() {
    skipSpace();
    const std::size_t begin = position_;
    while (position_ < text_.size() && (isPlainNameChar(text_[position_]) || text_[position_] == '+') &&
           text_[position_] != '_')
      ++position_;
    return std::string(text_.substr(begin, position_ - begin));
  }
  static bool isReal(const std::string& number) {
    return number.find_first_of(".en") != std::string::npos;  // 1.5, 1e9, inf, nan
  }
  Result<double> realFrom(const std::string& number) {
    if (number == "nan") return std::nan("");
    if (number == "inf" || number == "-inf") return number[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    double value = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (problem == std::errc::invalid_argument || end != number.data() + number.size())
      return fail("a number instead of '" + number + "'");
    return value;
  }

  // --- Sizes and types.

  Result<Size> size() {
    skipSpace();
    const std::size_t begin = position_;
    int depth = 0;
    bool inQuotes = false;
    for (; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (inQuotes) {
        if (c == '\\') ++position_;
        inQuotes = c != '"';
        continue;
      }
      inQuotes = c == '"';
      if (c == '(') ++depth;
      if (c == ')') --depth;
      if (c == '\n' || (depth == 0 && (c == ',' || c == ']' || c == '>'))) break;
    }
    position_ = std::min(position_, text_.size());
    const std::string_view expression = text_.substr(begin, position_ - begin);
    if (expression == "?") return Size::invalid();
    auto parsed = graph_->sizes().parse(expression);
    if (!parsed) {
      position_ = begin;
      return fail("a size (" + parsed.status().detail().message + ")");
    }
    return parsed;
  }

  Result<std::vector<Size>> sizes(std::string_view close) {
    std::vector<Size> result;
    while (!take(close)) {
      if (!result.empty()) ROTA_RETURN_IF_ERROR(expect(","));
      auto one = size();
      if (!one) return one.status();
      result.push_back(*one);
    }
    return result;
  }

  Result<Type> type() {
    Type type;
    if (take("?")) return type;
    int closing = 0;
    if (take("optional(")) {
      type.kind = TypeKind::kOptional;
      ++closing;
      if (take("sequence(")) {
        type.elementIsSequence = true;
        ++closing;
      }
    } else if (take("sequence(")) {
      type.kind = TypeKind::kSequence;
      ++closing;
    } else if (take("state(")) {
      type.kind = TypeKind::kState;
      ++closing;
    }
    type.dtype = dtypeFromName(plainWord(true));
    if (type.dtype == DType::kUndefined) return fail("a type");
    ROTA_RETURN_IF_ERROR(expect("["));
    if (take("?]")) {
      type.shape = Shape::unknown();
    } else {
      auto dims = sizes("]");
      if (!dims) return dims.status();
      for (Size dim : *dims) {
        if (!dim.isValid()) return fail("known dims");
      }
      type.shape = Shape::of(std::move(*dims));
    }
    for (; closing > 0; --closing) ROTA_RETURN_IF_ERROR(expect(")"));
    return type;
  }

  // --- Tensors and attributes.

  Result<Tensor> tensorOf(DType dtype, std::vector<std::int64_t> dims) {
    auto tensor = Tensor::allocate(dtype, std::move(dims));
    if (!tensor) return tensor;
    if (take("#")) {
      plainWord(true);  // the hash: the elements are not known and stay zero
      return tensor;
    }
    ROTA_RETURN_IF_ERROR(expect("{"));
    const MutableTensorView view = tensor->mutableView();
    const DTypeClass kind = info(dtype).dtypeClass;
    for (std::int64_t i = 0; i < view.count(); ++i) {
      if (i > 0) ROTA_RETURN_IF_ERROR(expect(","));
      if (kind == DTypeClass::kFloat) {
        const auto value = realFrom(numberText());
        if (!value) return value.status();
        storeFromDouble(view, i, 1, &*value);
      } else if (kind == DTypeClass::kUnsigned) {
        const std::string number = numberText();
        std::uint64_t value = 0;
        const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (problem != std::errc() || number.empty())
          return fail("an unsigned integer instead of '" + number + "'");
        storeFromUInt64(view, i, 1, &value);
      } else {
        const auto value = integer();
        if (!value) return value.status();
        storeFromInt64(view, i, 1, &*value);
      }
    }
    ROTA_RETURN_IF_ERROR(expect("}"));
    return tensor;
  }

  Result<Tensor> tensorAttribute() {
    const DType dtype = dtypeFromName(plainWord(true));
    if (dtype == DType::kUndefined) return fail("a type");
    ROTA_RETURN_IF_ERROR(expect("["));
    std::vector<std::int64_t> dims;
    while (!take("]")) {
      if (!dims.empty()) ROTA_RETURN_IF_ERROR(expect(","));
      auto dim = integer();
      if (!dim) return dim.status();
      dims.push_back(*dim);
    }
    return tensorOf(dtype, std::move(dims));
  }

  template <typename T, typename Item> Result<Attribute> list(const Item& item) {
    std::vector<T> values;
    while (!take("]")) {
      if (!values.empty()) ROTA_RETURN_IF_ERROR(expect(","));
      auto value = item();
      if (!value) return value.status();
      values.push_back(std::move(*value));
    }
    return Attribute(std::move(values));
  }

  Result<Attribute> listAttribute() {
    const auto tensorItem = [this]() -> Result<Tensor> {
      if (!takeWord("tensor")) return fail("'tensor'");
      return tensorAttribute();
    };
    if (peek() == '"') return list<std::string>([this] { return quoted(); });
    if (text_.substr(position_, 7) == "tensor ") return list<Tensor>(tensorItem);
    const std::size_t begin = position_;
    const bool areReal = isReal(numberText());
    position_ = begin;
    if (!areReal) return list<std::int64_t>([this] { return integer(); });
    return list<float>([this]() -> Result<float> {
      auto value = realFrom(numberText());
      if (!value) return value.status();
      return static_cast<float>(*value);
    });
  }

  Result<Attribute> attribute() {
    if (take("ints[]")) return Attribute(std::vector<std::int64_t>());
    if (take("floats[]")) return Attribute(std::vector<float>());
    if (take("strings[]")) return Attribute(std::vector<std::string>());
    if (take("tensors[]")) return Attribute(std::vector<Tensor>());
    if (take("[")) return listAttribute();
    if (peek() == '"') {
      auto text = quoted();
      if (!text) return text.status();
      return Attribute(std::move(*text));
    }
    if (takeWord("tensor")) {
      auto tensor = tensorAttribute();
      if (!tensor) return tensor.status();
      return Attribute(std::move(*tensor));
    }
    const std::size_t begin = position_;
    const std::string number = numberText();
    if (isReal(number)) {
      auto value = realFrom(number);
      if (!value) return value.status();
      return Attribute(static_cast<float>(*value));
    }
    position_ = begin;
    auto value = integer();
    if (!value) return value.status();
    return Attribute(*value);
  }

  // --- Statements.

  struct TypedName {
    std::string name;
    Type type;
    std::optional<std::vector<Size>> contents;
  };

  Result<TypedName> typedName() {
    TypedName result;
    ROTA_RETURN_IF_ERROR(expect("%"));
    auto name = nameOrQuoted(false);
    if (!name) return name.status();
    result.name = std::move(*name);
    ROTA_RETURN_IF_ERROR(expect(":"));
    auto parsed = type();
    if (!parsed) return parsed.status();
    result.type = std::move(*parsed);
    if (take("<")) {
      auto contents = sizes(">");
      if (!contents) return contents.status();
      result.contents = std::move(*contents);
    }
    return result;
  }

  Result<Value*> use(const Graph& graph) {
    ROTA_RETURN_IF_ERROR(expect("%"));
    const Graph* owner = &graph;
    while (take("^")) {
      owner = owner->parent();
      if (owner == nullptr) return fail("a graph around this one");
    }
    const std::size_t begin = position_;
    auto name = nameOrQuoted(false);
    if (!name) return name.status();
    Value* value = owner->findValue(*name);
    if (value == nullptr) {
      position_ = begin;
      return fail("a value that is defined above");
    }
    return value;
  }

  Result<Provenance> provenance() {
    Provenance result;
    while (takeWord("source")) {
      std::string parts[3];
      for (std::string& part : parts) {
        auto text = quoted();
        if (!text) return text.status();
        part = std::move(*text);
      }
      const auto key = std::make_tuple(parts[0], parts[1], parts[2]);
      auto found = sources_.find(key);
      if (found == sources_.end())
        found = sources_.emplace(key, graph_->sources().add({parts[0], parts[1], parts[2]})).first;
      result.merge(Provenance{{found->second}});
    }
    return result;
  }

  Status parseOutermost(Graph& graph) {
    graph_ = &graph;
    if (!takeWord("graph")) return fail("'graph'");
    auto name = quoted();
    if (!name) return name.status();
    graph.name = std::move(*name);
    ROTA_RETURN_IF_ERROR(expect("{"));
    while (takeWord("symbol")) ROTA_RETURN_IF_ERROR(symbol());
    ROTA_RETURN_IF_ERROR(body(graph, 0));
    if (peek() != '\0') return fail("the end of the text");
    return Status::ok();
  }

  Result<std::int64_t> bound() {
    if (take("inf")) return std::numeric_limits<std::int64_t>::max();
    if (take("-inf")) return std::numeric_limits<std::int64_t>::min();
    return integer();
  }

  Status symbol() {
    auto name = nameOrQuoted(true);
    if (!name) return name.status();
    if (graph_->sizes().findSymbol(*name)) return fail("a new symbol instead of '" + *name + "'");
    ROTA_RETURN_IF_ERROR(expect("["));
    const auto lo = bound();
    if (!lo) return lo.status();
    ROTA_RETURN_IF_ERROR(expect(","));
    const auto hi = bound();
    if (!hi) return hi.status();
    if (*lo > *hi) return fail("a range that is not empty");
    ROTA_RETURN_IF_ERROR(expect("]"));
    SymbolOrigin origin = SymbolOrigin::kInputDim;
    if (takeWord("host")) {
      origin = SymbolOrigin::kHostResolved;
    } else if (takeWord("data")) {
      origin = SymbolOrigin::kDataDependent;
    } else if (!takeWord("input")) {
      return fail("'input', 'host' or 'data'");
    }
    const Size size = graph_->sizes().newSymbol(std::move(*name), {*lo, *hi}, origin);
    if (!takeWord("multiple")) return Status::ok();
    const auto divisor = integer();
    if (!divisor) return divisor.status();
    if (*divisor < 1) return fail("a divisor of at least 1");
    graph_->sizes().setDivisor(*graph_->sizes().asSymbol(size), *divisor);
    return Status::ok();
  }

  Status constant(Graph& graph) {
    auto typed = typedName();
    if (!typed) return typed.status();
    ROTA_RETURN_IF_ERROR(expect("="));
    if (graph.findValue(typed->name) != nullptr) return fail("a new name instead of '" + typed->name + "'");
    std::vector<std::int64_t> dims;
    for (Size dim : typed->type.shape.dims) {
      if (!dim.isConstant()) return fail("a constant shape");
      dims.push_back(*dim.constant());
    }
    auto tensor = tensorOf(typed->type.dtype, std::move(dims));
    if (!tensor) return tensor.status();
    std::string recipe;
    if (takeWord("recipe")) {
      auto text = quoted();
      if (!text) return text.status();
      recipe = std::move(*text);
    }
    auto origin = provenance();
    if (!origin) return origin.status();
    graph.addConstant(typed->name, std::move(*tensor), std::move(recipe), std::move(*origin));
    return Status::ok();
  }

  Status output(Graph& graph) {
    if (peek() == '"') {
      auto name = quoted();
      if (!name) return name.status();
      graph.outputNames().push_back(std::move(*name));
      ROTA_RETURN_IF_ERROR(expect("="));
    }
    auto value = use(graph);
    if (!value) return value.status();
    graph.addOutput(*value);
    return Status::ok();
  }

  Status attributesOf(Node& node) {
    if (!take("{")) return Status::ok();
    do {
      auto name = nameOrQuoted(true);
      if (!name) return name.status();
      ROTA_RETURN_IF_ERROR(expect("="));
      auto value = attribute();
      if (!value) return value.status();
      node.attributes.set(std::move(*name), std::move(*value));
    } while (take(","));
    return expect("}");
  }

  Status node(Graph& graph, int depth) {
    std::vector<TypedName> typed;
    std::vector<std::string> outputNames;
    do {
      typed.emplace_back();
      outputNames.emplace_back();
      if (takeWord("_")) continue;
      auto one = typedName();
      if (!one) return one.status();
      if (graph.findValue(one->name) != nullptr) return fail("a new name instead of '" + one->name + "'");
      outputNames.back() = one->name;
      typed.back() = std::move(*one);
    } while (take(","));
    ROTA_RETURN_IF_ERROR(expect("="));
    std::string domain;
    auto opType = nameOrQuoted(true);
    if (!opType) return opType.status();
    if (take("::")) {
      domain = std::move(*opType);
      opType = nameOrQuoted(true);
      if (!opType) return opType.status();
    }
    ROTA_RETURN_IF_ERROR(expect("."));
    const auto version = integer();
    if (!version) return version.status();
    ROTA_RETURN_IF_ERROR(expect("("));
    std::vector<Value*> inputs;
    while (!take(")")) {
      if (!inputs.empty()) ROTA_RETURN_IF_ERROR(expect(","));
      inputs.push_back(nullptr);
      if (takeWord("_")) continue;
      auto value = use(graph);
      if (!value) return value.status();
      inputs.back() = *value;
    }
    auto name = quoted();
    if (!name) return name.status();
    Node* node = graph.addNode(std::move(*name), std::move(domain), std::move(*opType),
                               static_cast<int>(*version), std::move(inputs), outputNames);
    ROTA_RETURN_IF_ERROR(attributesOf(*node));
    auto origin = provenance();
    if (!origin) return origin.status();
    node->provenance = std::move(*origin);
    for (std::size_t i = 0; i < typed.size(); ++i) {
      if (node->outputs[i] == nullptr) continue;
      if (node->outputs[i]->name != typed[i].name) return fail("different names of outputs");
      node->outputs[i]->type = std::move(typed[i].type);
      node->outputs[i]->contents = std::move(typed[i].contents);
      node->outputs[i]->provenance = node->provenance;
    }
    while (takeWord("block")) ROTA_RETURN_IF_ERROR(block(*node, depth));
    return Status::ok();
  }

  Status block(Node& node, int depth) {
    if (depth >= kMaxGraphDepth) return fail("at most " + std::to_string(kMaxGraphDepth) + " nested graphs");
    auto blockName = quoted();
    if (!blockName) return blockName.status();
    auto graphName = quoted();
    if (!graphName) return graphName.status();
    node.blockNames.push_back(std::move(*blockName));
    node.blocks.push_back(std::make_unique<Graph>(*node.owner));
    node.blocks.back()->name = std::move(*graphName);
    ROTA_RETURN_IF_ERROR(expect("{"));
    return body(*node.blocks.back(), depth + 1);
  }

  /// Statements up to the closing brace.
  Status body(Graph& graph, int depth) {
    while (!take("}")) {
      if (takeWord("input")) {
        auto typed = typedName();
        if (!typed) return typed.status();
        if (graph.findValue(typed->name) != nullptr)
          return fail("a new name instead of '" + typed->name + "'");
        graph.addInput(typed->name, typed->type)->contents = std::move(typed->contents);
      } else if (takeWord("constant")) {
        ROTA_RETURN_IF_ERROR(constant(graph));
      } else if (takeWord("output")) {
        ROTA_RETURN_IF_ERROR(output(graph));
      } else if (peek() == '%' || peek() == '_') {
        ROTA_RETURN_IF_ERROR(node(graph, depth));
      } else {
        return fail("'input', 'constant', 'output', a value or '}'");
      }
    }
    return Status::ok();
  }

  std::string_view text_;
  std::size_t position_ = 0;
  Graph* graph_ = nullptr;
  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> sources_;
};

}  // namespace

Result<std::unique_ptr<Graph>> parseGraph(std::string_view text) { return GraphParser(text).parse(); }

}  // namespace rota::ir
