// SPDX-License-Identifier: Apache-2.0
// The text form of graphs; parse.cpp reads it back. The same graph always prints the same text. Tested by src/ir/text_test.cpp.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/element_access.h"
#include "core/hash.h"
#include "ir/graph.h"
#include "ir/text.h"

namespace rota::ir {
namespace {

constexpr std::int64_t kMaxPrintedElements = 16;

std::string realText(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  std::string text = buffer;
  // A real number shows that it is one, so that lists of floats and of integers differ.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string elementsText(const TensorView& view) {
  const DTypeInfo& row = info(view.dtype);
  std::string text = "{";
  for (std::int64_t i = 0; i < view.count(); ++i) {
    if (i > 0) text += ", ";
    if (row.dtypeClass == DTypeClass::kFloat) {
      text += realText(realAt(view, i), view.dtype == DType::kFloat64 ? 17 : 9);
    } else if (row.dtypeClass == DTypeClass::kUnsigned) {
      std::uint64_t value = 0;
      loadAsUInt64(view, i, 1, &value);
      text += std::to_string(value);
    } else {
      text += std::to_string(intAt(view, i));
    }
  }
  return text + "}";
}

bool hasPrintableElements(const TensorView& view) {
  const DTypeClass kind = info(view.dtype).dtypeClass;
  return view.count() <= kMaxPrintedElements && kind != DTypeClass::kComplex && kind != DTypeClass::kString &&
         kind != DTypeClass::kNone;
}

class Printer {
 public:
  explicit Printer(const SizeContext& sizes) : sizes_(sizes) {}

  std::string print(const Graph& graph) {
    text_ = "graph " + quote(graph.name) + " {\n";
    for (const Symbol& symbol : sizes_.symbols()) printSymbol(symbol);
    printBody(graph, 1);
    return text_ + "}\n";
  }

 private:
  void indent(int level) { text_.append(static_cast<std::size_t>(2 * level), ' '); }

  void printSymbol(const Symbol& symbol) {
    const auto bound = [](std::int64_t v) {
      if (v == std::numeric_limits<std::int64_t>::max()) return std::string("inf");
      return v == std::numeric_limits<std::int64_t>::min() ? std::string("-inf") : std::to_string(v);
    };
    text_ += "  symbol " + (isIdentifier(symbol.name) ? symbol.name : quote(symbol.name)) + " [" +
             bound(symbol.range.lo) + ", " + bound(symbol.range.hi) + "] " + symbolOriginName(symbol.origin);
    if (symbol.divisor != 1) text_ += " multiple " + std::to_string(symbol.divisor);
    text_ += "\n";
  }

  std::string sizeList(const std::vector<Size>& sizes) {
    std::string text;
    for (Size size : sizes)
      text += (text.empty() ? "" : ", ") + (size.isValid() ? sizes_.toString(size) : std::string("?"));
    return text;
  }

  std::string typeText(const Type& type) {
    if (type.dtype == DType::kUndefined) return "?";
    std::string element =
        std::string(info(type.dtype).name) + "[" + (type.shape.known ? sizeList(type.shape.dims) : "?") + "]";
    switch (type.kind) {
      case TypeKind::kTensor: return element;
      case TypeKind::kSequence: return "sequence(" + element + ")";
      case TypeKind::kOptional:
        return type.elementIsSequence ? "optional(sequence(" + element + "))" : "optional(" + element + ")";
      case TypeKind::kState: return "state(" + element + ")";
    }
    return element;
  }

  std::string valueName(const Value& value, const Graph& from) {
    std::string text = "%";
    for (const Graph* at = &from; at != nullptr && at != value.owner; at = at->parent()) text += "^";
    return text + (isPlainName(value.name) ? value.name : quote(value.name));
  }

  std::string typedName(const Value& value) {
    std::string text = valueName(value, *value.owner) + ": " + typeText(value.type);
    if (value.contents && !value.isConstant()) text += " <" + sizeList(*value.contents) + ">";
    return text;
  }

  std::string tensorText(const Tensor& tensor) {
    const TensorView view = tensor.view();
    return hasPrintableElements(view) ? elementsText(view) : "#" + hashBytes(view.data, view.bytes()).toHex();
  }

  std::string tensorAttribute(const Tensor& tensor) {
    std::string text = std::string("tensor ") + info(tensor.dtype()).name + "[";
    for (std::size_t d = 0; d < tensor.dims().size(); ++d)
      text += (d == 0 ? "" : ", ") + std::to_string(tensor.dims()[d]);
    return text + "] " + tensorText(tensor);
  }

