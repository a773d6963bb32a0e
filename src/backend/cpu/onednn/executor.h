// SPDX-License-Identifier: Apache-2.0
// One oneDNN primitive with its post-operations: fused into the primitive where the library can, else run after it in place.
//
// The tactic decides what is fused into the step; whether this library version fuses it into one primitive is its own matter, and the answer is
// the same either way. Arguments are bound once; `execute` only swaps data pointers.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "backend/cpu/onednn/common.h"

namespace rota::onednn {

class Executor {
 public:
  /// Makes a primitive for the given attributes and returns it with its scratch size; throws dnnl::error with dnnl_unimplemented when it cannot.
  struct Made {
    Made() = default;
    template <typename Descriptor, typename Primitive>
    Made(const Descriptor& descriptor, Primitive&& made)
        : primitive(std::forward<Primitive>(made)),
          scratch(descriptor.scratchpad_desc()),
          isPlainLoops(std::string_view(descriptor.impl_info_str()).starts_with("ref")) {}
    dnnl::primitive primitive;
    dnnl::memory::desc scratch;
    bool isPlainLoops =
        false;  ///< The library has no fast code for this problem, only its "ref" implementation.
  };
  using Maker = std::function<Made(const dnnl::primitive_attr& attributes)>;

  /// `fixed`: argument id and descriptor of each operand but the destination; `extra`: the operands of binary post-operations in order.
  Status prepare(const Maker& maker, std::span<const PostOperation> post,
                 std::vector<std::pair<int, dnnl::memory::desc>> fixed, const dnnl::memory::desc& destination,
                 std::span<const dnnl::memory::desc> extra);
  std::size_t workspaceBytes() const { return scratchBytes_; }
  /// Plain loops, over a hundred times slower than our own kernels: the caller does better without.
  bool isPlainLoops() const { return isPlainLoops_; }

  /// Data in the order of `fixed`, then of `extra`.
  Status execute(std::span<const void* const> fixedData, std::span<const void* const> extraData,
                 void* destination, void* workspace);

 private:
  struct Call {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
    std::vector<dnnl_exec_arg_t>
        passed;                 // the same for the C interface, which makes no list of its own at each call
    std::vector<int> fixedIds;  // which argument each fixed operand is
    std::vector<std::pair<std::size_t, int>> extraIds;  // extra operand -> argument
    bool hasScratch = false;
  };
  void addUnfused(std::span<const PostOperation> post, const dnnl::memory::desc& destination,
                  std::span<const dnnl::memory::desc> extra);
  std::vector<Call> calls_;
  dnnl::stream stream_;
  std::size_t scratchBytes_ = 0;
  bool isPlainLoops_ = false;
};

}  // namespace rota::onednn
