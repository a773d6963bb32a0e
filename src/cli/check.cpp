// SPDX-License-Identifier: Apache-2.0
// `rota check`: every problem of a model in one pass, by node, with what to do; or a summary of what it holds.
#include "core/check.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/cli.h"
#include "core/error_table.h"
#include "import/onnx/inputs.h"
#include "import/onnx/reader.h"
#include "ir/graph.h"

namespace rota::cli {
namespace {

struct CheckArguments {
  ModelArguments model;
};

void count(const ir::Graph& graph, std::map<std::string, int>& operators) {
  for (const auto& node : graph.nodes()) {
    ++operators[(node->domain.empty() ? "" : node->domain + ".") + node->opType];
    for (const auto& block : node->blocks) count(*block, operators);
  }
}

std::string typeText(ir::Graph& graph, const ir::Value& v) {
  std::string text = info(v.type.dtype).name;
  if (!v.type.shape.known) return text + "[?]";
  text += "[";
  for (std::size_t i = 0; i < v.type.shape.dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + graph.sizes().toString(graph.sizes().resolve(v.type.shape.dims[i]));
  return text + "]";
}

void printSummary(const std::string& path, onnx::ImportResult& result) {
  ir::Graph& graph = *result.graph;
  std::map<std::string, int> operators;
  count(graph, operators);
  int nodes = 0;
  for (const auto& [name, n] : operators) nodes += n;
  std::printf("%s: no problems, %d nodes, %zu kinds of operator\n", path.c_str(), nodes, operators.size());
  for (const ir::Value* v : graph.inputs())
    std::printf("input    %s  %s\n", v->name.c_str(), typeText(graph, *v).c_str());
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    std::printf("output   %s  %s\n", graph.outputNames()[i].c_str(),
                typeText(graph, *graph.outputs()[i]).c_str());
  std::printf("operators");
  for (const auto& [name, n] : operators) std::printf("  %s %d", name.c_str(), n);
  std::printf("\n");
  for (const std::string& line : result.notes) std::printf("note     %s\n", line.c_str());
}

Result<int> runCheck(const CheckArguments& a, const Invocation& invocation) {
  onnx::ImportOptions options;
  if (!a.model.shapes.empty() || !a.model.profiles.empty() || !a.model.dims.empty()) {
    auto inputs = onnx::readInputs(a.model.path);
    if (!inputs) return inputs.status();
    std::vector<NamedRank> names;
    for (const auto& i : *inputs) names.push_back({i.name, i.rank});
    auto ranges = parseRanges(a.model, names);
    if (!ranges) return ranges.status();
    for (const auto& [name, list] : ranges->inputs)
      for (const DimRange& r : list) options.inputDims[name].push_back({r.min, r.opt, r.max});
    for (const auto& [name, r] : ranges->symbols) options.symbols[name] = {r.min, r.opt, r.max};
  }
  auto result = onnx::importOnnx(a.model.path, options);
  if (!result) return result.status();
  int exitCode = 0;
  for (const Status& p : result->problems) exitCode = std::max(exitCode, exitCodeOf(p.code()));
  if (!invocation.json.empty()) {
    auto json = jsonResult(invocation, "check");
    json["verdict"] = result->problems.empty() ? "ok" : "problems";
    json["problems"] = nlohmann::ordered_json::array();
    for (const Status& p : result->problems) json["problems"].push_back(errorJson(p));
    json["notes"] = result->notes;
    if (result->graph != nullptr && result->problems.empty()) {
      std::map<std::string, int> operators;
      count(*result->graph, operators);
      json["operators"] = operators;
    }
    ROTA_RETURN_IF_ERROR(writeJson(invocation, json));
    return exitCode;
  }
  if (result->problems.empty()) {
    printSummary(a.model.path, *result);
    return 0;
  }
  for (const Status& p : result->problems) std::printf("%s\n", p.toString().c_str());
  std::printf("%s: %zu problem%s\n", a.model.path.c_str(), result->problems.size(),
              result->problems.size() == 1 ? "" : "s");
  return exitCode;
}

}  // namespace

void addCheck(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* sub = app.add_subcommand("check", "List every problem of a model in one pass");
  addModelOptions(*sub, arguments->model);
  addJsonOption(*sub, invocation);
  sub->footer("Example: rota check model.onnx");
  onChosen(*sub, invocation, [arguments, &invocation] { return runCheck(*arguments, invocation); });
}

}  // namespace rota::cli
