// SPDX-License-Identifier: Apache-2.0
// What runs of an engine cost beside the work itself: allocations, memory growth and things made ready inside `run`, and the time of the first call
// at a new shape. tests/test_shape_runs.py asserts it; tools/shape_runs.py makes the table of docs/dynamic-shapes.md.
//
//   rota_shape_runs ENGINE FOLDER... [--changes N] [--threads N]
//
// Each folder holds NAME.npy of one set of inputs. A context that never calls `prepare` takes the sets in turn (one pass to warm up), another one
// prepares each. Memory is counted by replacing the allocation functions of the process; what a library beneath the runtime takes for itself is
// counted apart, by the modules on the stack. Prints one JSON object.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <execinfo.h>

#include <rota/engine.h>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> own{0};
std::atomic<long> foreign{0};
std::atomic<bool> shows{false};

/// Called for every allocation while counting.
void note(std::size_t bytes) {
  thread_local bool inside = false;  // backtrace may allocate
  if (!counting || inside) return;
  inside = true;
  void* frames[48];
  const int count = backtrace(frames, 48);
  bool isForeign = false;
  for (int i = 0; i < count && !isForeign; ++i) {
    Dl_info info{};
    if (dladdr(frames[i], &info) != 0 && info.dli_fname != nullptr)
      isForeign = std::strstr(info.dli_fname, "libdnnl") != nullptr ||
                  std::strstr(info.dli_fname, "libgomp") != nullptr;
  }
  ++(isForeign ? foreign : own);
  if (!isForeign && shows) {
    std::fprintf(stderr, "allocation of %zu bytes\n", bytes);
    backtrace_symbols_fd(frames, std::min(count, 16), 2);
  }
  inside = false;
}

}  // namespace

// The program's own definitions are used by all libraries of the process, operator new included.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT: the names of glibc
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* old, std::size_t size);               // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
void* malloc(std::size_t size) {
  note(size);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  note(count * size);
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  note(size);
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  note(size);
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? 12 : 0;
}
}

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void stop(const std::string& text) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  std::exit(1);
}
void check(const rota::Status& status) {
  if (!status.isOk()) stop(status.toString());
}
template <typename T> T orStop(rota::Result<T> result) {
  check(result.status());
  return std::move(*result);
}

struct Array {
  std::vector<std::int64_t> dims;
  std::string bytes;
};

/// The shape and the data of a .npy file in C order; the engine says the type.
Array readNpy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.size() < 12 || text.compare(1, 5, "NUMPY") != 0) stop("not a .npy file: " + path.string());
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[i]));
  };
  const bool isLong = text[6] != 1;
  const std::size_t length = isLong ? byte(8) | byte(9) << 8 | byte(10) << 16 : byte(8) | byte(9) << 8;
  const std::size_t start = isLong ? 12 : 10;
  const std::string header = text.substr(start, length);
  Array array;
  std::size_t at = header.find('(', header.find("'shape'")) + 1;
  while (header[at] != ')') {
    if (header[at] < '0' || header[at] > '9') {
      ++at;
      continue;
    }
    std::size_t used = 0;
    array.dims.push_back(std::stoll(header.substr(at), &used));
    at += used;
  }
  array.bytes = text.substr(start + length);
  return array;
}

using Inputs = std::map<std::string, Array>;

Inputs readFolder(const rota::Engine& engine, const std::filesystem::path& folder) {
  Inputs inputs;
  for (const rota::TensorInfo& t : engine.inputs()) {
    std::string name = t.name;
    std::replace(name.begin(), name.end(), '/', '_');
    inputs[t.name] = readNpy(folder / (name + ".npy"));
  }
  return inputs;
}

struct Bound {
  std::vector<std::pair<std::string, rota::TensorView>> views;
};

