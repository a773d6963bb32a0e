// SPDX-License-Identifier: Apache-2.0
// See reader.h.
#include "import/onnx/reader.h"

#include "core/file.h"
#include "import/onnx/external_data.h"
#include "import/onnx/graph_builder.h"
#include "import/onnx/model_view.h"
#include "import/onnx/type_check.h"
#include "op/early_expansion.h"

namespace rota::onnx {
namespace {

ModelMetadata metadataOf(const ModelView& model) {
  ModelMetadata metadata;
  metadata.irVersion = model.irVersion;
  metadata.modelVersion = model.modelVersion;
  metadata.producerName = model.producerName;
  metadata.producerVersion = model.producerVersion;
  metadata.domain = model.domain;
  for (const OpsetView& opset : model.opsets) metadata.opsets.emplace(opset.domain, opset.version);
  for (const MetadataView& entry : model.metadata) metadata.properties.emplace(entry.key, entry.value);
  return metadata;
}

void checkVersions(const ModelView& model, Opsets& opsets, Problems& problems) {
  if (model.irVersion < 1 || model.irVersion > kNewestIrVersion) {
    const bool isNew = model.irVersion > kNewestIrVersion;
    problems.add(
        Status(isNew ? ErrorCode::kUnsupportedVersion : ErrorCode::kModelInvalid,
               isNew ? "the IR version of the model is too new" : "the model has no valid IR version")
            .expected("1 to " + std::to_string(kNewestIrVersion))
            .found(std::to_string(model.irVersion))
            .fix("export the model again with a current exporter"),
        "the model");
  }
  if (opsets.empty() && model.irVersion >= 1 && model.irVersion < 3)
    opsets.emplace("", 1);  // imports came with IR version 3
  if (opsets.empty()) {
    problems.add(Status(ErrorCode::kModelInvalid, "the model imports no operator set")
                     .expected("an import of 'ai.onnx'")
                     .found("none")
                     .fix("export the model again, or copy the file again if it was cut"),
                 "the model");
  }
}

ImportResult importView(const ModelView& model, const TensorSource& source, const ImportOptions& options) {
  ImportResult result;
  result.metadata = metadataOf(model);
  if (model.isTraining) result.notes.emplace_back("the training part of the model is ignored");
  Problems problems;
  Opsets opsets = readOpsets(model.opsets, "the model", problems);
  checkVersions(model, opsets, problems);
  GraphBuilder builder(model, opsets, options, source, problems, result.notes);
  std::unique_ptr<ir::Graph> graph = builder.build();
  inferTypes(*graph, problems);
  if (problems.empty()) {
    if (Status status = op::expandEarly(*graph); !status.isOk()) problems.add(status, status.detail().node);
  }
  if (problems.empty()) checkDeclaredOutputs(*model.graph, *graph, problems);
  if (problems.empty()) {
    result.graph = std::move(graph);
  } else {
    result.problems = problems.take();
  }
  return result;
}

Result<ImportResult> importBuffer(const std::shared_ptr<Buffer>& bytes, ExternalData external,
                                  const ImportOptions& options) {
  const std::string_view view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  auto model = parseModel(view);
  if (!model) return model.status();
  return importView(*model, TensorSource{bytes, &external}, options);
}

}  // namespace

Result<ImportResult> importOnnx(const std::string& path, const ImportOptions& options) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  const std::shared_ptr<const MappedFile> keeper = *file;
  std::vector<std::string> roots = modelRoots(path);
  roots.insert(roots.end(), options.dataRoots.begin(), options.dataRoots.end());
  auto result = importBuffer(Buffer::wrap(keeper->data(), keeper->size(), keeper),
                             ExternalData(folderOf(path), std::move(roots), options.dataBuffers), options);
  if (result.isOk() || !result.status().detail().node.empty()) return result;
  return result.status().at(path);
}

Result<ImportResult> importOnnxBytes(std::shared_ptr<Buffer> bytes, const ImportOptions& options) {
  return importBuffer(bytes, ExternalData(options.dataFolder, options.dataRoots, options.dataBuffers),
                      options);
}

Status summariseProblems(const std::vector<Status>& problems) {
  if (problems.empty()) return Status::ok();
  if (problems.size() == 1) return problems.front();
  ErrorDetail detail = problems.front().detail();
  detail.message += " (and " + std::to_string(problems.size() - 1) + " more problems)";
  return Status(std::move(detail));
}

}  // namespace rota::onnx
