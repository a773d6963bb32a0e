// SPDX-License-Identifier: Apache-2.0
// See model_view.h. Tested by src/import/onnx/reader_test.cpp.
#include "import/onnx/model_view.h"

#include <algorithm>
#include <unordered_set>

#include "import/onnx/wire.h"

namespace rota::onnx {
namespace {

/// Nodes, names, attributes and values that one file may have.
constexpr std::int64_t kMaxItems = 16'000'000;

class Parser {
 public:
  ModelView model(std::string_view bytes, bool& sawField) {
    ModelView model;
    for (Fields fields(bytes); fields.next();) {
      modelField(fields, model);
      sawField = true;
    }
    return model;
  }

 private:
  void modelField(Fields& fields, ModelView& model) {
    switch (fields.field()) {
      case field::model::kIrVersion: model.irVersion = fields.integer(); break;
      case field::model::kProducerName: model.producerName = fields.name(); break;
      case field::model::kProducerVersion: model.producerVersion = fields.name(); break;
      case field::model::kDomain: model.domain = fields.name(); break;
      case field::model::kModelVersion: model.modelVersion = fields.integer(); break;
      case field::model::kOpsetImport: model.opsets.push_back(opset(fields.bytes())); break;
      case field::model::kMetadataProps: model.metadata.push_back(metadata(fields.bytes())); break;
      case field::model::kTrainingInfo:
        model.isTraining = true;
        fields.skip();
        break;
      case field::model::kGraph:
        if (model.graph) fail(ErrorCode::kModelInvalid, "the model has two graphs");
        model.graph.emplace();
        graph(fields.bytes(), *model.graph, 1);
        break;
      case field::model::kFunctions: model.functions.push_back(function(fields.bytes())); break;
      default: fields.skip();
    }
  }

  void count(std::int64_t items = 1) {
    items_ += items;
    if (items_ > kMaxItems)
      fail(ErrorCode::kModelTooLarge, "the model has more than 16 million names and nodes");
  }

  OpsetView opset(std::string_view bytes) {
    count();
    OpsetView result;
    for (Fields fields(bytes); fields.next();) {
      switch (fields.field()) {
        case field::opset::kDomain: result.domain = domainOf(fields.name()); break;
        case field::opset::kVersion: result.version = fields.integer(); break;
        default: fields.skip();
      }
    }
    return result;
  }

  MetadataView metadata(std::string_view bytes) {
    count();
    MetadataView result;
    for (Fields fields(bytes); fields.next();) {
      switch (fields.field()) {
        case field::entry::kKey: result.key = fields.name(); break;
        case field::entry::kValue: result.value = fields.text(); break;
        default: fields.skip();
      }
    }
    return result;
  }

  static std::string_view domainOf(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view{} : domain;
  }

  void graph(std::string_view bytes, GraphView& graph, int depth) {
    if (depth > kMaxDepth) fail(ErrorCode::kModelTooDeep, "graphs are nested more than 64 deep");
    for (Fields fields(bytes); fields.next();) {
      switch (fields.field()) {
        case field::graph::kNode: graph.nodes.push_back(node(fields.bytes(), depth)); break;
        case field::graph::kName: graph.name = fields.name(); break;
        case field::graph::kInitializer: addInitializer(graph, fields.bytes(), false); break;
        case field::graph::kSparseInitializer: addInitializer(graph, fields.bytes(), true); break;
        case field::graph::kInput: graph.inputs.push_back(valueInfo(fields.bytes())); break;
        case field::graph::kOutput: graph.outputs.push_back(valueInfo(fields.bytes())); break;
        default: fields.skip();
      }
    }
  }

  void addInitializer(GraphView& graph, std::string_view message, bool isSparse) {
    count();
    graph.initializers.push_back({isSparse ? sparseName(message) : tensorName(message), message, isSparse});
  }

  ValueInfoView valueInfo(std::string_view bytes) {
    count();
    ValueInfoView result;
    for (Fields fields(bytes); fields.next();) {
      switch (fields.field()) {
        case field::value_info::kName: result.name = fields.name(); break;
        case field::value_info::kType: result.type = fields.bytes(); break;
        default: fields.skip();
      }
    }
    return result;
  }

  NodeView node(std::string_view bytes, int depth) {
    if (++nodes_ > kMaxNodes) fail(ErrorCode::kModelTooLarge, "the model has more than a million nodes");
    NodeView result;
    for (Fields fields(bytes); fields.next();) {
      switch (fields.field()) {
        case field::node::kInput:
          count();
          result.inputs.push_back(fields.name());
          break;
        case field::node::kOutput:
          count();
          result.outputs.push_back(fields.name());
          break;
        case field::node::kName: result.name = fields.name(); break;
        case field::node::kOpType: result.opType = fields.name(); break;
        case field::node::kDomain: result.domain = domainOf(fields.name()); break;
        case field::node::kOverload: result.overload = fields.name(); break;
        case field::node::kAttribute: result.attributes.push_back(attribute(fields.bytes(), depth)); break;
        default: fields.skip();
      }
    }
    if (result.opType.empty()) fail(ErrorCode::kModelInvalid, "a node has no operator name");
    return result;
  }

