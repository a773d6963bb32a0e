// SPDX-License-Identifier: Apache-2.0
// /proc/self/cgroup tells the group of each hierarchy, /proc/self/mountinfo where the hierarchies are mounted and which group
// is the root of the mount (inside a container that is the container's own). From the group up to the mount's root every
// level may hold a limit: cpu.max in v2, cpu.cfs_quota_us and cpu.cfs_period_us in v1.
// Sources: the kernel's documentation, admin-guide/cgroup-v2 and scheduler/sched-bwc; proc(5).
// Tested by src/core/cpu_quota_test.cpp.
#include "core/cpu_quota.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <sched.h>
#include <string_view>
#include <vector>

#include "core/file.h"

namespace rota {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool contains(std::string_view list, std::string_view item) {
  const std::vector<std::string_view> parts = split(list, ',');
  return std::find(parts.begin(), parts.end(), item) != parts.end();
}

std::optional<double> parseNumber(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> numberIn(const std::string& path) {
  auto text = readTextFile(path, 4096);
  return text ? parseNumber(*text) : std::nullopt;
}

std::optional<double> ratio(std::optional<double> quota, std::optional<double> period) {
  return quota && period ? std::optional(*quota / *period) : std::nullopt;
}

/// The limit written in one folder of a hierarchy.
std::optional<double> limitOf(const std::string& folder, bool version2) {
  if (!version2)
    return ratio(numberIn(folder + "/cpu.cfs_quota_us"), numberIn(folder + "/cpu.cfs_period_us"));
  auto text = readTextFile(folder + "/cpu.max", 4096);
  if (!text) return std::nullopt;
  const std::vector<std::string_view> fields = split(*text, ' ');
  return fields.size() == 2 ? ratio(parseNumber(fields[0]), parseNumber(fields[1])) : std::nullopt;
}

/// The group of this process in the v2 hierarchy, or in the v1 hierarchy of the cpu controller.
std::optional<std::string> groupOf(std::string_view cgroups, bool version2) {
  for (const std::string_view line : split(cgroups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool match =
        version2 ? line.substr(0, first) == "0" && controllers.empty() : contains(controllers, "cpu");
    if (match) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

struct Mount {
  std::string root;  ///< The group that is seen at `point`.
  std::string point;
};

std::optional<Mount> mountOf(std::string_view mounts, bool version2) {
  for (const std::string_view line : split(mounts, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> left = split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> right = split(line.substr(dash + 3), ' ');
    if (left.size() < 6 || right.size() < 3) continue;
    const bool match = version2 ? right[0] == "cgroup2" : right[0] == "cgroup" && contains(right[2], "cpu");
    if (match) return Mount{std::string(left[3]), std::string(left[4])};
  }
  return std::nullopt;
}

/// `group` as a path below the mount: "" for its root. A group outside the mount (seen from another namespace) counts as its root.
std::string belowMount(const Mount& mount, std::string group) {
  if (mount.root != "/") {
    if (group.rfind(mount.root, 0) != 0) return {};
    group.erase(0, mount.root.size());
  }
  return group.size() < 2 || group[0] != '/' || group.find("/..") != std::string::npos ? std::string()
                                                                                       : group;
}

std::optional<double> quotaOf(const std::string& root, bool version2) {
  auto cgroups = readTextFile(root + "/proc/self/cgroup");
  auto mounts = readTextFile(root + "/proc/self/mountinfo");
  if (!cgroups || !mounts) return std::nullopt;
  const std::optional<std::string> group = groupOf(*cgroups, version2);
  const std::optional<Mount> mount = mountOf(*mounts, version2);
  if (!group || !mount) return std::nullopt;
  std::optional<double> least;
  for (std::string path = belowMount(*mount, *group);; path.erase(path.rfind('/'))) {
    const std::optional<double> limit = limitOf(root + mount->point + path, version2);
    if (limit && (!least || *limit < *least)) least = limit;
    if (path.rfind('/') == std::string::npos) return least;
  }
}

}  // namespace

std::optional<double> cpuQuota(const std::string& root) {
  const std::optional<double> v1 = quotaOf(root, false), v2 = quotaOf(root, true);
  return v1 && v2 ? std::min(*v1, *v2) : v1 ? v1 : v2;
}

int cpuSetSize() {
  // The mask must be at least as long as the kernel's; machines with more than 1024 processors exist.
  for (int processors = 1024; processors <= 1 << 20; processors *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(processors)), [](cpu_set_t* s) { CPU_FREE(s); });
    if (set == nullptr) return 1;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(processors));
    if (sched_getaffinity(0, bytes, set.get()) == 0) return std::max(1, CPU_COUNT_S(bytes, set.get()));
    if (errno != EINVAL) return 1;
  }
  return 1;
}

}  // namespace rota
