// SPDX-License-Identifier: Apache-2.0
// Fuzzes the way of a model: parser, graph, inference, passes (with their bounded constant folding), regions, program, validation.
//
// No kernel runs but those of constant folding; no file is opened: external data has no folder. A model that imports must build to a valid
// program or be refused with a message. Mutations keep the message form (driver/protobuf_mutator.h), one in eight is of plain bytes.
#include <algorithm>

#include "core/check.h"
#include "driver/fuzz.h"
#include "driver/protobuf_mutator.h"
#include "import/onnx/reader.h"
#include "op/definition.h"
#include "pass/pass.h"
#include "plan/program_builder.h"

namespace {

using namespace rota;

const std::vector<std::string>& words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names = {"",      "x",    "y",    "a",   "b", "ai.onnx", "com.microsoft",
                                      "batch", "axis", "axes", "perm"};
    for (const op::Definition* d : op::all()) {
      names.push_back(d->name);
      for (const auto& attribute : d->attributes)
        if (std::find(names.begin(), names.end(), attribute.name) == names.end())
          names.push_back(attribute.name);
    }
    return names;
  }();
  return all;
}

void build(ir::Graph& graph) {
  static ThreadPool threads(1);
  static const knob::KnobSet knobs;
  auto passes = pass::runPipeline(graph, {knobs, threads});
  if (!passes) return;
  auto built = plan::buildProgram(graph, {{}, knobs, {}});
  if (!built) return;
  const Status valid = runtime::validate(built->program);
  if (!valid.isOk()) std::fprintf(stderr, "%s\n", valid.toString().c_str());
  fuzz::expect(valid.isOk(), "a program that was built is valid");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto buffer = Buffer::allocate(size);
  if (!buffer) return 0;
  std::copy(data, data + size, reinterpret_cast<std::uint8_t*>((*buffer)->mutableData()));
  auto result = onnx::importOnnxBytes(*buffer, {});
  if (!result) {
    fuzz::expect(!result.status().detail().message.empty(), "an error says what is wrong");
    return 0;
  }
  fuzz::expect((result->graph != nullptr) == result->problems.empty(),
               "there is a graph, or there are problems");
  for (const Status& problem : result->problems) {
    fuzz::expect(!problem.toString().empty(), "a problem has a text");
    // Internal errors are bugs: hostile models have errors of their own.
    if (problem.code() == ErrorCode::kInternal) std::fprintf(stderr, "%s\n", problem.toString().c_str());
    fuzz::expect(problem.code() != ErrorCode::kInternal, "a problem of a model is no internal error");
  }
  if (result->graph != nullptr) build(*result->graph);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maxSize,
                                               unsigned int seed) {
  fuzz::Random random(seed);
  std::vector<fuzz::Field> fields;
  if (random.oneIn(8) || !fuzz::parseMessage(fuzz::textOf(data, size), fields))
    return LLVMFuzzerMutate(data, size, maxSize);
  fuzz::mutateMessage(fields, random, words());
  std::string out;
  fuzz::writeMessage(fields, out);
  if (out.size() > maxSize) return size;
  std::copy(out.begin(), out.end(), data);
  return out.size();
}
