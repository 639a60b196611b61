// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/frameworks.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/stats/order_statistics.h"
#include "paceline/validate/csv.h"
#include "paceline/validate/fixed.h"

namespace paceline::validate {
namespace {

constexpr int kLocal = 8;
constexpr double kMebibyte = 1 << 20;

std::string series_of(const Cell& cell) {
  return cell.key[0] + "|" + cell.key[1];
}

/// Without the settings that DLPerf's columns add.
std::string framework_of(const std::string& column) {
  return column.substr(0, column.find(" w/"));
}

/// How a framework hands gradients to the network.
struct Habits {
  std::string_view framework;
  double bucket_mib = 0;      // 0: what is ready within a cycle of Horovod
  bool horovod = false;       // ranks agree through its coordinator
  bool half_wire = false;     // gradients of 16-bit compute cross as they are
  bool idle_loaders = false;  // 16-bit ResNet-50 leaves its loaders idle
};

/// DLPerf's scripts, the defaults of the frameworks and the models' sources:
/// NGC TensorFlow's BERT asks for Compression.none, apex and the MXNets reduce
/// gradients in their own type, OneFlow and Paddle those of 32-bit variables.
/// NGC MXNet groups gradients (MXNET_HOROVOD_NUM_GROUPS=16); apex sends 10
/// million elements at a time.  NGC PyTorch decodes images on the host
/// (dali-cpu) and, slower than the others, loses 4 % of a 16-bit step inside a
/// machine, where they lose 9 and more.  How TensorFlow 2 packs is not known:
/// half of the gradients.
constexpr Habits kHabits[] = {
    {.framework = "MXNet", .horovod = true, .half_wire = true},
    {.framework = "MXNet W/O clip", .horovod = true, .half_wire = true},
    {.framework = "NGC MXNet",
     .bucket_mib = kGroupMebibytes,
     .horovod = true,
     .half_wire = true},
    {.framework = "NGC PyTorch",
     .bucket_mib = kApexMebibytes,
     .half_wire = true,
     .idle_loaders = true},
    {.framework = "NGC TensorFlow 1.x", .horovod = true},
    {.framework = "PyTorch", .bucket_mib = kReducerMebibytes},
    {.framework = "TensorFlow 2.x", .bucket_mib = kTensorFlowMebibytes},
};

Habits habits_of(const std::string& framework) {
  const auto* const found =
      std::ranges::find(kHabits, framework, &Habits::framework);
  return found == std::end(kHabits)
             ? Habits{.framework = framework, .bucket_mib = kFusedMebibytes}
             : *found;
}

/// Paddle's BERT reduces through sockets: its script sets NCCL_IB_DISABLE=1.
/// Inside a machine too it is slower than NVLink by far, and hardly by another
/// time at another batch size, so nothing of it is hidden.
bool over_tcp(bool bert, const std::string& framework) {
  return bert && framework == "PaddlePaddle";
}

/// What a host sends and receives at; a step of NCCL's tree, of which a
/// collective over H hosts takes 2 log2 H, waits as in the survey.
void set_tcp(double gigabytes, cluster::Machine& machine) {
  machine.algorithm = cluster::Algorithm::kTree;
  machine.network.bytes_per_s = rate_of(gigabytes * 1e9);
  machine.network.latency = plan::picoseconds_of(kTcpStep);
}

/// Gradients that all wait for the end of the backward pass.
plan::LayerProfile exposed(plan::LayerProfile profile) {
  profile.forward.back() += profile.backward_total();
  std::ranges::fill(profile.backward, 0);
  return profile;
}

}  // namespace

bool FrameworkModel::is_abnormal(const Cell& cell) {
  const std::string series = series_of(cell);
  return !is_input(cell) && (series == "rn50_amp_b256|TensorFlow 2.x" ||
                             series == "rn50_amp_b256|PaddlePaddle w/DALI");
}

FrameworkModel::FrameworkModel(const std::vector<Cell>& cells,
                               const std::filesystem::path& reference) {
  const Csv table = Csv::read(reference / "dlperf.csv");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string& column = table.text(row, "framework");
    const std::string name = table.text(row, "table_id") + "|" + column;
    Series& one = series_[name];
    one.name = name;
    one.framework = framework_of(column);
    one.bert = table.text(row, "model") == "BERT-Base";
    one.half = table.text(row, "precision") == "amp";
    one.batch_size = table.number(row, "batch_size_per_device").value();
  }
  for (const Cell& cell : cells) {
    if (cell.table == Table::kFrameworks && is_input(cell) &&
        cell.published.has_value()) {
      series_.at(series_of(cell)).rate[cell.gpus()] = *cell.published;
    }
  }
  for (auto& [name, one] : series_) {
    one.network = timed_network(
        one.bert ? "bert-base-30522" : "resnet50",
        static_cast<int>(one.batch_size),
        one.seconds(over_tcp(one.bert, one.framework) ? 1 : kLocal));
  }
}

