// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/validate/cell.h"
#include "paceline/validate/constants.h"
#include "paceline/validate/plan_cache.h"

namespace paceline::validate {

/// DLPerf: frameworks on machines of 8 V100.  The cells of 1 and 8 devices of
/// a series are inputs: what a framework loses inside a machine (input
/// pipeline, Python, NVLink) is not modelled.  Larger worlds of H machines cost
///
///   t = t8 + plan(H) - plan(1) + w(H) (sigma + images at 16 bits) + agreement
///
/// where plan() is the simulated step of the framework's plan and w(H) what the
/// slowest of H machines loses.
class FrameworkModel {
 public:
  /// Takes the inputs from the cells, and settings from the table.
  FrameworkModel(const std::vector<Cell>& cells,
                 const std::filesystem::path& reference);

  double samples_per_s(const Cell& cell, const Constants& constants);

  static bool is_input(const Cell& cell) { return cell.gpus() <= 8; }

  /// Whether something else than data parallelism limits the row: see
  /// explanation_of().
  static bool is_abnormal(const Cell& cell);

 private:
  struct Series {
    std::string name, framework;
    bool bert = false, half = false;  // 16-bit compute
    double batch_size = 0;
    std::map<int, double> rate{};  // samples/s, by devices
    TimedNetwork network{};

    /// Throws UsageError where the table has no such row.
    double input(int gpus) const;
    double seconds(int gpus) const { return batch_size * gpus / input(gpus); }
  };

  /// Throws UsageError for a series that the table has not.
  const Series& series(const std::string& name) const;

  static std::string strategy_of(const Series& one);

  double plan_seconds(const std::string& name,
                      int machines,
                      const Constants& constants);

  std::map<std::string, Series> series_;
  PlanCache plans_;
};

}  // namespace paceline::validate
