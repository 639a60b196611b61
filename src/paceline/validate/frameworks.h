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
/// pipeline, Python, NVLink) is not modelled.  Larger worlds are simulated
/// from its plan, with the 8-device step in place of the computing time.
class FrameworkModel {
 public:
  /// Takes the inputs from the cells, and batch sizes from the table.
  FrameworkModel(const std::vector<Cell>& cells,
                 const std::filesystem::path& reference);

  double samples_per_s(const Cell& cell, const Constants& constants);

  static bool is_input(const Cell& cell) { return cell.gpus() <= 8; }

 private:
  struct Series {
    double batch_size = 0;
    std::map<int, double> rate;  // samples/s, by devices
    TimedNetwork network;
  };

  double step_seconds(const std::string& name,
                      int machines,
                      const Constants& constants);

  std::map<std::string, Series> series_;
  PlanCache plans_;
};

}  // namespace paceline::validate
