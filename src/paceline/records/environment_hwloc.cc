// SPDX-License-Identifier: Apache-2.0
// Draws the picture of a machine with hwloc.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>

#include "paceline/records/environment.h"

namespace paceline::records {
namespace {

constexpr std::size_t kMostLines = 40;

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Topology loaded(const std::optional<std::string>& synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    return nullptr;
  }
  Topology topology(raw);
  if (synthetic && hwloc_topology_set_synthetic(raw, synthetic->c_str()) != 0) {
    return nullptr;
  }
  // The picture is of the whole machine, not only of the part that a cgroup allows.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

std::string binary_size(hwloc_uint64_t bytes) {
  constexpr hwloc_uint64_t kKib = 1024;
  if (bytes >= kKib * kKib * kKib) {
    return fmt::format("{} GiB", (bytes + kKib * kKib * kKib / 2) / (kKib * kKib * kKib));
  }
  return bytes >= kKib * kKib ? fmt::format("{} MiB", bytes / (kKib * kKib))
                              : fmt::format("{} KiB", bytes / kKib);
}

std::string listed(hwloc_const_bitmap_t set) {
  char* text = nullptr;
  hwloc_bitmap_list_asprintf(&text, set);
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  return text == nullptr ? "" : text;
}

/// Draws one topology as text.
class Picture {
 public:
  explicit Picture(hwloc_topology_t topology) : topology_(topology) {}

  std::string draw() {
    draw_machine();
    for (hwloc_obj_t package : all_within(HWLOC_OBJ_PACKAGE, nullptr)) {
      draw_package(package);
    }
    if (lines_.size() > kMostLines) {
      const std::size_t left = lines_.size() - (kMostLines - 1);
      lines_.resize(kMostLines - 1);
      lines_.push_back(fmt::format("... {} more lines", left));
    }
    return fmt::format("{}\n", fmt::join(lines_, "\n"));
  }

 private:
  // Returns the objects of `type` inside `parent`, or of the whole machine if that is null.
  std::vector<hwloc_obj_t> all_within(hwloc_obj_type_t type, hwloc_obj_t parent) const {
    std::vector<hwloc_obj_t> objects;
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_obj_by_type(topology_, type, object));) {
      if (parent == nullptr || hwloc_bitmap_isincluded(object->cpuset, parent->cpuset) != 0) {
        objects.push_back(object);
      }
    }
    return objects;
  }

  void draw_machine() {
    const hwloc_obj_t machine = hwloc_get_root_obj(topology_);
    lines_.push_back(fmt::format(
        "Machine ({}): {} packages, {} NUMA nodes, {} cores, {} PUs",
        binary_size(machine->total_memory), all_within(HWLOC_OBJ_PACKAGE, nullptr).size(),
        all_within(HWLOC_OBJ_NUMANODE, nullptr).size(), all_within(HWLOC_OBJ_CORE, nullptr).size(),
        all_within(HWLOC_OBJ_PU, nullptr).size()));
    // A NUMA node that spans packages is inside none of them.
    const auto packages = all_within(HWLOC_OBJ_PACKAGE, nullptr);
    for (hwloc_obj_t node : all_within(HWLOC_OBJ_NUMANODE, nullptr)) {
      const bool is_inside = std::any_of(packages.begin(), packages.end(), [&](hwloc_obj_t p) {
        return hwloc_bitmap_isincluded(node->cpuset, p->cpuset) != 0;
      });
      if (!is_inside) {
        draw_node(node);
      }
    }
  }

  void draw_node(hwloc_obj_t node) {
    lines_.push_back(fmt::format("  NUMA node {} ({}): PUs {}", node->os_index,
                                 binary_size(node->attr->numanode.local_memory),
                                 listed(node->cpuset)));
  }

  void draw_package(hwloc_obj_t package) {
    const char* model = hwloc_obj_get_info_by_name(package, "CPUModel");
    lines_.push_back(fmt::format("Package {}{}{}", package->os_index, model == nullptr ? "" : ": ",
                                 model == nullptr ? "" : model));
    for (hwloc_obj_t node : all_within(HWLOC_OBJ_NUMANODE, package)) {
      draw_node(node);
    }
    const auto caches = all_within(HWLOC_OBJ_L3CACHE, package);
    for (hwloc_obj_t cache : caches) {
      draw_cores(fmt::format("L3 {}: ", binary_size(cache->attr->cache.size)), cache);
    }
    if (caches.empty()) {
      draw_cores("", package);
    }
  }

  void draw_cores(const std::string& start, hwloc_obj_t parent) {
    const auto cores = all_within(HWLOC_OBJ_CORE, parent);
    std::string each;
    for (const auto& [type, name] :
         {std::pair{HWLOC_OBJ_L2CACHE, "L2"}, std::pair{HWLOC_OBJ_L1CACHE, "L1d"}}) {
      const auto caches = all_within(type, parent);
      if (!caches.empty()) {
        each += fmt::format(", {} x {} {}", caches.size(), name,
                            binary_size(caches.front()->attr->cache.size));
      }
    }
    lines_.push_back(
        fmt::format("  {}{} cores{}, PUs {}", start, cores.size(), each, listed(parent->cpuset)));
  }

  hwloc_topology_t topology_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string machine_picture(const std::optional<std::string>& synthetic) {
  const Topology topology = loaded(synthetic);
  return topology == nullptr ? "" : Picture(topology.get()).draw();
}

}  // namespace paceline::records