  AttributeView attribute(std::string_view bytes, int depth) {
    count();
    AttributeView result;
    result.message = bytes;
    AttributeKind present = AttributeKind::kUndefined;
    std::string_view graphBytes;
    for (Fields fields(bytes); fields.next();) {
      switch (fields.field()) {
        case field::attribute::kName: result.name = fields.name(); break;
        case field::attribute::kRefAttrName: result.reference = fields.name(); break;
        case field::attribute::kType: result.kind = kindOf(fields.integer()); break;
        case field::attribute::kGraph:
          graphBytes = fields.bytes();
          present = AttributeKind::kGraph;
          break;
        default:
          if (const AttributeKind kind = kindOfField(fields.field()); kind != AttributeKind::kUndefined)
            present = kind;
          fields.skip();
      }
    }
    if (result.name.empty()) fail(ErrorCode::kModelInvalid, "an attribute has no name");
    if (result.kind == AttributeKind::kUndefined) result.kind = present;  // IR version 1 has no type field
    if (result.kind == AttributeKind::kGraph && result.reference.empty()) {
      result.graph = std::make_unique<GraphView>();
      graph(graphBytes, *result.graph, depth + 1);
      findCaptures(*result.graph);
    }
    return result;
  }

  static AttributeKind kindOf(std::int64_t number) {
    if (number < 0 || number > static_cast<std::int64_t>(AttributeKind::kTypeProtos)) {
      fail(ErrorCode::kModelInvalid, "an attribute has an unknown type number");
    }
    return static_cast<AttributeKind>(number);
  }

  static AttributeKind kindOfField(std::uint32_t number) {
    switch (number) {
      case field::attribute::kFloat: return AttributeKind::kFloat;
      case field::attribute::kInt: return AttributeKind::kInt;
      case field::attribute::kString: return AttributeKind::kString;
      case field::attribute::kTensor: return AttributeKind::kTensor;
      case field::attribute::kFloats: return AttributeKind::kFloats;
      case field::attribute::kInts: return AttributeKind::kInts;
      case field::attribute::kStrings: return AttributeKind::kStrings;
      case field::attribute::kTensors: return AttributeKind::kTensors;
      case field::attribute::kGraphs: return AttributeKind::kGraphs;
      case field::attribute::kTypeProto: return AttributeKind::kTypeProto;
      case field::attribute::kTypeProtos: return AttributeKind::kTypeProtos;
      case field::attribute::kSparseTensor: return AttributeKind::kSparseTensor;
      case field::attribute::kSparseTensors: return AttributeKind::kSparseTensors;
      default: return AttributeKind::kUndefined;
    }
  }

  FunctionView function(std::string_view bytes) {
    count();
    FunctionView result;
    for (Fields fields(bytes); fields.next();) {
      switch (fields.field()) {
        case field::function::kName: result.name = fields.name(); break;
        case field::function::kDomain: result.domain = domainOf(fields.name()); break;
        case field::function::kOverload: result.overload = fields.name(); break;
        case field::function::kInput:
          count();
          result.inputs.push_back(fields.name());
          break;
        case field::function::kOutput:
          count();
          result.outputs.push_back(fields.name());
          break;
        case field::function::kAttribute:
          count();
          result.attributes.push_back(fields.name());
          break;
        case field::function::kAttributeProto: result.defaults.push_back(attribute(fields.bytes(), 1)); break;
        case field::function::kOpsetImport: result.opsets.push_back(opset(fields.bytes())); break;
        case field::function::kNode: result.nodes.push_back(node(fields.bytes(), 1)); break;
        default: fields.skip();
      }
    }
    return result;
  }

  /// Names of `graph` that come from outside; nested graphs have theirs already.
  void findCaptures(GraphView& graph) {
    std::unordered_set<std::string_view> used;
    for (const NodeView& node : graph.nodes) {
      used.insert(node.inputs.begin(), node.inputs.end());
      for (const AttributeView& attribute : node.attributes) {
        if (attribute.graph) used.insert(attribute.graph->captures.begin(), attribute.graph->captures.end());
      }
    }
    for (const ValueInfoView& output : graph.outputs) used.insert(output.name);
    for (const NodeView& node : graph.nodes) {
      for (const std::string_view name : node.outputs) used.erase(name);
    }
    for (const ValueInfoView& input : graph.inputs) used.erase(input.name);
    for (const InitializerView& initializer : graph.initializers) used.erase(initializer.name);
    used.erase(std::string_view{});
    count(static_cast<std::int64_t>(used.size()));
    graph.captures.assign(used.begin(), used.end());
    std::sort(graph.captures.begin(), graph.captures.end());
  }

