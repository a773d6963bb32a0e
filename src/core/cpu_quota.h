// SPDX-License-Identifier: Apache-2.0
// How much processor time the control groups of this process allow, in processors. Containers are usually limited by such a quota
// and not by a CPU set; a pool of as many threads as the machine has would then be throttled most of the time.
// Tested by src/core/cpu_quota_test.cpp.
#pragma once

#include <optional>
#include <string>

namespace rota {

/// The smallest quota of the process's control groups and those above them (cgroup v1 and v2), or nothing when there is none. `root` stands before
/// every path that is read (tests put a tree of files there).
std::optional<double> cpuQuota(const std::string& root = {});

/// Hardware threads that this process may run on (its CPU set), at least 1.
int cpuSetSize();

}  // namespace rota
