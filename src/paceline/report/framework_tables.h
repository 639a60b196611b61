// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/stats/interval.h"

namespace paceline::report {

/// The key of RunRecord::adapter that holds a throughput as its source printed
/// it, where a record was imported from a table of rates.
inline constexpr const char* kReportedRate = "reported_samples_per_s";

/// A number of devices on a number of nodes.
struct Devices {
  int nodes = 1, devices = 1;

  auto operator<=>(const Devices&) const = default;
};

/// "2n16d".
std::string place_of(const Devices& devices);

/// Training throughput of one column on one number of devices.
struct FrameworkCell {
  /// Samples per second of all devices: the median of the runs' rates, each
  /// the samples in a window over the wall time of its slowest rank.
  std::optional<stats::Estimate> rate;
  std::string printed;  // as the source printed it; empty: measured here
  std::string why;      // there is no rate: why
  bool failed = false;  // there is none, since a run failed
  std::vector<const records::RunRecord*> runs;  // that have steps
};

/// What is compared: a framework in one form (compiled, clipping, batch).
struct FrameworkColumn {
  std::string title;  // "NGC TensorFlow 1.x w/XLA bsz=224"
  std::string framework;
  int batch_size = 0;
  /// What its programs said of themselves, and the configuration's recipe.
  /// Where runs differ in what is shown, all they said: "1.0 or 1.1".
  std::map<std::string, std::string> facts;
  std::set<std::string> varied{};  // facts in which its runs differ
  std::map<Devices, FrameworkCell> cells;

  /// Rate on `devices` over that on one device; nothing where one is missing.
  std::optional<double> speed_up(const Devices& devices) const;
};

/// One model in one number type: a table of the report.
struct FrameworkTable {
  std::string id;     // of the source's table, or the experiment
  std::string title;  // "FP32, batch size = 128"
  std::string model, dtype;
  std::string unit;  // img/s, sentences/s or samples/s
  bool imported = false;
  std::vector<Devices> rows;
  std::vector<FrameworkColumn> columns;
};

/// The tables of the records in the order of their first records: by origin,
/// experiment, model and number type, and of records that were not imported by
/// batch size.
std::vector<FrameworkTable> framework_tables(
    std::span<const records::RunRecord> records);

/// What is wrong with a table, or keeps its columns from being compared.
struct Finding {
  std::string column;  // its title; empty: the whole table
  std::string text;
  bool excludes = false;             // the column is not comparable
  std::optional<Devices> devices{};  // where; absent: on all that it has
};

/// Throughput that falls with devices; speed-ups above the number of devices,
/// and published ones that the throughput beside them contradicts; a loss of
/// more than half within a node, as of an input pipeline; columns whose
/// recipes, losses (first and fifth step, to 1e-3, of bf16 to 1/64), parameter
/// counts, FLOPs or machines differ, or that do not say one of these and why;
/// replicas that differ; runs that spread by
/// more than 3 %, or are fewer than the protocol's; and what the source itself
/// remarks.
std::vector<Finding> findings(const FrameworkTable& table);

/// Which columns do not train the same, on any number of devices: their
/// parameter counts or FLOPs, or, where the same training was asked for, their
/// losses differ; and which do not say one of these, and why.
std::vector<Finding> unequal_training(const FrameworkTable& table);

}  // namespace paceline::report