  static std::string_view tensorName(std::string_view message) {
    std::string_view name;
    for (Fields fields(message); fields.next();) {
      if (fields.field() == field::tensor::kName) {
        name = fields.name();
      } else {
        fields.skip();
      }
    }
    return name;
  }

  static std::string_view sparseName(std::string_view message) {
    std::string_view name;
    for (Fields fields(message); fields.next();) {
      if (fields.field() == field::sparse::kValues) {
        name = tensorName(fields.bytes());
      } else {
        fields.skip();
      }
    }
    return name;
  }

  std::int64_t items_ = 0;
  std::int64_t nodes_ = 0;
};

Status notAModel(std::string_view bytes) {
  const std::string_view what = describeBytes(bytes);
  Status status(ErrorCode::kNotAModel, "the bytes are not an ONNX model");
  status = std::move(status).expected("a file written by an ONNX exporter");
  if (!what.empty()) status = std::move(status).found(std::string(what));
  return status;
}

bool startsWith(std::string_view bytes, std::string_view magic) {
  return bytes.substr(0, magic.size()) == magic;
}

}  // namespace

const char* describeBytes(std::string_view bytes) {
  struct Magic {
    std::size_t offset;
    std::string_view bytes;
    const char* what;
  };
  static constexpr Magic kMagics[] = {
      {0, "PK\x03\x04", "a ZIP archive (PyTorch .pt and .pth files are ZIP archives too)"},
      {0, "\x1f\x8b", "gzip-compressed data"},
      {0,
       "\xfd"
       "7zXZ",
       "xz-compressed data"},
      {0, "ROTA", "a Rota engine, which is run, not imported"},
      {0, "version https://git-lfs",
       "a Git LFS pointer, not the file it stands for (git lfs pull fetches it)"},
      {0, "\x89HDF", "an HDF5 file (a Keras model?)"},
      {0, "\x93NUMPY", "a NumPy array"},
      {0,
       "\x7f"
       "ELF",
       "an ELF program or library"},
      {4, "TFL3", "a TensorFlow Lite model"},
      {4, "ORTM", "an ONNX Runtime model in ORT format"},
      {0, "ftrt", "a TensorRT engine"},
      {0, "\x80\x02", "a Python pickle"},
      {0, "<!DOCTYPE", "an HTML page"},
      {0, "<html", "an HTML page"},
      {0, "<?xml", "an XML file"},
  };
  if (bytes.empty()) return "an empty file";
  for (const Magic& magic : kMagics) {
    if (bytes.size() >= magic.offset && startsWith(bytes.substr(magic.offset), magic.bytes))
      return magic.what;
  }
  const std::string_view head = bytes.substr(0, 512);
  const bool isText = std::all_of(head.begin(), head.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u >= 0x20 && u < 0x7f) || u == '\n' || u == '\r' || u == '\t' || u >= 0x80;
  });
  return isText && isUtf8(bytes.substr(0, std::min<std::size_t>(bytes.size(), 256))) ? "a text file" : "";
}

Result<ModelView> parseModel(std::string_view bytes) {
  const std::string_view what = describeBytes(bytes);
  if (!what.empty()) return notAModel(bytes);
  bool sawField = false;
  auto model = guarded([&] { return Parser().model(bytes, sawField); });
  if (!model) {
    const Status status = model.status();
    // Every ONNX writer starts with the IR version: a varint field 1. Without it the bytes are something else.
    const bool plausible = sawField && bytes.front() == '\x08';
    if (status.code() == ErrorCode::kModelTruncated && plausible) {
      return Status(ErrorCode::kModelTruncated, "the model ends in the middle of a field, or is damaged")
          .expected("a whole file")
          .found(std::to_string(bytes.size()) + " bytes")
          .fix("copy or export the model again");
    }
    if (!plausible &&
        (status.code() == ErrorCode::kModelTruncated || status.code() == ErrorCode::kModelInvalid)) {
      return notAModel(bytes);
    }
    return status;
  }
  if (!model->graph) {
    if (!sawField || model->irVersion == 0) return notAModel(bytes);
    return Status(ErrorCode::kModelTruncated, "the model has no graph")
        .expected("a whole file")
        .fix("copy or export it again");
  }
  return model;
}

}  // namespace rota::onnx
