// SPDX-License-Identifier: Apache-2.0
// The order of the passes. Folding comes first, since later passes look for constants; dead code goes last.
#include <algorithm>
#include <chrono>

#include "core/check.h"
#include "op/definition.h"
#include "pass/eliminate_dead.h"
#include "pass/fold_batch_norm.h"
#include "pass/fold_constants.h"
#include "pass/fold_if.h"
#include "pass/merge_common.h"
#include "pass/pass.h"
#include "pass/remove_identities.h"

namespace rota::pass {
namespace {

const Pass kPipeline[] = {
    {"fold_constants", &kPassFoldConstants, foldConstants},
    {"fold_if", &kPassFoldIf, foldIf},
    {"remove_identities", &kPassRemoveIdentities, removeIdentities},
    {"merge_common", &kPassMergeCommon, mergeCommon},
    {"fold_batch_norm", &kPassFoldBatchNorm, foldBatchNorm},
    {"eliminate_dead", &kPassEliminateDead, eliminateDead},
};

Status runOnNested(ir::Graph& graph, const Pass& pass, const PassContext& context, bool& changed) {
  for (const auto& node : graph.nodes()) {
    for (const auto& block : node->blocks) ROTA_RETURN_IF_ERROR(runOnNested(*block, pass, context, changed));
  }
  return pass.run(graph, context, changed);
}

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

Result<std::vector<PassRecord>> runPipeline(ir::Graph& graph, const PassContext& context,
                                            std::span<const std::string_view> only) {
  std::vector<PassRecord> records;
  for (const Pass& pass : kPipeline) {
    if (!only.empty() && std::find(only.begin(), only.end(), pass.name) == only.end()) continue;
    if (!context.knobs.on(*pass.enabled)) continue;
    const auto start = std::chrono::steady_clock::now();
    PassRecord record{.name = std::string(pass.name)};
    ROTA_RETURN_IF_ERROR(runOnNested(graph, pass, context, record.changed));
    if (record.changed) {
      ROTA_RETURN_IF_ERROR(op::inferGraph(graph));
      ROTA_RETURN_IF_ERROR(ir::verify(graph));
    }
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace rota::pass
