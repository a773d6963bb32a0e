// SPDX-License-Identifier: Apache-2.0
// `rota run`: one run, outputs to .npy files, or a summary of each output.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <set>

#include "cli/cli.h"
#include "core/check.h"
#include "core/interrupt.h"
#include "data/inputs.h"
#include "data/npy.h"

namespace rota::cli {
namespace {

struct RunArguments {
  ModelArguments model;
  std::vector<std::string> inputs;
  std::vector<std::string> ranges;
  std::string outputs;
};

std::string dimsText(Dims dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

struct Summary {
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity(),
         sum = 0;
  std::int64_t finite = 0, nonFinite = 0;
  std::vector<std::pair<double, std::int64_t>> top;  // five largest, with their flat index
};

Summary summarise(const TensorView& t) {
  Summary s;
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const double v = realAt(t, i);
    if (!std::isfinite(v)) {
      ++s.nonFinite;
      continue;
    }
    ++s.finite;
    s.sum += v;
    s.min = std::min(s.min, v);
    s.max = std::max(s.max, v);
    if (s.top.size() == 5 && v <= s.top.back().first) continue;
    s.top.emplace_back(v, i);
    std::stable_sort(s.top.begin(), s.top.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (s.top.size() > 5) s.top.pop_back();
  }
  return s;
}

void printSummary(const std::string& name, const TensorView& t) {
  std::printf("%s  %s%s", name.c_str(), info(t.dtype).name, dimsText(t.dims).c_str());
  const DTypeClass c = info(t.dtype).dtypeClass;
  if (c == DTypeClass::kComplex || c == DTypeClass::kString || t.count() == 0) {
    std::printf("\n");
    return;
  }
  const Summary s = summarise(t);
  if (s.finite > 0)
    std::printf("  min %.6g  max %.6g  mean %.6g", s.min, s.max, s.sum / static_cast<double>(s.finite));
  std::printf("  non-finite %lld\n  top:", static_cast<long long>(s.nonFinite));
  for (const auto& [value, index] : s.top) std::printf("  [%lld] %.6g", static_cast<long long>(index), value);
  std::printf("\n");
}

Status writeOutputs(const Engine& engine, const Context& context, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Status(ErrorCode::kFileWrite, "the folder for outputs cannot be made")
        .at(folder)
        .found(error.message());
  std::set<std::string> files;
  for (const TensorInfo& t : engine.outputs()) {
    if (!files.insert(data::fileNameOf(t.name)).second)
      return Status(ErrorCode::kUsage, "two outputs have the same file name").at(t.name);
  }
  for (const TensorInfo& t : engine.outputs()) {
    const std::string base = (std::filesystem::path(folder) / data::fileNameOf(t.name)).string();
    auto value = context.output(t.name);
    if (value) {
      ROTA_RETURN_IF_ERROR(data::writeNpyFile(base + ".npy", *value));
      continue;
    }
    auto elements = context.outputSequence(t.name);
    if (!elements) return value.status();
    for (std::size_t i = 0; i < elements->size(); ++i)
      ROTA_RETURN_IF_ERROR(data::writeNpyFile(base + "." + std::to_string(i) + ".npy", (*elements)[i]));
  }
  return Status::ok();
}

Result<int> runOnce(const RunArguments& a, const Invocation& invocation) {
  auto opened = openEngine(a.model, invocation);
  if (!opened) return opened.status();
  auto request = inputRequest(*opened, a.ranges);
  if (!request) return request.status();
  auto inputs = data::loadInputs(a.inputs, *request);
  if (!inputs) return inputs.status();
  for (const std::string& line : inputs->notes) note(invocation, line);
  auto context = opened->engine->createContext(a.model.threads);
  if (!context) return context.status();
  if (!a.model.useProfile.empty()) ROTA_RETURN_IF_ERROR((*context)->useProfile(a.model.useProfile));
  for (const auto& [name, tensor] : inputs->tensors)
    ROTA_RETURN_IF_ERROR((*context)->setInput(name, tensor.view()));
  ROTA_RETURN_IF_ERROR((*context)->prepare());
  ROTA_RETURN_IF_ERROR(checkInterrupted());
  ROTA_RETURN_IF_ERROR((*context)->run());
  if (!a.outputs.empty()) {
    ROTA_RETURN_IF_ERROR(writeOutputs(*opened->engine, **context, a.outputs));
  }
  if (!invocation.json.empty()) {
    auto json = jsonResult(invocation, "run");
    json["verdict"] = "ran";
    json["device"] = "cpu";
    json["outputs"] = nlohmann::ordered_json::array();
    for (const TensorInfo& t : opened->engine->outputs()) {
      auto value = (*context)->output(t.name);
      if (!value) continue;
      json["outputs"].push_back(
          {{"name", t.name},
           {"dtype", info(value->dtype).name},
           {"dims", std::vector<std::int64_t>(value->dims.begin(), value->dims.end())}});
    }
    ROTA_RETURN_IF_ERROR(writeJson(invocation, json));
    return 0;
  }
  if (a.outputs.empty()) {
    for (const TensorInfo& t : opened->engine->outputs()) {
      auto value = (*context)->output(t.name);
      if (value) printSummary(t.name, *value);
    }
  }
  return 0;
}

}  // namespace

void addRun(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->model.level = 0;
  CLI::App* sub = app.add_subcommand("run", "Run a model or an engine once");
  addModelOptions(*sub, arguments->model);
  addInputOptions(*sub, arguments->inputs, arguments->ranges);
  sub->add_option("--outputs", arguments->outputs,
                  "Folder for NAME.npy of each output; without it a summary is printed");
  sub->add_option("--use-profile", arguments->model.useProfile,
                  "Name of the profile that the shapes must lie in; default: any that fits");
  addJsonOption(*sub, invocation);
  sub->footer("Example: rota run model.rota --inputs inputs/ --outputs outputs/");
  onChosen(*sub, invocation, [arguments, &invocation] { return runOnce(*arguments, invocation); });
}

}  // namespace rota::cli