double runMs(rota::Context& context) {
  const auto start = Clock::now();
  check(context.run());
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The largest relative distance (L2) between the float32 results of two contexts; 1 where shapes or other types differ.
double difference(const rota::Engine& engine, const rota::Context& a, const rota::Context& b) {
  double worst = 0;
  for (const rota::TensorInfo& t : engine.outputs()) {
    const auto x = a.output(t.name);
    const auto y = b.output(t.name);
    if (!x || !y) continue;  // sequences
    if (!std::equal(x->dims.begin(), x->dims.end(), y->dims.begin(), y->dims.end())) return 1;
    if (t.dtype != rota::DType::kFloat32) {
      const bool same = x->bytes() == 0 || std::memcmp(x->data, y->data, x->bytes()) == 0;
      if (!same && t.dtype != rota::DType::kFloat16 && t.dtype != rota::DType::kBFloat16) return 1;
      continue;
    }
    double distance = 0, size = 0;
    for (std::int64_t i = 0; i < x->count(); ++i) {
      const auto p = static_cast<double>(x->as<float>()[i]);
      const auto q = static_cast<double>(y->as<float>()[i]);
      if (p == q || (p != p && q != q)) continue;
      distance += (p - q) * (p - q);
    }
    for (std::int64_t i = 0; i < y->count(); ++i) {
      const auto q = static_cast<double>(y->as<float>()[i]);
      if (q - q == 0) size += q * q;
    }
    if (!(distance >= 0)) return 1;
    worst = std::max(worst, std::sqrt(distance / (size > 0 ? size : 1)));
  }
  return worst;
}

struct Arguments {
  std::string engine;
  std::vector<std::string> folders;
  int changes = 20;
  int threads = 0;
};

Arguments parse(int count, char** values) {
  Arguments a;
  for (int i = 1; i < count; ++i) {
    const std::string text = values[i];
    if (text == "--changes" && i + 1 < count)
      a.changes = std::atoi(values[++i]);
    else if (text == "--threads" && i + 1 < count)
      a.threads = std::atoi(values[++i]);
    else if (text == "--show")
      shows = true;
    else if (a.engine.empty())
      a.engine = text;
    else
      a.folders.push_back(text);
  }
  if (a.folders.empty()) stop("usage: rota_shape_runs ENGINE FOLDER... [--changes N] [--threads N] [--show]");
  return a;
}

struct Counted {
  long own = 0, foreign = 0;
};
template <typename F> Counted count(const F& body) {
  own = 0;
  foreign = 0;
  counting = true;
  body();
  counting = false;
  return {own, foreign};
}

}  // namespace

int main(int argumentCount, char** argumentValues) {
  const Arguments a = parse(argumentCount, argumentValues);
  void* prime[4];
  backtrace(prime, 4);  // its first call loads a library
  const auto engine = orStop(rota::Engine::load(a.engine));
  std::vector<Inputs> sets;
  std::vector<Bound> bound;
  for (const std::string& folder : a.folders) sets.push_back(readFolder(*engine, folder));
  for (const Inputs& inputs : sets) {
    bound.emplace_back();
    for (const rota::TensorInfo& t : engine->inputs()) {
      const Array& array = inputs.at(t.name);
      bound.back().views.emplace_back(t.name, rota::TensorView{t.dtype, array.dims, array.bytes.data()});
    }
  }
  const auto bind = [&](rota::Context& context, std::size_t set) {
    for (const auto& [name, view] : bound[set].views) check(context.setInput(name, view));
  };

  // Shapes that nobody prepares.
  const auto free = orStop(engine->createContext(a.threads));
  const std::size_t bytesAtStart = free->activationBytes();
  std::vector<double> first, again;
  const Counted cold = count([&] {
    for (std::size_t s = 0; s < sets.size(); ++s) {
      bind(*free, s);
      check(free->run());
    }
  });
  const std::size_t bytesWarm = free->activationBytes();
  const Counted warm = count([&] {
    for (int i = 0; i < a.changes; ++i) {
      bind(*free, static_cast<std::size_t>(i) % sets.size());
      check(free->run());
    }
  });
  for (int i = 0; i < 2 * static_cast<int>(sets.size()); ++i) {
    bind(*free, static_cast<std::size_t>(i) % sets.size());
    if (i % static_cast<int>(sets.size()) == 0) {
      first.push_back(runMs(*free));
      for (int k = 0; k < 2; ++k) again.push_back(runMs(*free));
    }
  }

  // Shapes that are prepared.
  const auto prepared = orStop(engine->createContext(a.threads));
  for (std::size_t s = 0; s < sets.size(); ++s) {
    bind(*prepared, s);
    check(prepared->prepare());
    check(prepared->run());
  }
  const Counted known = count([&] {
    for (int i = 0; i < a.changes; ++i) {
      bind(*prepared, static_cast<std::size_t>(i) % sets.size());
      check(prepared->run());
    }
  });
  double apart = 0;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    bind(*free, s);
    bind(*prepared, s);
    check(free->run());
    check(prepared->run());
    apart = std::max(apart, difference(*engine, *free, *prepared));
  }
  std::vector<double> steady;
  bind(*prepared, 0);
  for (int k = 0; k < 5; ++k) steady.push_back(runMs(*prepared));

  std::printf(
      "{\"sets\": %zu, \"changes\": %d,\n \"any_shape\": {\"first_pass\": {\"own\": %ld, \"library\": %ld}, "
      "\"own\": %ld, \"library\": "
      "%ld, \"prepares\": %llu, \"growth_bytes\": %zu, \"growth_first_pass_bytes\": %zu, \"first_call_ms\": "
      "%.4f, "
      "\"steady_ms\": %.4f},\n \"prepared\": {\"own\": %ld, \"library\": %ld, \"steady_ms\": %.4f},\n "
      "\"difference\": %.3g}\n",
      sets.size(), a.changes, cold.own, cold.foreign, warm.own, warm.foreign,
      static_cast<unsigned long long>(free->implicitPrepares()), free->activationBytes() - bytesWarm,
      bytesWarm - bytesAtStart, median(first), median(again), known.own, known.foreign, median(steady),
      apart);
  return 0;
}
