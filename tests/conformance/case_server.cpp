// SPDX-License-Identifier: Apache-2.0
// rota_case_server: answers small models, one after the other, over its standard input and output. A test that tries thousands of
// graphs would spend its time starting processes; here one costs well under a millisecond (tests/case_server.py is the other end).
//
// A message is a number of parts, each a size and bytes (numbers: 64 bits, little-endian). Request: options, model, then the inputs of
// each set as TensorProtos in the order of the model's inputs. Options are lines:
//   mode reference        the evaluator;  mode engine: a level 0 engine file in a folder of its own, loaded and run;
//   mode generic          the same with reference kernels only
//   threads N
//   range NAME LO:OPT:HI ...    sizes of one input, one range a dim (an engine is built with them as its profile)
// Answer: "ok" or the error, then each output of each set as a header `dtype dim dim ...` and its bytes (below 8 bits packed); a sequence
// is the header `sequence N` followed by its elements. Used by tests/test_properties.py and tests/test_cases.py.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <rota/builder.h>
#include <rota/engine.h>
#include <rota/network.h>

#include "core/check.h"
#include "core/file.h"
#include "import/onnx/reader.h"
#include "import/onnx/tensor_proto.h"
#include "op/evaluate.h"

namespace rota {
namespace {

using Message = std::vector<std::string>;

// --- Messages.

bool readBytes(void* out, std::size_t size) { return std::fread(out, 1, size, stdin) == size; }

bool readMessage(Message& message) {
  std::uint64_t parts = 0;
  message.clear();
  if (!readBytes(&parts, sizeof parts)) return false;
  for (std::uint64_t i = 0; i < parts; ++i) {
    std::uint64_t size = 0;
    if (!readBytes(&size, sizeof size)) return false;
    std::string part(size, '\0');
    if (!readBytes(part.data(), size)) return false;
    message.push_back(std::move(part));
  }
  return true;
}

void writeBytes(const void* data, std::size_t size) {
  if (std::fwrite(data, 1, size, stdout) != size) std::exit(2);
}

void writeMessage(const Message& message) {
  const std::uint64_t parts = message.size();
  writeBytes(&parts, sizeof parts);
  for (const std::string& part : message) {
    const std::uint64_t size = part.size();
    writeBytes(&size, sizeof size);
    writeBytes(part.data(), part.size());
  }
  std::fflush(stdout);
}

void answerTensor(const TensorView& view, Message& answer) {
  std::string header = info(view.dtype).name;
  for (const std::int64_t dim : view.dims) header += " " + std::to_string(dim);
  answer.push_back(std::move(header));
  answer.emplace_back(view.as<char>(), view.count() == 0 ? 0 : view.bytes());
}

template <typename Elements> void answerSequence(const Elements& elements, Message& answer) {
  answer.push_back("sequence " + std::to_string(elements.size()));
  for (const TensorView& element : elements) answerTensor(element, answer);
}

// --- Requests.

struct Request {
  std::string mode;
  int threads = 1;
  std::map<std::string, std::vector<DimRange>> ranges;
};

Result<Request> parseOptions(const std::string& text) {
  Request request;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, name, range;
    words >> key;
    if (key == "mode") {
      words >> request.mode;
    } else if (key == "threads") {
      words >> request.threads;
    } else if (key == "range") {
      words >> name;
      auto& ranges = request.ranges[name];
      while (words >> range) {
        DimRange r;
        if (std::sscanf(range.c_str(), "%ld:%ld:%ld", &r.min, &r.opt, &r.max) != 3)
          return Status(ErrorCode::kUsage, "not a range").found(range);
        ranges.push_back(r);
      }
    } else {
      return Status(ErrorCode::kUsage, "unknown option").found(key);
    }
  }
  if (request.mode != "reference" && request.mode != "engine" && request.mode != "generic")
    return Status(ErrorCode::kUsage, "unknown mode").found(request.mode);
  return request;
}

using TensorSet = std::vector<Tensor>;

Result<std::vector<TensorSet>> readSets(const Message& message, std::size_t inputs) {
  const std::size_t given = message.size() - 2;
  if (inputs == 0 ? given != 0 : given % inputs != 0)
    return Status(ErrorCode::kUsage, "the inputs are no whole sets").found(std::to_string(given));
  std::vector<TensorSet> sets(inputs == 0 ? 1 : given / inputs);
  for (std::size_t i = 0; i < given; ++i) {
    auto tensor = onnx::readTensorProto(message[i + 2], {});
    if (!tensor) return tensor.status();
    sets[i / inputs].push_back(std::move(tensor->tensor));
  }
  return sets;
}

// --- The evaluator.

Status evaluate(const Request& request, const Message& message, Message& answer) {
  onnx::ImportOptions options;
  for (const auto& [name, ranges] : request.ranges) {
    for (const DimRange& r : ranges) options.inputDims[name].push_back({r.min, r.opt, r.max});
  }
  auto bytes = Buffer::allocate(message[1].size());
  if (!bytes) return bytes.status();
  std::memcpy((*bytes)->mutableData(), message[1].data(), message[1].size());
  auto model = onnx::importOnnxBytes(*bytes, options);
  if (!model) return model.status();
  if (!model->problems.empty()) return onnx::summariseProblems(model->problems);
  auto sets = readSets(message, model->graph->inputs().size());
  if (!sets) return sets.status();
  ThreadPool threads(request.threads);
  for (TensorSet& set : *sets) {
    std::vector<op::EvaluatedValue> inputs;
    for (Tensor& tensor : set) inputs.push_back({.tensor = std::move(tensor), .sequence = {}});
    auto outputs = op::evaluateGraph(*model->graph, inputs, threads);
    if (!outputs) return outputs.status();
    for (const op::EvaluatedValue& output : *outputs) {
      if (!output.sequence) {
        answerTensor(output.tensor.view(), answer);
        continue;
      }
      std::vector<TensorView> views;
      for (const Tensor& element : output.sequence->elements) views.push_back(element.view());
      answerSequence(views, answer);
    }
  }
  return Status::ok();
}

// --- Engines.

/// A folder that is gone with the program.
class WorkFolder {
 public:
  WorkFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-cases-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::exit(2);
    path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

Result<std::shared_ptr<Engine>> buildAndLoad(const Request& request, const Message& message,
                                             const WorkFolder& folder) {
  const std::string modelFile = folder.file("model.onnx"), engineFile = folder.file("model.rota");
  ROTA_RETURN_IF_ERROR(writeFile(modelFile, message[1]));
  ModelOptions options;
  options.inputDims = request.ranges;
  auto network = Network::fromOnnx(modelFile, options);
  if (!network) return network.status();
  BuilderConfig config;
  config.level = 0;
  config.threads = 1;
  config.genericOnly = request.mode == "generic";
  if (!request.ranges.empty())
    config.profiles.push_back(ProfileSpec{.name = "profile0", .inputs = request.ranges});
  if (auto report = buildEngine(*network, config, engineFile); !report) return report.status();
  return Engine::load(engineFile, {.nativeCode = request.mode != "generic"});
}

Status runEngine(const Request& request, const Message& message, const WorkFolder& folder, Message& answer) {
  auto engine = buildAndLoad(request, message, folder);
  if (!engine) return engine.status();
  const auto& infos = (*engine)->inputs();
  auto sets = readSets(message, infos.size());
  if (!sets) return sets.status();
  auto context = (*engine)->createContext(request.threads);
  if (!context) return context.status();
  for (const TensorSet& set : *sets) {
    for (std::size_t i = 0; i < infos.size(); ++i)
      ROTA_RETURN_IF_ERROR((*context)->setInput(infos[i].name, set[i].view()));
    ROTA_RETURN_IF_ERROR((*context)->prepare());
    ROTA_RETURN_IF_ERROR((*context)->run());
    for (const TensorInfo& output : (*engine)->outputs()) {
      if (output.isSequence || output.isOptional) {
        auto elements = (*context)->outputSequence(output.name);
        if (!elements) return elements.status();
        answerSequence(*elements, answer);
        continue;
      }
      auto value = (*context)->output(output.name);
      if (!value) return value.status();
      answerTensor(*value, answer);
    }
  }
  return Status::ok();
}

Status answerRequest(const Message& message, const WorkFolder& folder, Message& answer) {
  if (message.size() < 2) return {ErrorCode::kUsage, "a request has options and a model"};
  auto request = parseOptions(message[0]);
  if (!request) return request.status();
  return request->mode == "reference" ? evaluate(*request, message, answer)
                                      : runEngine(*request, message, folder, answer);
}

int serve() {
  const WorkFolder folder;
  Message message;
  while (readMessage(message)) {
    Message answer = {"ok"};
    if (const Status status = answerRequest(message, folder, answer); !status.isOk())
      answer = {status.toString()};
    writeMessage(answer);
  }
  return 0;
}

}  // namespace
}  // namespace rota

int main() { return rota::serve(); }
