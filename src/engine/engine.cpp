// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "core/check.h"
#include "engine/reader.h"
#include "runtime/context.h"
#include "runtime/prepared.h"

namespace rota::engine {

namespace {

class ProgramEngine final : public Engine {
 public:
  ProgramEngine(std::shared_ptr<const runtime::LoadedProgram> loaded, std::string_view manifest,
                std::size_t weightsBytes)
      : loaded_(std::move(loaded)),
        manifest_(manifest),
        weightsBytes_(weightsBytes),
        inputs_(runtime::inputInfo(*loaded_->program)),
        outputs_(runtime::outputInfo(*loaded_->program)) {}

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  std::string_view manifest() const override { return manifest_; }
  std::size_t weightsBytes() const override { return weightsBytes_; }
  std::vector<std::string> profileNames() const override {
    std::vector<std::string> names;
    for (const runtime::Profile& profile : loaded_->program->profiles) names.push_back(profile.name);
    return names;
  }

  Result<std::unique_ptr<Context>> createContext(int threads) override {
    try {
      return runtime::createContext(loaded_, pool(threads));
    } catch (const std::bad_alloc&) {
      return Status(ErrorCode::kOutOfMemory, "Memory ran out");
    } catch (const std::exception& error) {
      return Status(ErrorCode::kInternal, std::string("A context could not be made: ") + error.what());
    }
  }

 private:
  /// Contexts of one engine with the same number of threads share a pool.
  std::shared_ptr<ThreadPool> pool(int threads) {
    if (threads < 1) threads = ThreadPool::defaultThreads();
    const std::lock_guard lock(mutex_);
    std::weak_ptr<ThreadPool>& known = pools_[threads];
    std::shared_ptr<ThreadPool> pool = known.lock();
    if (pool == nullptr) {
      pool = std::make_shared<ThreadPool>(threads);
      known = pool;
    }
    return pool;
  }

  std::shared_ptr<const runtime::LoadedProgram> loaded_;
  std::string manifest_;
  std::size_t weightsBytes_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::mutex mutex_;
  std::map<int, std::weak_ptr<ThreadPool>> pools_;
};

Result<std::shared_ptr<Engine>> engineOf(std::shared_ptr<const runtime::Program> program,
                                         std::vector<const std::byte*> constants,
                                         std::shared_ptr<const void> keeper, std::string_view manifest,
                                         std::size_t weightsBytes) {
  auto loaded = runtime::loadProgram(std::move(program), std::move(constants), std::move(keeper));
  if (!loaded) return loaded.status();
  return std::shared_ptr<Engine>(std::make_shared<ProgramEngine>(std::move(*loaded), manifest, weightsBytes));
}

Result<std::shared_ptr<Engine>> loadFile(const std::string& path, const LoadOptions& options) {
  auto file = readEngine(path, {.verifyWeights = options.verifyWeights,
                                .checkTarget = true,
                                .weightsFrom = options.weightsFrom,
                                .nativeCode = options.nativeCode});
  if (!file) return file.status();
  const EngineFile& engine = **file;
  std::vector<const std::byte*> constants;
  constants.reserve(engine.program->constants.size());
  for (std::size_t i = 0; i < engine.program->constants.size(); ++i)
    constants.push_back(engine.constantData(i));
  std::size_t weightsBytes = engine.weights.size();
  for (const auto& [constant, data] : engine.found.data)
    weightsBytes += engine.program->constants[constant].bytes;
  return engineOf(engine.program, std::move(constants), *file, engine.manifest, weightsBytes);
}

}  // namespace

Result<std::shared_ptr<Engine>> makeEngine(std::shared_ptr<const runtime::Program> program,
                                           std::vector<Tensor> constants, std::string_view manifest) {
  std::vector<const std::byte*> data;
  std::size_t total = 0;
  for (std::size_t i = 0; i < constants.size() && i < program->constants.size(); ++i) {
    const std::size_t bytes = program->constants[i].bytes;
    Tensor& tensor = constants[i];
    if (tensor.bytes() < bytes)
      return Status(ErrorCode::kInternal, "A constant has fewer bytes than its layout")
          .at(program->constants[i].recipe);
    if (reinterpret_cast<std::uintptr_t>(tensor.data()) % 64 != 0) {
      auto copy = Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(bytes)});
      if (!copy) return copy.status();
      if (bytes != 0) std::memcpy(copy->mutableData(), tensor.data(), bytes);
      tensor = std::move(*copy);
    }
    data.push_back(tensor.data());
    total += bytes;
  }
  auto keeper = std::make_shared<std::vector<Tensor>>(std::move(constants));
  return engineOf(std::move(program), std::move(data), std::move(keeper), manifest, total);
}

}  // namespace rota::engine

namespace rota {

Result<std::shared_ptr<Engine>> Engine::load(const std::string& path, const LoadOptions& options) {
  try {
    return engine::loadFile(path, options);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "Memory ran out while an engine was loaded").at(path);
  } catch (const std::exception& error) {
    return Status(ErrorCode::kInternal, std::string("An engine could not be loaded: ") + error.what())
        .at(path);
  }
}

}  // namespace rota
