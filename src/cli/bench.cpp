// SPDX-License-Identifier: Apache-2.0
// `rota bench`: latency, throughput, first run, memory of a model or an engine on this machine.
//
// Latency is host input to host output of one run. With --streams N, N contexts run at once in threads of their own; throughput counts all of them. Warm-up is
// never counted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <sys/resource.h>
#include <thread>

#include "cli/cli.h"
#include "core/check.h"
#include "core/interrupt.h"
#include "core/thread_pool.h"
#include "data/inputs.h"

namespace rota::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchArguments {
  ModelArguments model;
  std::vector<std::string> inputs;
  std::vector<std::string> ranges;
  double duration = 3;
  double warmupMs = 200;
  std::int64_t iterations = 0;
  int streams = 1;
  std::vector<double> percentiles;
  bool profile = false;
};

struct Measured {
  std::vector<double> latenciesMs;  // sorted
  double firstRunMs = 0;
  double seconds = 0;
  std::size_t activationBytes = 0;
  std::vector<StepTime> profile;
};

double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The value below which `share` of the sorted samples lie (linear between neighbours).
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
}

/// VmHWM of this process; ru_maxrss would include what the process was started from.
std::size_t peakMemory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return static_cast<std::size_t>(std::stoull(line.substr(6))) * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

Status warmUp(Context& context, double ms) {
  const auto start = Clock::now();
  while (msSince(start) < ms && !interrupted()) ROTA_RETURN_IF_ERROR(context.run());
  return Status::ok();
}

Status timeRuns(Context& context, const BenchArguments& a, std::vector<double>& latencies) {
  const auto start = Clock::now();
  const std::int64_t atLeast = std::max<std::int64_t>(a.iterations, 3);
  while ((msSince(start) < a.duration * 1e3 || static_cast<std::int64_t>(latencies.size()) < atLeast) &&
         !interrupted()) {
    const auto begin = Clock::now();
    ROTA_RETURN_IF_ERROR(context.run());
    latencies.push_back(msSince(begin));
  }
  return Status::ok();
}

Result<Measured> measure(Engine& engine, const data::LoadedInputs& inputs, const BenchArguments& a,
                         Progress& progress) {
  Measured m;
  std::vector<std::unique_ptr<Context>> contexts;
  for (int s = 0; s < a.streams; ++s) {
    auto context = engine.createContext(a.model.threads);
    if (!context) return context.status();
    if (!a.model.useProfile.empty()) ROTA_RETURN_IF_ERROR((*context)->useProfile(a.model.useProfile));
    for (const auto& [name, tensor] : inputs.tensors)
      ROTA_RETURN_IF_ERROR((*context)->setInput(name, tensor.view()));
    const auto start = Clock::now();
    ROTA_RETURN_IF_ERROR((*context)->prepare());
    ROTA_RETURN_IF_ERROR((*context)->run());
    if (s == 0) m.firstRunMs = msSince(start);
    contexts.push_back(std::move(*context));
  }
  progress.setTimed("warm-up", a.warmupMs / 1e3);
  for (auto& c : contexts) ROTA_RETURN_IF_ERROR(warmUp(*c, a.warmupMs / static_cast<double>(a.streams)));
  progress.setTimed("measuring", a.duration);
  std::vector<std::vector<double>> latencies(contexts.size());
  std::vector<Status> statuses(contexts.size());
  const auto start = Clock::now();
  if (contexts.size() == 1) {
    statuses[0] = timeRuns(*contexts[0], a, latencies[0]);
  } else {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < contexts.size(); ++i)
      threads.emplace_back([&, i] { statuses[i] = timeRuns(*contexts[i], a, latencies[i]); });
    for (std::thread& t : threads) t.join();
  }
  m.seconds = msSince(start) / 1e3;
  for (const Status& s : statuses) ROTA_RETURN_IF_ERROR(Status(s));
  ROTA_RETURN_IF_ERROR(checkInterrupted());
  for (const auto& l : latencies) m.latenciesMs.insert(m.latenciesMs.end(), l.begin(), l.end());
  std::sort(m.latenciesMs.begin(), m.latenciesMs.end());
  for (const auto& c : contexts) m.activationBytes += c->activationBytes();
  if (a.profile) {
    contexts[0]->setProfiling(true);
    ROTA_RETURN_IF_ERROR(contexts[0]->run());
    m.profile = contexts[0]->profile();
  }
  return m;
}

nlohmann::ordered_json toJson(const Invocation& invocation, const BenchArguments& a,
                              const OpenedEngine& opened, const Measured& m, int threads) {
  auto json = jsonResult(invocation, "bench");
  json["verdict"] = "measured";
  auto& l = json["latency_ms"];
  l["mean"] = std::accumulate(m.latenciesMs.begin(), m.latenciesMs.end(), 0.0) /
              static_cast<double>(m.latenciesMs.size());
  l["median"] = quantile(m.latenciesMs, 0.5);
  l["p90"] = quantile(m.latenciesMs, 0.9);
  l["p95"] = quantile(m.latenciesMs, 0.95);
  l["p99"] = quantile(m.latenciesMs, 0.99);
  for (double p : a.percentiles) {
    std::ostringstream key;
    key << "p" << p;
    l[key.str()] = quantile(m.latenciesMs, p / 100);
  }
  l["min"] = m.latenciesMs.front();
  l["max"] = m.latenciesMs.back();
  l["samples"] = m.latenciesMs.size();
  json["throughput_per_s"] = static_cast<double>(m.latenciesMs.size()) / m.seconds;
  json["first_run_ms"] = m.firstRunMs;
  json["load_ms"] = opened.loadMs;
  json["build_s"] = opened.buildSeconds;
  json["engine_bytes"] = opened.engineBytes;
  json["weights_bytes"] = opened.weightsBytes;
  json["activation_bytes"] = m.activationBytes;
  json["peak_rss_bytes"] = peakMemory();
  json["device"] = "cpu";
  json["threads"] = threads;
  json["streams"] = a.streams;
  json["device_time_ms"] = nullptr;
  json["enqueue_ms"] = nullptr;
  for (const StepTime& s : m.profile)
    json["profile"].push_back({{"sources", s.sources}, {"tactic", s.tactic}, {"us", s.us}});
  return json;
}

