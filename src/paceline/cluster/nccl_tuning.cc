// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/nccl_tuning.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/cluster/nccl_data.h"
#include "paceline/cluster/toml_section.h"

namespace paceline::cluster {
namespace {

constexpr auto kTuningFile = "data/nccl_tuning.toml";
constexpr std::int64_t kNcclHopPs = 2'000'000;  // ps; hop latency that NCCL's constants contain
constexpr std::int64_t kSocketHopPs = 10'000'000;
// The names of kNcclAlgorithms and kNcclProtocols in the tuning file, in their order.
constexpr std::array<std::string_view, kNcclAlgorithms.size()> kAlgorithms{
    "ring", "tree", "nvls", "nvls_tree", "collnet_direct", "collnet_chain"};
constexpr std::array<std::string_view, kNcclProtocols.size()> kProtocols{"ll", "ll128", "simple"};

struct Generation {
  std::vector<std::string> devices, nvlink_devices;  // words in the names of such devices
  double nvlink = 0;                                 // NVLink rate of one device, GB/s
  int nvlinks = 0;                                   // number of NVLinks of one device
  double nvlink_share = 1;
  NcclTuning tuning;
};

/// The contents of data/nccl_tuning.toml.
struct TuningFile {
  NcclTimes base{}, nvlink{}, pcie{}, network{};
  std::array<std::vector<double>, 3> tree_correction;
  std::vector<Generation> generations;
  std::map<std::string, NcclLink, std::less<>> links;
  NcclModelError one_host, several_hosts;
};

template <class Number = double>
std::array<Number, 3> three(const Section& table, std::string_view key) {
  const std::vector<double> all = table.non_negatives(key);
  if (all.size() != 3) {
    table.reject(key, fmt::format("{} numbers", all.size()), "must be three");
  }
  return {static_cast<Number>(all[0]), static_cast<Number>(all[1]), static_cast<Number>(all[2])};
}

NcclTimes times(const Section& file, std::string_view key) {
  NcclTimes all{};
  file.table(key, fmt::format("{}", fmt::join(kAlgorithms, " ")), [&](const Section& table) {
    for (std::size_t a = 0; a < all.size(); ++a) {
      all[a] = three(table, kAlgorithms[a]);
    }
  });
  return all;
}

Generation generation_from(const Section& entry) {
  Generation generation;
  generation.devices = entry.texts("devices");
  generation.nvlink_devices = entry.texts("nvlink_devices");
  generation.nvlink = entry.non_negative("nvlink").value_or(0);
  generation.nvlinks = entry.integer("nvlinks", 0, 0, 64);
  generation.nvlink_share = entry.non_negative("nvlink_share").value_or(1);
  NcclTuning& tuning = generation.tuning;
  tuning.generation = entry.text("name");
  tuning.ll_rate = three(entry, "ll_rate");
  tuning.ring_ll128 = three(entry, "ring_ll128");
  tuning.tree_ll128 = three(entry, "tree_ll128");
  tuning.tree = three(entry, "tree");
  tuning.nvls_tree = three(entry, "nvls_tree");
  tuning.plateau = entry.non_negative("plateau").value_or(1);
  tuning.channels = entry.integer("channels", 1, 1, 64);
  tuning.nvls_share = entry.non_negative("nvls_share").value_or(0);
  tuning.nvls_channels = three<int>(entry, "nvls_channels");
  return generation;
}

NcclModelError error_from(const Section& entry) {
  NcclModelError error;
  error.below_2_mib = entry.non_negative("below_2_mib").value_or(0);
  error.from_2_mib = entry.non_negative("from_2_mib").value_or(0);
  error.from_bytes = entry.integer("from_bytes", 0);
  error.to_bytes = entry.integer("to_bytes", 0);
  const std::vector<int> ranks = entry.counts("ranks");
  error.least_ranks = ranks.at(0);
  error.most_ranks = ranks.at(1);
  return error;
}

TuningFile read_tuning(std::string_view text) {
  const toml::table parsed = parse_toml(text, kTuningFile);
  const Section whole(parsed, kTuningFile, "the tuning of NCCL", "");
  TuningFile file;
  file.base = times(whole, "base_us");
  file.nvlink = times(whole, "nvlink_hop_us");
  file.pcie = times(whole, "pcie_hop_us");
  file.network = times(whole, "network_hop_us");
  whole.table("tree_correction", "", [&](const Section& trees) {
    for (std::size_t p = 0; p < kNcclProtocols.size(); ++p) {
      file.tree_correction[p] = trees.non_negatives(kProtocols[p]);
    }
  });
  whole.each(
      "generations", "[[generations]]",
      "name devices nvlink nvlinks nvlink_devices nvlink_share ll_rate ring_ll128 tree_ll128 tree "
      "nvls_tree plateau "
      "channels nvls_share nvls_channels",
      [&](const Section& entry) { file.generations.push_back(generation_from(entry)); });
  PACELINE_CHECK(!file.generations.empty());
  whole.each("links", "[[links]]", "name source share latency_us", [&](const Section& entry) {
    file.links[entry.text("name")] = {.share = entry.non_negative("share").value_or(1),
                                      .extra_us = entry.non_negative("latency_us").value_or(0)};
  });
  constexpr std::string_view kErrorKeys = "below_2_mib from_2_mib from_bytes to_bytes ranks";
  whole.table("error_on_one_host", kErrorKeys,
              [&](const Section& entry) { file.one_host = error_from(entry); });
  whole.table("error_on_several_hosts", kErrorKeys,
              [&](const Section& entry) { file.several_hosts = error_from(entry); });
  return file;
}

const TuningFile& tuning_file() {
  static const TuningFile file = read_tuning(shipped::kNcclTuning);
  return file;
}

bool has(std::string_view text, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

bool has_one_of(std::string_view text, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) { return has(text, word); });
}

/// Returns the first generation that names the device; null if there is none.
const Generation* find_generation(std::string_view device) {
  const std::vector<Generation>& all = tuning_file().generations;
  const auto found = std::ranges::find_if(
      all, [&](const Generation& one) { return has_one_of(device, one.devices); });
  return found == all.end() ? nullptr : &*found;
}

/// Returns the latency of a hop in excess of that in NCCL's constants, in microseconds.
double extra_hop_us(const ClusterLink& link) {
  return static_cast<double>(std::max<std::int64_t>(0, link.latency_ps - kNcclHopPs)) * 1e-6;
}

NcclLink link_named(std::string_view name, const ClusterLink& link) {
  NcclLink found = tuning_file().links.find(name)->second;
  found.extra_us = std::max(found.extra_us, extra_hop_us(link));
  return found;
}

/// Returns the link's constants in NCCL's model after calibration; `own` has the constants before
/// it. `hop_us` and `base_us` are the model's latencies of a ring with protocol LL.
std::optional<NcclLink> calibrated_link(const ClusterLink& link, NcclLink own, double hop_us,
                                        double base_us) {
  constexpr double kMicroseconds = 1e-6;
  if (!link.calibration || link.calibration->engine != "nccl") {
    return std::nullopt;
  }
  const LinkCalibration& found = *link.calibration;
  own.share = found.share.value_or(own.share);
  if (found.hop_ps) {
    own.extra_us = static_cast<double>(*found.hop_ps) * kMicroseconds - hop_us;
  }
  if (found.base_ps) {
    own.extra_base_us = static_cast<double>(*found.base_ps) * kMicroseconds - base_us;
  }
  return own;
}

/// Returns NVLink's rate between all devices of a host, in bytes/s; 0 unless the device's name
/// implies that NVLink joins all of them.
double full_nvlink_bytes_per_s(const Generation& generation, std::string_view device) {
  const bool joined =
      !has(device, "PCIe") && !has(device, "NVL") && has_one_of(device, generation.nvlink_devices);
  return joined ? generation.nvlink * 1e9 : 0;
}

std::string_view kind_of_network(const ClusterLink& link) {
  if (has(link.name, "efa")) {
    return "efa";
  }
  return link.latency_ps >= kSocketHopPs ? "sockets" : "infiniband";
}

}  // namespace

