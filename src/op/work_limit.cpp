// SPDX-License-Identifier: Apache-2.0
#include "op/work_limit.h"

#include <algorithm>

namespace rota::op {

namespace {

/// Scalar operations: about a tenth of a second of the reference kernels.
constexpr double kMaxWork = double{1 << 28};

}  // namespace

bool isCheapToCompute(const ir::Node& node, std::span<const std::int64_t> inputs,
                      std::int64_t outputElements) {
  if (node.definition == nullptr) return false;
  double total = static_cast<double>(outputElements), pairs = 1;
  for (const std::int64_t n : inputs) {
    total += static_cast<double>(n);
    pairs *= static_cast<double>(std::max<std::int64_t>(n, 1));
  }
  switch (node.definition->kind) {
    case Kind::kPointwise:
    case Kind::kReduction:
    case Kind::kMovement: return true;                  // linear in what is read and written
    case Kind::kContraction: return pairs <= kMaxWork;  // every index of a sum stands in an input
    case Kind::kScan:
    case Kind::kSort:
    case Kind::kOpaque: return total * total <= kMaxWork;
    case Kind::kControlFlow: return false;
  }
  return false;
}

}  // namespace rota::op
