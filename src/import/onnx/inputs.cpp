// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/inputs.h"

#include <set>
#include <string_view>

#include "core/file.h"
#include "import/onnx/model_view.h"

namespace rota::onnx {

Result<std::vector<DeclaredInput>> readInputs(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  const std::string_view bytes(reinterpret_cast<const char*>((*file)->data()), (*file)->size());
  auto model = parseModel(bytes);
  if (!model) return model.status().at(path);
  std::vector<DeclaredInput> inputs;
  if (!model->graph) return inputs;
  std::set<std::string_view> initializers;
  for (const InitializerView& i : model->graph->initializers) initializers.insert(i.name);
  for (const ValueInfoView& v : model->graph->inputs) {
    if (initializers.contains(v.name)) continue;
    auto type = readType(v.type);
    inputs.push_back({std::string(v.name), type.isOk() ? type->dims.size() : 0});
  }
  return inputs;
}

}  // namespace rota::onnx
