// SPDX-License-Identifier: Apache-2.0
// rota_node_tests: the test cases of the onnx package, imported and run by the reference evaluator.
//
//   rota_node_tests FOLDER [--filter TEXT[,TEXT...]] [--exclusions FILE] [--list] [--jobs N] [--slow] [--verbose]
//
// FOLDER is what export_node_tests.py writes. A filter selects the cases whose name holds one of the texts, or is the text when it
// starts with '='. Every case runs in a process of its own with a time limit, so a crash is one failing case. A failing case prints one
// line; the last line is `N passed, N failed, N excluded`. Cases of the exclusions file (lines of `case  reason`) must fail: one that
// passes is a failure too, so the list cannot go stale. A case of group `run` need not have a file for each output: the rest is only computed. Integers and booleans must be exact; floats have the tolerances of the package, but 16-bit
// ones at least two units in the last place, since the package rounds every step to 16 bits and the kernels here only the result.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <poll.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/file.h"
#include "core/thread_pool.h"
#include "import/onnx/reader.h"
#include "import/onnx/tensor_proto.h"
#include "op/evaluate.h"

namespace rota {
namespace {

constexpr unsigned kSecondsPerCase = 120;

struct Case {
  std::string name;
  double rtol = 1e-3;
  double atol = 1e-7;
  std::string group;
};

struct Options {
  std::string folder;
  std::vector<std::string> filters;
  std::string exclusions;
  int jobs = ThreadPool::defaultThreads();
  bool list = false;
  bool slow = false;
  bool verbose = false;
};

std::string dimsText(Dims dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return text + "]";
}

std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// Complex tensors as real ones of twice the length.
TensorView partsOf(const TensorView& view, std::vector<std::int64_t>& dims) {
  if (info(view.dtype).dtypeClass != DTypeClass::kComplex) return view;
  dims.assign(view.dims.begin(), view.dims.end());
  dims.push_back(2);
  return {view.dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64, dims, view.data};
}

double relativeTolerance(DType dtype, const Case& test) {
  if (dtype == DType::kBFloat16) return std::max(test.rtol, std::ldexp(1.0, -6));
  if (dtype == DType::kFloat16) return std::max(test.rtol, std::ldexp(1.0, -9));
  return test.rtol;
}

/// What is different, or "".
std::string compareTensors(const Tensor& found, const Tensor& expected, const Case& test) {
  if (found.dtype() != expected.dtype()) {
    return std::string("dtype ") + info(found.dtype()).name + ", expected " + info(expected.dtype()).name;
  }
  if (found.dims() != expected.dims())
    return "shape " + dimsText(found.dims()) + ", expected " + dimsText(expected.dims());
  std::vector<std::int64_t> foundDims;
  std::vector<std::int64_t> expectedDims;
  const TensorView a = partsOf(found.view(), foundDims);
  const TensorView b = partsOf(expected.view(), expectedDims);
  const double rtol = relativeTolerance(b.dtype, test);
  std::int64_t wrong = 0;
  std::string first;
  for (std::int64_t i = 0; i < b.count(); ++i) {
    bool same = false;
    if (isFloat(b.dtype)) {
      const double x = realAt(a, i);
      const double y = realAt(b, i);
      same =
          x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= test.atol + rtol * std::fabs(y);
      if (std::isinf(y)) same = x == y;
    } else {
      same = intAt(a, i) == intAt(b, i);
    }
    if (same) continue;
    if (wrong++ == 0)
      first = "element " + std::to_string(i) + " is " + numberText(realAt(a, i)) + ", expected " +
              numberText(realAt(b, i));
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(b.count()) + " elements of " + info(b.dtype).name +
         dimsText(b.dims) + " differ: " + first;
}

std::string compareValues(const op::EvaluatedValue& found, const op::EvaluatedValue& expected,
                          const Case& test) {
  if (found.sequence.has_value() != expected.sequence.has_value())
    return "a tensor in place of a sequence, or the reverse";
  if (!expected.sequence) return compareTensors(found.tensor, expected.tensor, test);
  const auto& a = found.sequence->elements;
  const auto& b = expected.sequence->elements;
  if (a.size() != b.size())
    return std::to_string(a.size()) + " elements, expected " + std::to_string(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (std::string what = compareTensors(a[i], b[i], test); !what.empty())
      return "sequence element " + std::to_string(i) + ": " + what;
  }
  return "";
}

bool fileExists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Inputs and expected outputs of one run: files NAME.pb, or initializers of values.onnx where there is one (a file for each of thousands of small
/// tensors is slow).
class DataSet {
 public:
  static Result<DataSet> open(std::string folder) {
    DataSet data;
    data.folder_ = std::move(folder);
    const std::string path = data.folder_ + "/values.onnx";
    if (!fileExists(path)) return data;
    auto values = onnx::importOnnx(path, {});
    if (!values) return values.status();
    if (!values->problems.empty()) return onnx::summariseProblems(values->problems);
    data.values_ = std::move(values->graph);
    return data;
  }
  bool has(const std::string& name) const { return packed(name) != nullptr || fileExists(pathOf(name)); }
  Result<op::EvaluatedValue> read(const std::string& name, ir::TypeKind kind) const {
    if (const ir::Value* value = packed(name); value != nullptr)
      return op::EvaluatedValue{.tensor = value->constant, .sequence = {}};
    auto value = onnx::readValueFile(pathOf(name), kind);
    if (!value) return std::move(value.status()).at(pathOf(name));
    return std::move(value->value);
  }

 private:
  std::string pathOf(const std::string& name) const { return folder_ + "/" + name + ".pb"; }
  const ir::Value* packed(const std::string& name) const {
    return values_ == nullptr ? nullptr : values_->findValue(name);
  }

  std::string folder_;
  std::unique_ptr<ir::Graph> values_;
};

std::string runDataSet(const ir::Graph& graph, const DataSet& data, const Case& test, ThreadPool& threads) {
  std::vector<op::EvaluatedValue> inputs;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    auto value = data.read("input_" + std::to_string(i), graph.inputs()[i]->type.kind);
    if (!value) return value.status().toString();
    if (value->sequence && value->sequence->elements.empty()) {
      // A file without elements does not say of which type they would be.
      value->sequence->dtype = graph.inputs()[i]->type.dtype;
    }
    inputs.push_back(std::move(*value));
  }
  auto outputs = op::evaluateGraph(graph, inputs, threads);
  if (!outputs) return outputs.status().toString();
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    const std::string name = "output_" + std::to_string(i);
    if (test.group == "run" && !data.has(name)) continue;
    auto expected = data.read(name, graph.outputs()[i]->type.kind);
    if (!expected) return expected.status().toString();
    const std::string what = compareValues((*outputs)[i], *expected, test);
    if (!what.empty()) return "output '" + graph.outputNames()[i] + "': " + what;
  }
  return "";
}

/// What is wrong with the case, or "".
std::string runCase(const Options& options, const Case& test) {
  const std::string folder = options.folder + "/" + test.name;
  auto model = onnx::importOnnx(folder + "/model.onnx", {});
  if (!model) return model.status().toString();
  if (!model->problems.empty()) return onnx::summariseProblems(model->problems).toString();
  ThreadPool threads(1);
  int sets = 0;
  for (; fileExists(folder + "/test_data_set_" + std::to_string(sets)); ++sets) {
    auto data = DataSet::open(folder + "/test_data_set_" + std::to_string(sets));
    if (!data) return data.status().toString();
    const std::string what = runDataSet(*model->graph, *data, test, threads);
    if (!what.empty()) return what;
  }
  return sets == 0 ? "the case has no data" : "";
}

// --- Running many cases, each in its own process.

struct Running {
  pid_t pid = 0;
  int pipe = -1;
  std::size_t index = 0;
  std::string text;
};

Running startCase(const Options& options, const Case& test, std::size_t index) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) std::exit(2);
  const pid_t pid = ::fork();
  if (pid < 0) std::exit(2);
  if (pid == 0) {
    ::close(ends[0]);
    ::alarm(kSecondsPerCase);
    std::string what = runCase(options, test);
    std::replace(what.begin(), what.end(), '\n', ' ');
    what = what.empty() ? "ok" : "!" + what.substr(0, 2000);
    const ssize_t written = ::write(ends[1], what.data(), what.size());
    ::_exit(written == static_cast<ssize_t>(what.size()) ? 0 : 3);
  }
  ::close(ends[1]);
  return {pid, ends[0], index, {}};
}

