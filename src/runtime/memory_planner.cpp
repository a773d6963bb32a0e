// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_planner.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace rota::runtime {

namespace {

/// Above this many buffers only two orders are tried.
constexpr std::size_t kManyBuffers = 6000;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

struct Placed {
  std::size_t offset;
  std::size_t end;
  std::uint32_t first;
  std::uint32_t last;
};

/// Offset of the smallest gap between buffers that live at the same time, or the end of the last one.
std::size_t bestFit(const std::vector<Placed>& placedByOffset, std::size_t bytes,
                    const BufferRequest& request) {
  std::size_t best = std::numeric_limits<std::size_t>::max();
  std::size_t bestGap = std::numeric_limits<std::size_t>::max();
  std::size_t end = 0;  // of what lies below
  for (const Placed& p : placedByOffset) {
    if (p.last < request.first || p.first > request.last) continue;
    if (p.offset > end) {
      const std::size_t gap = p.offset - end;
      if (gap >= bytes && gap < bestGap) {
        best = end;
        bestGap = gap;
        if (gap == bytes) return best;
      }
    }
    end = std::max(end, p.end);
  }
  return best == std::numeric_limits<std::size_t>::max() ? end : best;
}

std::size_t place(std::span<const BufferRequest> requests, std::span<const std::uint32_t> order,
                  std::vector<std::size_t>& offsets) {
  std::vector<Placed> placed;
  placed.reserve(order.size());
  std::size_t total = 0;
  for (std::uint32_t i : order) {
    const BufferRequest& r = requests[i];
    const std::size_t bytes = aligned(r.bytes);
    const std::size_t offset = bestFit(placed, bytes, r);
    offsets[i] = offset;
    total = std::max(total, offset + bytes);
    const Placed p{offset, offset + bytes, r.first, r.last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), p,
                                   [](const Placed& a, const Placed& b) { return a.offset < b.offset; }),
                  p);
  }
  return total;
}

std::size_t largestLiveSet(std::span<const BufferRequest> requests) {
  struct Change {
    std::uint64_t when;  // a buffer leaves after its last position
    bool arrives;
    std::size_t bytes;
  };
  std::vector<Change> changes;
  changes.reserve(requests.size() * 2);
  for (const BufferRequest& r : requests) {
    if (r.bytes == 0) continue;
    changes.push_back({r.first, true, aligned(r.bytes)});
    changes.push_back({std::uint64_t{r.last} + 1, false, aligned(r.bytes)});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.when != b.when ? a.when < b.when : a.arrives < b.arrives;
  });
  std::size_t live = 0;
  std::size_t largest = 0;
  for (const Change& c : changes) {
    live = c.arrives ? live + c.bytes : live - c.bytes;
    largest = std::max(largest, live);
  }
  return largest;
}

}  // namespace

MemoryPlan planMemory(std::span<const BufferRequest> requests) {
  MemoryPlan plan;
  plan.offsets.assign(requests.size(), 0);
  plan.largestLiveSet = largestLiveSet(requests);

  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (requests[i].bytes != 0) order.push_back(static_cast<std::uint32_t>(i));
  if (order.empty()) return plan;

  const auto lifetime = [&](std::uint32_t i) {
    return std::uint64_t{requests[i].last} - requests[i].first + 1;
  };
  const auto bySize = [&](std::uint32_t a, std::uint32_t b) { return requests[a].bytes > requests[b].bytes; };
  const auto byArea = [&](std::uint32_t a, std::uint32_t b) {
    return static_cast<double>(requests[a].bytes) * static_cast<double>(lifetime(a)) >
           static_cast<double>(requests[b].bytes) * static_cast<double>(lifetime(b));
  };
  const auto byLifetime = [&](std::uint32_t a, std::uint32_t b) { return lifetime(a) > lifetime(b); };
  const auto byDefinition = [&](std::uint32_t a, std::uint32_t b) {
    return requests[a].first < requests[b].first;
  };

  plan.bytes = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> offsets(requests.size(), 0);
  const auto attempt = [&](const auto& before) {
    if (plan.bytes == plan.largestLiveSet) return;
    std::vector<std::uint32_t> sorted = order;
    std::stable_sort(sorted.begin(), sorted.end(), before);
    const std::size_t bytes = place(requests, sorted, offsets);
    if (bytes < plan.bytes) {
      plan.bytes = bytes;
      plan.offsets = offsets;
    }
  };
  attempt(bySize);
  attempt(byDefinition);
  if (order.size() <= kManyBuffers) {
    attempt(byArea);
    attempt(byLifetime);
  }
  return plan;
}

}  // namespace rota::runtime
