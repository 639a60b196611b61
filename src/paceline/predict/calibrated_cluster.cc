// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/calibrated_cluster.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cluster/device_table.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/comm_fit.h"

namespace paceline::predict {
namespace {

using cluster::ClusterHost;
using cluster::LinkScope;
using records::CommRecord;

constexpr double kTypicalHopSeconds = 2e-6;  // s

std::optional<plan::Pattern> pattern_of(const std::string& operation) {
  for (const plan::Pattern pattern : {plan::Pattern::kAllReduce, plan::Pattern::kReduceScatter,
                                      plan::Pattern::kAllGather, plan::Pattern::kBroadcast}) {
    if (plan::name_of(pattern) == operation) {
      return pattern;
    }
  }
  return std::nullopt;
}

/// Returns the name of a record's devices if its hosts have only one kind; empty if it is not
/// known.
std::string device_of(const CommRecord& record) {
  for (const records::HostEnvironment& host : record.environment.hosts) {
    const std::string gpus = records::fact_of(host.facts, "gpus");  // "8 x NVIDIA A100"
    const auto sign = gpus.find(" x ");
    if (sign != std::string::npos) {
      return gpus.find(", ") == std::string::npos ? gpus.substr(sign + 3) : "";
    }
  }
  return "";
}

class Calibration {
 public:
  Calibration(std::span<const CommRecord> records, const ClusterFacts& facts,
              const std::string& source)
      : facts_(facts) {
    keep_usable(records);
    out_.cluster = facts.base.value_or(cluster::Cluster{});
    out_.cluster.name = "calibrated by paceline calibrate";
    out_.cluster.source = source;
    choose_hosts();
    choose_device();
    for (CommRecord& record : usable_) {
      complete_ranks_per_host(record);
    }
    choose_device_link();
    fit_scope(LinkScope::kDevices);
    fit_scope(LinkScope::kHosts);
    const auto is_fitted = [](const cluster::ClusterLink& link) { return !link.fits.empty(); };
    if (out_.links.empty() && std::ranges::none_of(out_.cluster.links, is_fitted)) {
      throw UsageError("messages of a single size determine nothing: give two sizes");
    }
    cluster::parse_cluster(cluster::to_toml(out_.cluster), "the calibrated cluster");
  }

  CalibratedCluster result() && { return std::move(out_); }

 private:
  void keep_usable(std::span<const CommRecord> records) {
    std::set<std::string> skipped;
    for (const CommRecord& record : records) {
      const bool known =
          std::ranges::find(plan::kOperations, record.operation) != plan::kOperations.end();
      if (!known) {
        skipped.insert(record.operation + ", which no plan has");
      } else if (record.has_wrong_values()) {
        skipped.insert(record.operation + " with wrong values");
      } else if (!record.has_bandwidth() || !record.valid.value_or(record.link.empty())) {
        skipped.insert(record.operation + (record.has_bandwidth()
                                               ? " on an emulated link that limited nothing"
                                               : " with times of the CPU alone"));
      } else if (record.bytes > 0 && record.ranks > 1) {
        usable_.push_back(record);
      }
    }
    for (const std::string& what : skipped) {
      out_.notes.push_back(fmt::format("{} is left out", what));
    }
    if (usable_.empty()) {
      throw UsageError(fmt::format(
          "no time of a collective or a message is in the files{}: nothing can be calibrated",
          skipped.empty() ? "" : fmt::format(" beside {}", fmt::join(skipped, ", "))));
    }
    for (const CommRecord& record : usable_) {
      if (engine_of_record(record) != engine_of_record(usable_.front())) {
        throw UsageError(fmt::format("the files are of engines {} and {}; calibrate each alone",
                                     usable_.front().engine, record.engine));
      }
    }
    engine_ = engine_of_record(usable_.front());
  }