void printProfile(const std::vector<StepTime>& profile) {
  double total = 0;
  for (const StepTime& s : profile) total += s.us;
  std::vector<StepTime> sorted = profile;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const StepTime& x, const StepTime& y) { return x.us > y.us; });
  std::printf("\n      ms  share  tactic                 source\n");
  for (std::size_t i = 0; i < sorted.size() && i < 20; ++i) {
    std::printf("%8.3f %5.1f%%  %-22s %s\n", sorted[i].us / 1e3, 100 * sorted[i].us / total,
                sorted[i].tactic.c_str(), sorted[i].sources.c_str());
  }
  std::map<std::string, double> byTactic;
  for (const StepTime& s : profile) byTactic[s.tactic] += s.us;
  std::printf("\n");
  for (const auto& [tactic, us] : byTactic)
    std::printf("%8.3f %5.1f%%  all of %s\n", us / 1e3, 100 * us / total, tactic.c_str());
}

void printText(const BenchArguments& a, const OpenedEngine& opened, const Measured& m, int threads) {
  const auto& l = m.latenciesMs;
  std::printf("device      cpu, %d thread%s, %d stream%s\n", threads, threads == 1 ? "" : "s", a.streams,
              a.streams == 1 ? "" : "s");
  std::printf(
      "latency     median %.3f ms  mean %.3f  p90 %.3f  p95 %.3f  p99 %.3f  min %.3f  max %.3f  (%zu runs)\n",
      quantile(l, 0.5), std::accumulate(l.begin(), l.end(), 0.0) / static_cast<double>(l.size()),
      quantile(l, 0.9), quantile(l, 0.95), quantile(l, 0.99), l.front(), l.back(), l.size());
  std::printf("throughput  %.1f per second\n", static_cast<double>(l.size()) / m.seconds);
  std::printf("start       build %.2f s  load %.1f ms  first run %.2f ms\n", opened.buildSeconds,
              opened.loadMs, m.firstRunMs);
  std::printf("memory      engine %.1f MB  weights %.1f MB  activations %.1f MB  peak %.1f MB\n",
              static_cast<double>(opened.engineBytes) / 1e6, static_cast<double>(opened.weightsBytes) / 1e6,
              static_cast<double>(m.activationBytes) / 1e6, static_cast<double>(peakMemory()) / 1e6);
  if (!m.profile.empty()) printProfile(m.profile);
}

Result<int> runBench(const BenchArguments& a, const Invocation& invocation) {
  auto opened = openEngine(a.model, invocation);
  if (!opened) return opened.status();
  auto request = inputRequest(*opened, a.ranges);
  if (!request) return request.status();
  auto inputs = data::loadInputs(a.inputs, *request);
  if (!inputs) return inputs.status();
  for (const std::string& line : inputs->notes) note(invocation, line);
  auto measured = [&] {
    Progress progress(invocation, "bench");
    return measure(*opened->engine, *inputs, a, progress);
  }();
  if (!measured) return measured.status();
  const int threads = a.model.threads > 0 ? a.model.threads : ThreadPool::defaultThreads();
  if (!invocation.json.empty()) {
    ROTA_RETURN_IF_ERROR(writeJson(invocation, toJson(invocation, a, *opened, *measured, threads)));
    return 0;
  }
  printText(a, *opened, *measured, threads);
  return 0;
}

}  // namespace

void addBench(CLI::App& app, Invocation& invocation) {
  auto a = std::make_shared<BenchArguments>();
  CLI::App* sub = app.add_subcommand("bench", "Measure latency, throughput, first run and memory");
  addModelOptions(*sub, a->model);
  addInputOptions(*sub, a->inputs, a->ranges);
  addTimeOption(*sub, "--duration", a->duration, 1, "Time to measure, in seconds or with a unit; default 3");
  addTimeOption(*sub, "--warmup", a->warmupMs, 1e-3,
                "Warm-up, never counted, in milliseconds or with a unit; default 200");
  sub->add_option("--iterations", a->iterations, "At least this many runs")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
  sub->add_option("--streams", a->streams, "Contexts that run at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  sub->add_option("--percentiles", a->percentiles, "Further percentiles for --json")
      ->delimiter(',')
      ->check(numberIn(0, 100));
  sub->add_flag("--profile-steps", a->profile,
                "Also --profile without a range: time of each step by source node, in one more run");
  sub->add_option("--use-profile", a->model.useProfile,
                  "Name of the profile that the shapes must lie in; default: any that fits");
  addJsonOption(*sub, invocation);
  sub->footer("Example: rota bench model.rota --inputs inputs/ --threads 1 --json");
  onChosen(*sub, invocation, [a, &invocation] { return runBench(*a, invocation); });
}

}  // namespace rota::cli