const NcclModelError& nccl_model_error(bool several_hosts) {
  return several_hosts ? tuning_file().several_hosts : tuning_file().one_host;
}

std::shared_ptr<const NcclTuning> nccl_tuning_of(const Cluster& cluster) {
  const TuningFile& file = tuning_file();
  const Generation* const named = find_generation(cluster.device.name);
  const Generation& generation = named != nullptr ? *named : file.generations.back();
  auto tuning = std::make_shared<NcclTuning>(generation.tuning);
  tuning->known = named != nullptr;
  const ClusterLink* device = cluster.link(LinkScope::kDevices);
  tuning->nvlink = device != nullptr &&
                   (device->bytes_per_s > kPcie5BytesPerSecond || has(device->name, "nvlink"));
  tuning->nvlink_bytes_per_s = full_nvlink_bytes_per_s(generation, cluster.device.name);
  tuning->nvlinks = tuning->nvlink_bytes_per_s > 0 ? generation.nvlinks : 0;
  tuning->base_us = file.base;
  tuning->device_hop_us = tuning->nvlink ? file.nvlink : file.pcie;
  tuning->network_hop_us = file.network;
  tuning->tree_correction = file.tree_correction;
  if (device != nullptr) {
    tuning->device = tuning->nvlink ? NcclLink{.share = generation.nvlink_share,
                                               .extra_us = extra_hop_us(*device)}
                                    : link_named("pcie", *device);
    tuning->calibrated_device =
        calibrated_link(*device, tuning->device, tuning->device_hop_us[0][0], file.base[0][0]);
  }
  tuning->ll128 = tuning->nvlink;
  if (const ClusterLink* network = cluster.link(LinkScope::kHosts)) {
    const std::string_view kind = kind_of_network(*network);
    tuning->network = link_named(kind, *network);
    tuning->ll128 = tuning->nvlink && kind != "sockets";
    tuning->calibrated_network =
        calibrated_link(*network, tuning->network, file.network[0][0], file.base[0][0]);
  }
  return tuning;
}

}  // namespace paceline::cluster