  /// RCCL, NCCL's counterpart for AMD's GPUs, is modelled as NCCL.
  static std::string engine_of_record(const CommRecord& record) {
    return record.engine == "rccl" ? "nccl" : record.engine;
  }

  void choose_hosts() {
    if (!facts_.hosts.empty()) {
      out_.cluster.hosts = facts_.hosts;
    }
    check_ranks_per_host();
    if (!out_.cluster.hosts.empty()) {
      return;
    }
    const auto most = std::ranges::max_element(usable_, {}, &CommRecord::ranks);
    std::vector<int> counts = most->ranks_per_host;
    if (counts.empty() && most->ranks <= facts_.devices_per_host) {
      counts = {facts_.devices_per_host};
    }
    if (counts.empty()) {
      throw UsageError(
          fmt::format("the files do not say on which hosts their {} ranks are; give --hosts, "
                      "--hostfile, Slurm's variables or nvidia-smi topo -m",
                      most->ranks));
    }
    for (const int count : counts) {
      out_.cluster.hosts.push_back({.name = fmt::format("host{}", out_.cluster.hosts.size()),
                                    .slots = count,
                                    .interface = {},
                                    .memory_bytes = {}});
    }
  }

  /// Throws UsageError if a time is of more ranks on a host than the host's description allows.
  void check_ranks_per_host() const {
    const auto check = [&](int slots, std::string_view described) {
      for (const CommRecord& record : usable_) {
        const int ranks =
            record.ranks_per_host.empty() ? 0 : std::ranges::max(record.ranks_per_host);
        if (ranks > slots) {
          throw UsageError(fmt::format("{} among {} ranks had {} of them on a host, and {} {}",
                                       record.operation, record.ranks, ranks, described, slots));
        }
      }
    };
    const auto& hosts = out_.cluster.hosts;
    if (!hosts.empty()) {
      check(std::ranges::max_element(hosts, {}, &ClusterHost::slots)->slots,
            "the slots of a described host are at most");
    }
    if (engine_ == "nccl" && facts_.has_topology) {
      check(facts_.devices_per_host, "the devices in nvidia-smi topo -m are");
    }
  }

  /// Sets the device, whose name determines NCCL's constants.
  void choose_device() {
    std::string name = out_.cluster.device.name;
    for (const CommRecord& record : usable_) {
      const std::string measured = device_of(record);
      const std::string model = cluster::device_model(measured);
      const std::string known = cluster::device_model(name);
      if (!model.empty() && !known.empty() && model != known) {
        throw UsageError(fmt::format(
            "the times are of device '{}', and {} is '{}'", measured,
            name == out_.cluster.device.name ? "that of --cluster" : "that of other files", name));
      }
      name = name.empty() ? measured : name;
    }
    if (engine_ != "nccl") {
      return;
    }
    out_.cluster.device.name = name;
    if (!out_.cluster.device.memory_bytes_per_s) {
      out_.cluster.device.memory_bytes_per_s = cluster::data_sheet_memory_rate(name);
      out_.notes.push_back(memory_note());
    }
    const std::shared_ptr<const cluster::NcclTuning> tuning = cluster::nccl_tuning_of(out_.cluster);
    if (!tuning->known) {
      out_.notes.push_back(
          fmt::format("{}: NCCL's constants are those of generation {}; a file of --cluster may "
                      "name the device",
                      name.empty() ? "the files do not name the devices"
                                   : fmt::format("device '{}' is of no known generation", name),
                      tuning->generation));
    }
  }

  /// Returns a note on where the time of parameter updates comes from if no file gives the memory's
  /// rate.
  std::string memory_note() const {
    const cluster::ClusterDevice& device = out_.cluster.device;
    if (device.memory_bytes_per_s) {
      return fmt::format(
          "no file says what the memory of a device moves: it is taken to be {:.4g} GB/s, the data "
          "sheet's rate of '{}'",
          *device.memory_bytes_per_s * 1e-9, device.name);
    }
    return fmt::format(
        "no file says what the memory of a device moves, nor does data/devices.toml of '{}': "
        "`paceline predict` prices updates at 0; give memory_bandwidth in the file of --cluster",
        device.name);
  }

