// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/frameworks.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/strategy.h"
#include "paceline/validate/csv.h"

namespace paceline::validate {
namespace {

constexpr int kLocal = 8;
constexpr double kNvlink = 136.1e9;  // reference/peers_vtrain_nccl_fit.csv

std::string series_of(const Cell& cell) {
  return cell.key[0] + "|" + cell.key[1];
}

/// NGC PyTorch's BERT reduces flattened gradients behind the backward pass;
/// everything else is taken to fuse and overlap, as Horovod does.
const char* strategy_of(const std::string& series) {
  return series.starts_with("bert") && series.ends_with("NGC PyTorch")
             ? "bsp"
             : "fusion:bucket-mb=64";
}

}  // namespace

FrameworkModel::FrameworkModel(const std::vector<Cell>& cells,
                               const std::filesystem::path& reference) {
  const Csv table = Csv::read(reference / "dlperf.csv");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    series_[table.text(row, "table_id") + "|" + table.text(row, "framework")]
        .batch_size = table.number(row, "batch_size_per_device").value();
  }
  for (const Cell& cell : cells) {
    if (cell.table == Table::kFrameworks && is_input(cell) &&
        cell.published.has_value()) {
      series_[series_of(cell)].rate[cell.gpus()] = *cell.published;
    }
  }
  for (auto& [name, one] : series_) {
    const double step = one.batch_size * kLocal / one.rate.at(kLocal);
    one.network =
        timed_network(name.starts_with("rn50") ? "resnet50" : "bert-base-30522",
                      static_cast<int>(one.batch_size),
                      step);
  }
}

double FrameworkModel::step_seconds(const std::string& name,
                                    int machines,
                                    const Constants& constants) {
  const Series& one = series_.at(name);
  sim::Costs costs;
  costs.profile = one.network.profile;
  costs.machine.device = {
      .bytes_per_s = rate_of(
          std::min(kNvlink, constants[Constant::kFrameworkWireRate] * 1e9))};
  costs.machine.network = {.bytes_per_s = rate_of(12.5e9),
                           .sharing = plan::LinkSharing::kHost};
  if (machines == 1) {
    costs.machine.device.bytes_per_s = rate_of(kNvlink);
  }
  costs.machine.interference.device_link_under_compute =
      std::min(1.0, constants[Constant::kFrameworkUnderCompute]);
  costs.software.collective_per_rank =
      plan::picoseconds_of(constants[Constant::kFrameworkPerRank] * 1e-6);
  return plans_.step_seconds(
      fmt::format("{} {}", name, machines),
      [&] {
        Case made;
        made.input = input_of(one.network, machines, kLocal);
        made.planner =
            plan::make_planner(plan::parse_strategy(strategy_of(name)));
        return made;
      },
      costs);
}

double FrameworkModel::samples_per_s(const Cell& cell,
                                     const Constants& constants) {
  const std::string name = series_of(cell);
  const Series& one = series_.at(name);
  const int gpus = cell.gpus();
  if (is_input(cell)) {
    return one.rate.at(gpus);
  }
  const double within = step_seconds(name, 1, constants);
  const double across = step_seconds(name, gpus / kLocal, constants);
  return one.rate.at(kLocal) * gpus / kLocal * within / across;
}

}  // namespace paceline::validate
