// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/onednn/executor.h"

#include <algorithm>

namespace rota::onednn {
namespace {

dnnl::primitive_attr attributesFor(std::span<const PostOperation> post,
                                   std::span<const dnnl::memory::desc> extra) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops operations;
  std::size_t next = 0;
  for (const PostOperation& op : post) {
    if (op.isBinary) {
      operations.append_binary(op.algorithm, extra[next++]);
    } else {
      operations.append_eltwise(1.0F, op.algorithm, op.alpha, op.beta);
    }
  }
  attributes.set_post_ops(operations);
  return attributes;
}

void* mutablePointer(const void* p) { return const_cast<void*>(p); }

}  // namespace

Status Executor::prepare(const Maker& maker, std::span<const PostOperation> post,
                         std::vector<std::pair<int, dnnl::memory::desc>> fixed,
                         const dnnl::memory::desc& destination, std::span<const dnnl::memory::desc> extra) {
  const SingleThread single;
  calls_.clear();
  scratchBytes_ = 0;
  stream_ = dnnl::stream(cpuEngine());
  return guarded("a primitive", [&]() -> Status {
    Made made;
    bool fused = true;
    try {
      made = maker(attributesFor(post, extra));
      fused = !made.isPlainLoops || post.empty();  // fast code may be there without the operations after it
    } catch (const dnnl::error& e) {
      if (e.status != dnnl_unimplemented || post.empty()) throw;
      fused = false;
    }
    if (!fused) made = maker(attributesFor({}, {}));
    isPlainLoops_ = made.isPlainLoops;
    Call call;
    call.primitive = std::move(made.primitive);
    for (const auto& [id, desc] : fixed) {
      call.arguments.emplace(id, dnnl::memory(desc, cpuEngine(), nullptr));
      call.fixedIds.push_back(id);
    }
    call.arguments.emplace(DNNL_ARG_DST, dnnl::memory(destination, cpuEngine(), nullptr));
    if (made.scratch.get_size() > 0) {
      call.arguments.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(made.scratch, cpuEngine(), nullptr));
      call.hasScratch = true;
      scratchBytes_ = made.scratch.get_size();
    }
    if (fused) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < post.size(); ++i) {
        if (!post[i].isBinary) continue;
        const int id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
        call.arguments.emplace(id, dnnl::memory(extra[next], cpuEngine(), nullptr));
        call.extraIds.emplace_back(next++, id);
      }
    }
    calls_.push_back(std::move(call));
    if (!fused) addUnfused(post, destination, extra);
    for (Call& each : calls_)
      for (const auto& [id, memory] : each.arguments) each.passed.push_back({id, memory.get()});
    return Status::ok();
  });
}

void Executor::addUnfused(std::span<const PostOperation> post, const dnnl::memory::desc& destination,
                          std::span<const dnnl::memory::desc> extra) {
  std::size_t next = 0;
  for (const PostOperation& op : post) {
    Call call;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::memory::desc scratch;
    if (op.isBinary) {
      const dnnl::binary::primitive_desc desc({op.algorithm, destination, extra[next], destination},
                                              attributes, cpuEngine());
      call.primitive = dnnl::binary(desc);
      scratch = desc.scratchpad_desc();
      call.arguments.emplace(DNNL_ARG_SRC_0, dnnl::memory(destination, cpuEngine(), nullptr));
      call.arguments.emplace(DNNL_ARG_SRC_1, dnnl::memory(extra[next], cpuEngine(), nullptr));
      call.extraIds.emplace_back(next++, DNNL_ARG_SRC_1);
    } else {
      const dnnl::eltwise_forward::primitive_desc desc(
          {dnnl::prop_kind::forward_inference, op.algorithm, destination, op.alpha, op.beta}, attributes,
          cpuEngine());
      call.primitive = dnnl::eltwise_forward(desc);
      scratch = desc.scratchpad_desc();
      call.arguments.emplace(DNNL_ARG_SRC, dnnl::memory(destination, cpuEngine(), nullptr));
    }
    call.arguments.emplace(DNNL_ARG_DST, dnnl::memory(destination, cpuEngine(), nullptr));
    if (scratch.get_size() > 0) {
      call.arguments.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(scratch, cpuEngine(), nullptr));
      call.hasScratch = true;
      scratchBytes_ = std::max(scratchBytes_, scratch.get_size());
    }
    calls_.push_back(std::move(call));
  }
}

Status Executor::execute(std::span<const void* const> fixedData, std::span<const void* const> extraData,
                         void* destination, void* workspace) {
  const SingleThread single;
  return guarded("to run a primitive", [&]() -> Status {
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      Call& call = calls_[c];
      for (std::size_t i = 0; i < call.fixedIds.size(); ++i)
        call.arguments.at(call.fixedIds[i]).set_data_handle(mutablePointer(fixedData[i]));
      for (const auto& [index, id] : call.extraIds)
        call.arguments.at(id).set_data_handle(mutablePointer(extraData[index]));
      call.arguments.at(DNNL_ARG_DST).set_data_handle(destination);
      if (c > 0) {  // an operation after the primitive works in place
        const int source = call.arguments.contains(DNNL_ARG_SRC_0) ? DNNL_ARG_SRC_0 : DNNL_ARG_SRC;
        call.arguments.at(source).set_data_handle(destination);
      }
      if (call.hasScratch) call.arguments.at(DNNL_ARG_SCRATCHPAD).set_data_handle(workspace);
      dnnl::error::wrap_c_api(
          dnnl_primitive_execute(call.primitive.get(), stream_.get(), static_cast<int>(call.passed.size()),
                                 call.passed.data()),
          "could not execute a primitive");
    }
    return Status::ok();
  });
}

}  // namespace rota::onednn