  /// Throws UsageError if the topology gives the devices other links than the data sheet: through
  /// switches two devices are joined by all links of each, without them a device's links are
  /// divided among the others.
  void check_topology(const cluster::NcclTuning& tuning) const {
    const bool switched = facts_.nvlinks == tuning.nvlinks && facts_.most_nvlinks == tuning.nvlinks;
    if (tuning.nvlinks > 0 && facts_.most_nvlinks > 0 && !switched &&
        facts_.nvlinks_of_a_device > tuning.nvlinks) {
      throw UsageError(fmt::format(
          "nvidia-smi topo -m has NV{} between two devices, and a '{}' has {} NVLinks: the "
          "topology is of another device",
          facts_.most_nvlinks, out_.cluster.device.name, tuning.nvlinks));
    }
  }

  /// Throws UsageError if the times need a faster link between the devices of a host than PCIe.
  void check_pcie() const {
    for (const CommRecord& record : usable_) {
      if (scope_of(record) == LinkScope::kDevices &&
          record.bus_bandwidth() > cluster::kPcie5BytesPerSecond) {
        throw UsageError(fmt::format(
            "nvidia-smi topo -m has no NVLink between two of the devices, and {} of {} B reached "
            "{:.4g} GB/s on each device's link, of which PCIe 5.0 x16 has {:.4g}: the topology is "
            "of another host",
            record.operation, record.bytes, record.bus_bandwidth() * 1e-9,
            cluster::kPcie5BytesPerSecond * 1e-9));
      }
    }
  }

  /// Adds the link between the devices of a host if no file describes it and the device's name
  /// implies NVLink: at the data sheet's rate.  Throws UsageError if the link is needed but neither
  /// this rate nor times inside one host determine it.
  void choose_device_link() {
    if (out_.cluster.link(LinkScope::kDevices) != nullptr) {
      return;
    }
    double rate = 0;
    if (engine_ == "nccl") {
      const auto tuning = cluster::nccl_tuning_of(out_.cluster);
      check_topology(*tuning);
      rate = tuning->nvlink_bytes_per_s;
      if (facts_.has_topology && facts_.devices_per_host > 1 && facts_.nvlinks == 0) {
        check_pcie();
      }
    }
    if (rate == 0 || (facts_.has_topology && facts_.nvlinks == 0)) {
      const bool matters = std::ranges::any_of(usable_, [](const CommRecord& record) {
        return std::ranges::max(record.ranks_per_host) > 1;
      });
      if (matters && !has_times(LinkScope::kDevices)) {
        throw UsageError(
            "nothing says which link joins the devices of a host, on which times of several hosts "
            "depend, too; give it with --cluster, or give times inside one host");
      }
      return;
    }
    out_.cluster.links.push_back({.name = "nvlink",
                                  .scope = LinkScope::kDevices,
                                  .sharing = cluster::LinkSharing::kDevice,
                                  .bytes_per_s = rate,
                                  .latency_ps = plan::picoseconds_of(kTypicalHopSeconds),
                                  .fits = {}});
    out_.notes.push_back(
        fmt::format("no file {} the link between the devices of a host: it is taken to be "
                    "NVLink at {:.4g} GB/s, the data sheet's rate of '{}'",
                    facts_.has_topology ? "says the rate of" : "describes", rate * 1e-9,
                    out_.cluster.device.name));
  }

  void complete_ranks_per_host(CommRecord& record) const {
    if (record.ranks_per_host.empty()) {
      const auto counts = cluster::ranks_per_host(out_.cluster, record.ranks);
      record.ranks_per_host.assign(counts.begin(), counts.end());
    }
  }