/// Reads what the process has to say; true when it has ended. `result` is "" when the case passed.
bool continueCase(Running& running, std::string& result) {
  char buffer[4096];
  const ssize_t got = ::read(running.pipe, buffer, sizeof buffer);
  if (got > 0) {
    running.text.append(buffer, static_cast<std::size_t>(got));
    return false;
  }
  ::close(running.pipe);
  int status = 0;
  ::waitpid(running.pid, &status, 0);
  if (running.text == "ok") {
    result.clear();
  } else if (!running.text.empty()) {
    result = running.text.substr(1);
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    result = "took more than " + std::to_string(kSecondsPerCase) + " s";
  } else {
    result = WIFSIGNALED(status) ? std::string("crashed: ") + strsignal(WTERMSIG(status))
                                 : "ended without a result";
  }
  return true;
}

std::vector<std::string> runCases(const Options& options, const std::vector<Case>& cases) {
  std::vector<std::string> results(cases.size());
  std::vector<Running> running;
  std::size_t next = 0;
  while (next < cases.size() || !running.empty()) {
    while (next < cases.size() && running.size() < static_cast<std::size_t>(options.jobs)) {
      running.push_back(startCase(options, cases[next], next));
      ++next;
    }
    std::vector<pollfd> waits;
    for (const Running& each : running) waits.push_back({each.pipe, POLLIN, 0});
    ::poll(waits.data(), waits.size(), -1);
    for (std::size_t i = running.size(); i-- > 0;) {
      if (waits[i].revents == 0) continue;
      if (continueCase(running[i], results[running[i].index]))
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return results;
}

// --- Command line and lists.

bool isSelected(const Options& options, const Case& test) {
  if (options.filters.empty()) return options.slow || test.group != "light";
  return std::any_of(options.filters.begin(), options.filters.end(), [&](const std::string& filter) {
    return filter.front() == '=' ? test.name == filter.substr(1)
                                 : test.name.find(filter) != std::string::npos;
  });
}

bool readCases(const Options& options, std::vector<Case>& cases) {
  auto text = readTextFile(options.folder + "/cases.tsv");
  if (!text) {
    std::fprintf(stderr, "%s\nwrite the cases first: export_node_tests.py FOLDER\n",
                 text.status().toString().c_str());
    return false;
  }
  std::istringstream lines(*text);
  Case test;
  while (lines >> test.name >> test.rtol >> test.atol >> test.group) {
    if (isSelected(options, test)) cases.push_back(test);
  }
  return true;
}

bool readExclusions(const std::string& path, std::map<std::string, std::string>& exclusions) {
  if (path.empty()) return true;
  auto text = readTextFile(path);
  if (!text) {
    std::fprintf(stderr, "%s\n", text.status().toString().c_str());
    return false;
  }
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t space = line.find(' ');
    const std::size_t reason =
        space == std::string::npos ? std::string::npos : line.find_first_not_of(' ', space);
    if (reason == std::string::npos ||
        !exclusions.emplace(line.substr(0, space), line.substr(reason)).second) {
      std::fprintf(stderr, "%s: not `case  reason`, or listed twice: %s\n", path.c_str(), line.c_str());
      return false;
    }
  }
  return true;
}

bool parseOptions(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool hasValue = i + 1 < argc;
    if (argument == "--list") {
      options.list = true;
    } else if (argument == "--slow") {
      options.slow = true;
    } else if (argument == "--verbose") {
      options.verbose = true;
    } else if (argument == "--filter" && hasValue) {
      std::istringstream parts(argv[++i]);
      for (std::string part; std::getline(parts, part, ',');) {
        if (!part.empty()) options.filters.push_back(part);
      }
    } else if (argument == "--exclusions" && hasValue) {
      options.exclusions = argv[++i];
    } else if (argument == "--jobs" && hasValue) {
      options.jobs = std::max(1, std::atoi(argv[++i]));
    } else if (argument.front() != '-' && options.folder.empty()) {
      options.folder = argument;
    } else {
      return false;
    }
  }
  return !options.folder.empty();
}