double FrameworkModel::Series::input(int gpus) const {
  const auto found = rate.find(gpus);
  if (found == rate.end()) {
    throw UsageError(fmt::format(
        "dlperf.csv has no row '{}|{}', which the rest of its series is "
        "predicted from",
        name,
        gpus));
  }
  return found->second;
}

const FrameworkModel::Series& FrameworkModel::series(
    const std::string& name) const {
  const auto found = series_.find(name);
  if (found == series_.end()) {
    throw UsageError(fmt::format("dlperf.csv has no series '{}'", name));
  }
  return found->second;
}

std::string FrameworkModel::strategy_of(const Series& one) {
  const Habits habits = habits_of(one.framework);
  std::string strategy;
  if (over_tcp(one.bert, one.framework)) {
    // Where compute has 16 bits, tensor by tensor.
    strategy = one.half ? "wfbp" : "bsp";
  } else if (one.bert && one.framework == "NGC PyTorch") {
    // message_size is above the model's, so one message behind the backward
    // pass holds all.
    strategy = "bsp";
  } else {
    double mebibytes = habits.bucket_mib;
    if (mebibytes == 0) {
      const double ready =
          kHorovodCycle /
          plan::seconds_of(one.network.profile.backward_total());
      mebibytes =
          std::min(kHorovodFused,
                   std::min(1.0, ready) * 4 / kMebibyte *
                       static_cast<double>(one.network.shape.elements()));
    }
    strategy = fmt::format("fusion:bucket-mb={:.3f}", mebibytes);
  }
  return one.half && habits.half_wire ? strategy + "+fp16" : strategy;
}

double FrameworkModel::plan_seconds(const std::string& name,
                                    int machines,
                                    const Constants& constants) {
  const Series& one = series(name);
  const bool tcp = over_tcp(one.bert, one.framework);
  simulator::Costs costs;
  costs.profile = tcp ? exposed(one.network.profile) : one.network.profile;
  costs.machine.device = {.bytes_per_s = rate_of(kNvlink)};
  costs.machine.network = {.bytes_per_s = rate_of(kInfiniBand),
                           .sharing = cluster::LinkSharing::kHost};
  if (tcp) {
    set_tcp(constants[Constant::kFrameworkTcpRate], costs.machine);
    const double bytes = 2.0 * (kLocal - 1) / kLocal * 4 *
                         static_cast<double>(one.network.shape.elements());
    costs.machine.device.bytes_per_s =
        rate_of(bytes / (one.seconds(kLocal) - one.seconds(1)));
  }
  if (machines > 1) {
    costs.software.collective_per_rank =
        plan::picoseconds_of(constants[Constant::kFrameworkPerRank] * 1e-6);
  }
  return plans_.step_seconds({.network = &one.network,
                              .hosts = machines,
                              .local = kLocal,
                              .strategy = strategy_of(one)},
                             costs);
}

double FrameworkModel::samples_per_s(const Cell& cell,
                                     const Constants& constants) {
  const std::string name = series_of(cell);
  const Series& one = series(name);
  const int gpus = cell.gpus();
  if (is_input(cell)) {
    return one.input(gpus);
  }
  const int machines = gpus / kLocal;
  double wait = constants[Constant::kFrameworkJitter];
  const Habits habits = habits_of(one.framework);
  if (one.half && !one.bert && !habits.idle_loaders) {
    wait += constants[Constant::kFrameworkInput];
  }
  wait *= stats::slowest_of(machines);
  if (habits.horovod) {
    wait += constants[Constant::kFrameworkAgreement];
  }
  const double seconds = one.seconds(kLocal) +
                         plan_seconds(name, machines, constants) -
                         plan_seconds(name, 1, constants) + 1e-3 * wait;
  return one.batch_size * gpus / seconds;
}

}  // namespace paceline::validate