  static LinkScope scope_of(const CommRecord& record) {
    return record.ranks_per_host.size() > 1 ? LinkScope::kHosts : LinkScope::kDevices;
  }

  bool has_times(LinkScope scope) const {
    return std::ranges::any_of(usable_,
                               [&](const CommRecord& it) { return scope_of(it) == scope; });
  }

  /// Returns the link of the scope.  If the cluster has none, adds one whose rate is the largest
  /// measured bus bandwidth of a card.
  cluster::ClusterLink& link_of(LinkScope scope, bool& was_given) {
    auto& links = out_.cluster.links;
    const auto found = std::ranges::find(links, scope, &cluster::ClusterLink::scope);
    was_given = found != links.end();
    if (was_given) {
      return *found;
    }
    const bool devices = scope == LinkScope::kDevices;
    const bool own =
        devices ? !facts_.has_topology || facts_.nvlinks > 0
                : facts_.network_cards > 0 && facts_.network_cards >= facts_.devices_per_host;
    double rate = 0;
    for (const CommRecord& record : usable_) {
      if (scope_of(record) == scope) {
        const int cards = own && !devices ? std::ranges::max(record.ranks_per_host) : 1;
        rate = std::max(rate, record.bus_bandwidth() / cards);
      }
    }
    links.push_back({.name = !devices              ? "network"
                             : facts_.nvlinks > 0  ? "nvlink"
                             : facts_.has_topology ? "pcie"
                                                   : "devices",
                     .scope = scope,
                     .sharing = own ? cluster::LinkSharing::kDevice : cluster::LinkSharing::kHost,
                     .bytes_per_s = rate,
                     .latency_ps = plan::picoseconds_of(kTypicalHopSeconds),
                     .fits = {}});
    return links.back();
  }

  std::vector<MeasuredTime> times_of(LinkScope scope) const {
    std::vector<MeasuredTime> times;
    for (const CommRecord& record : usable_) {
      const auto pattern = pattern_of(record.operation);
      if (pattern && scope_of(record) == scope) {
        const auto& counts = record.ranks_per_host;
        times.push_back({.call = {.pattern = *pattern,
                                  .bytes = record.bytes,
                                  .group = {.ranks = record.ranks,
                                            .hosts = static_cast<plan::Rank>(counts.size()),
                                            .ranks_on_fullest_host = std::ranges::max(counts)}},
                         .seconds = record.median_ns() * 1e-9});
      }
    }
    return times;
  }

  void fit_scope(LinkScope scope) {
    const std::vector<MeasuredTime> times = times_of(scope);
    if (!has_times(scope)) {
      return;
    }
    bool given = false;
    cluster::ClusterLink& link = link_of(scope, given);
    link.fits.clear();
    link.calibration.reset();
    if (!times.empty()) {
      out_.links.push_back(calibrate_link(
          {.scope = scope, .rate_is_given = given, .engine = engine_}, times, out_.cluster));
    }
    put_fits(scope, link);
  }

  void put_fits(LinkScope scope, cluster::ClusterLink& link) {
    std::map<std::tuple<int, std::vector<int>>, std::vector<CommRecord>> worlds;
    for (const CommRecord& record : usable_) {
      if (scope_of(record) == scope) {
        worlds[{record.ranks, record.ranks_per_host}].push_back(record);
      }
    }
    for (const auto& [world, records] : worlds) {
      for (cluster::LinkFit& fit : fits_of(records)) {
        fit.engine = engine_;
        link.fits.push_back(std::move(fit));
      }
    }
  }

  ClusterFacts facts_;
  std::string engine_;
  std::vector<CommRecord> usable_;
  CalibratedCluster out_;
};

}  // namespace

CalibratedCluster calibrated_cluster(std::span<const CommRecord> records, const ClusterFacts& facts,
                                     const std::string& source) {
  return Calibration(records, facts, source).result();
}

}  // namespace paceline::predict