  template <typename List, typename Item>
  std::string listText(const char* emptyName, const List& list, const Item& item) {
    if (list.empty()) return std::string(emptyName) + "[]";
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ", ") + item(list[i]);
    return text + "]";
  }

  std::string attributeText(const Attribute& attribute) {
    const auto integer = [](std::int64_t v) { return std::to_string(v); };
    const auto real = [](float v) { return realText(v, 9); };
    if (const auto* v = std::get_if<std::int64_t>(&attribute)) return integer(*v);
    if (const auto* v = std::get_if<float>(&attribute)) return real(*v);
    if (const auto* v = std::get_if<std::string>(&attribute)) return quote(*v);
    if (const auto* v = std::get_if<Tensor>(&attribute)) return tensorAttribute(*v);
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&attribute))
      return listText("ints", *v, integer);
    if (const auto* v = std::get_if<std::vector<float>>(&attribute)) return listText("floats", *v, real);
    if (const auto* v = std::get_if<std::vector<std::string>>(&attribute))
      return listText("strings", *v, quote);
    return listText("tensors", std::get<std::vector<Tensor>>(attribute),
                    [this](const Tensor& t) { return tensorAttribute(t); });
  }

  void printProvenance(const Graph& graph, const Provenance& provenance) {
    for (std::uint32_t id : provenance.sources) {
      const SourceNode& source = graph.sources().at(id);
      text_ += " source " + quote(source.scope) + " " + quote(source.name) + " " + quote(source.opType);
    }
  }

  void printNode(const Node& node, int level) {
    indent(level);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      text_ += (i == 0 ? "" : ", ") +
               (node.outputs[i] == nullptr ? std::string("_") : typedName(*node.outputs[i]));
    }
    if (node.outputs.empty()) text_ += "_";
    text_ += " = ";
    if (!node.domain.empty()) text_ += quote(node.domain) + "::";
    text_ += (isIdentifier(node.opType) ? node.opType : quote(node.opType)) + "." +
             std::to_string(node.version) + "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      text_ += (i == 0 ? "" : ", ") +
               (node.inputs[i] == nullptr ? std::string("_") : valueName(*node.inputs[i], *node.owner));
    }
    text_ += ") " + quote(node.name);
    if (!node.attributes.empty()) {
      const char* separator = " {";
      for (const Attributes::Entry& entry : node.attributes.entries()) {
        text_ += separator + (isIdentifier(entry.name) ? entry.name : quote(entry.name)) + " = " +
                 attributeText(entry.value);
        separator = ", ";
      }
      text_ += "}";
    }
    printProvenance(*node.owner, node.provenance);
    text_ += "\n";
    for (std::size_t i = 0; i < node.blocks.size(); ++i) {
      indent(level);
      text_ += "block " + quote(node.blockNames[i]) + " " + quote(node.blocks[i]->name) + " {\n";
      printBody(*node.blocks[i], level + 1);
      indent(level);
      text_ += "}\n";
    }
  }

  void printBody(const Graph& graph, int level) {
    for (const Value* input : graph.inputs()) {
      indent(level);
      text_ += "input " + typedName(*input) + "\n";
    }
    for (const auto& value : graph.values()) {
      if (!value->isConstant()) continue;
      indent(level);
      text_ += "constant " + typedName(*value) + " = " + tensorText(value->constant);
      if (!value->recipe.empty()) text_ += " recipe " + quote(value->recipe);
      printProvenance(graph, value->provenance);
      text_ += "\n";
    }
    for (const auto& node : graph.nodes()) printNode(*node, level);
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      indent(level);
      text_ += "output ";
      if (i < graph.outputNames().size()) text_ += quote(graph.outputNames()[i]) + " = ";
      text_ += valueName(*graph.outputs()[i], graph) + "\n";
    }
  }

  const SizeContext& sizes_;
  std::string text_;
};

}  // namespace

const char* symbolOriginName(SymbolOrigin origin) {
  switch (origin) {
    case SymbolOrigin::kInputDim: return "input";
    case SymbolOrigin::kHostResolved: return "host";
    case SymbolOrigin::kDataDependent: return "data";
  }
  return "input";
}

bool isPlainNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == '-';
}

bool isPlainName(std::string_view name) {
  for (char c : name) {
    if (!isPlainNameChar(c)) return false;
  }
  return !name.empty();
}

bool isIdentifier(std::string_view name) {
  for (char c : name) {
    if (!isPlainNameChar(c) || c == '.' || c == '/' || c == '-') return false;
  }
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9');
}

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\x%02x", byte);
      result += buffer;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string printGraph(const Graph& graph) { return Printer(graph.sizes()).print(graph); }

}  // namespace rota::ir