int report(const Options& options, const std::vector<Case>& cases,
           const std::map<std::string, std::string>& exclusions, const std::vector<std::string>& results) {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t excluded = 0;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    seen.insert(cases[i].name);
    const bool isExcluded = exclusions.contains(cases[i].name);
    if (isExcluded && results[i].empty()) {
      std::printf("FAIL %s: passes, but is in the list of exclusions\n", cases[i].name.c_str());
      ++failed;
    } else if (isExcluded) {
      if (options.verbose) std::printf("excluded %s: %s\n", cases[i].name.c_str(), results[i].c_str());
      ++excluded;
    } else if (results[i].empty()) {
      if (options.verbose) std::printf("ok %s\n", cases[i].name.c_str());
      ++passed;
    } else {
      std::printf("FAIL %s: %s\n", cases[i].name.c_str(), results[i].c_str());
      ++failed;
    }
  }
  if (options.filters.empty() && options.slow) {
    for (const auto& [name, reason] : exclusions) {
      if (seen.contains(name)) continue;
      std::printf("FAIL %s: in the list of exclusions, but there is no such case\n", name.c_str());
      ++failed;
    }
  }
  std::printf("%zu passed, %zu failed, %zu excluded\n", passed, failed, excluded);
  return failed == 0 && passed + excluded != 0 ? 0 : 1;
}

int runProgram(int argc, char** argv) {
  Options options;
  if (!parseOptions(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: rota_node_tests FOLDER [--filter TEXT,...] [--exclusions FILE] [--list] [--jobs N] "
                 "[--slow] [--verbose]\n");
    return 2;
  }
  std::vector<Case> cases;
  std::map<std::string, std::string> exclusions;
  if (!readCases(options, cases) || !readExclusions(options.exclusions, exclusions)) return 2;
  if (options.list) {
    for (const Case& test : cases) std::printf("%s\n", test.name.c_str());
    return 0;
  }
  return report(options, cases, exclusions, runCases(options, cases));
}

}  // namespace
}  // namespace rota

int main(int argc, char** argv) { return rota::runProgram(argc, argv); }
