// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/onednn/common.h"

#include <map>

// Of the OpenMP runtime that oneDNN brings along. Declared here, since <omp.h> belongs to one compiler and its own runtime.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int);

namespace rota::onednn {
namespace {

const char* libraryVersion() {
  static const std::string text = [] {
    const dnnl_version_t* v = dnnl_version();
    return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }();
  return text.c_str();
}

const runtime::RegisterKernelModule kModule("onednn", libraryVersion());

}  // namespace

dnnl::engine& cpuEngine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

SingleThread::SingleThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}
SingleThread::~SingleThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

dnnl::memory::desc descriptor(Dims dims, const runtime::Layout& layout) {
  // Built as a blocked descriptor by hand: strides of the outer dims, then the inner blocks, as oneDNN's C structure wants it.
  const std::size_t rank = dims.size();
  dnnl_memory_desc_t d{};
  d.ndims = static_cast<int>(rank);
  d.data_type = dnnl_f32;
  d.format_kind = dnnl_blocked;
  auto& blocking = d.format_desc.blocking;
  std::vector<std::int64_t> perAxis(rank, 1);
  std::int64_t inner = 1;
  for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
    blocking.inner_blks[i] = layout.blocks[i].size;
    blocking.inner_idxs[i] = layout.blocks[i].axis;
    perAxis[layout.blocks[i].axis] *= layout.blocks[i].size;
    inner *= layout.blocks[i].size;
  }
  blocking.inner_nblks = static_cast<int>(layout.blocks.size());
  for (std::size_t i = 0; i < rank; ++i) {
    d.dims[i] = dims[i];
    d.padded_dims[i] = (dims[i] + perAxis[i] - 1) / perAxis[i] * perAxis[i];
  }
  std::int64_t stride = inner;
  for (std::size_t i = rank; i-- > 0;) {
    const std::size_t axis = layout.order.empty() ? i : layout.order[i];
    blocking.strides[axis] = stride;
    stride *= d.padded_dims[axis] / perAxis[axis];
  }
  return dnnl::memory::desc(d);
}

Result<std::vector<PostOperation>> parsePostOperations(const Attributes& parameters) {
  using dnnl::algorithm;
  static const std::map<std::string, algorithm, std::less<>> kUnary = {
      {"relu", algorithm::eltwise_relu},
      {"sigmoid", algorithm::eltwise_logistic},
      {"tanh", algorithm::eltwise_tanh},
      {"gelu_erf", algorithm::eltwise_gelu_erf},
      {"gelu_tanh", algorithm::eltwise_gelu_tanh},
      {"swish", algorithm::eltwise_swish},
      {"hardswish", algorithm::eltwise_hardswish},
      {"clip", algorithm::eltwise_clip},
      {"elu", algorithm::eltwise_elu},
      {"linear", algorithm::eltwise_linear}};
  static const std::map<std::string, algorithm, std::less<>> kBinary = {
      {"add", algorithm::binary_add}, {"mul", algorithm::binary_mul}, {"sub", algorithm::binary_sub}};
  std::vector<PostOperation> operations;
  const auto* texts = parameters.getStrings("post");
  const auto* alphas = parameters.getFloats("post_alpha");
  const auto* betas = parameters.getFloats("post_beta");
  if (texts == nullptr) return operations;
  if (alphas == nullptr || betas == nullptr || alphas->size() != texts->size() ||
      betas->size() != texts->size()) {
    return Status(ErrorCode::kEngineDamaged, "post-operations and their parameters differ in number");
  }
  for (std::size_t i = 0; i < texts->size(); ++i) {
    PostOperation op{.alpha = (*alphas)[i], .beta = (*betas)[i]};
    if (const auto u = kUnary.find((*texts)[i]); u != kUnary.end()) {
      op.algorithm = u->second;
    } else if (const auto b = kBinary.find((*texts)[i]); b != kBinary.end()) {
      op.algorithm = b->second;
      op.isBinary = true;
    } else {
      return Status(ErrorCode::kEngineDamaged, "unknown post-operation").found((*texts)[i]);
    }
    operations.push_back(op);
  }
  return operations;
}

}  // namespace rota::onednn
