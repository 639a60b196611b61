// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"
#include "paceline/stats/interval.h"

namespace paceline::report {

/// The key of RunRecord::adapter that holds a throughput as its source printed it, where a record
/// was imported from a table of rates.
inline constexpr const char* kReportedRate = "reported_samples_per_s";

/// A number of devices on a number of nodes; 0 where the source does not say it.
struct Devices {
  int nodes = 1, devices = 1;

  auto operator<=>(const Devices&) const = default;
};

/// "2n16d".
std::string place_of(const Devices& devices);

/// The samples per second of all devices in one run: those of its window over the wall time of its
/// slowest rank, or what a table of rates printed. Nothing where it has no steps, where its source
/// does not say how many samples they have, and where that varies, as beside embedding tables.
std::optional<double> rate_of(const records::RunRecord& record);

/// Training throughput of one column on one number of devices.
struct FrameworkCell {
  std::optional<stats::Estimate> rate;             // the median of the runs' rates
  std::vector<const records::RunRecord*> records;  // all of them
  std::vector<const records::RunRecord*> runs;     // that have a rate
};

/// What is compared: a framework in one form (compiled, clipping, batch).
struct FrameworkColumn {
  std::string title;  // "NGC TensorFlow 1.x w/XLA bsz=224"
  std::map<Devices, FrameworkCell> cells;
};

/// One model in one number type.
struct FrameworkTable {
  std::string experiment;    // or the identifier of the source's table
  std::string model, dtype;  // empty where the source does not say them
  /// Absent: the largest of each column; 0: the source does not say it.
  std::optional<int> batch_size;
  bool imported = false;
  std::vector<Devices> rows;
  std::vector<FrameworkColumn> columns;
};

/// The tables of the records in the order of their first records: by origin, experiment, model and
/// number type, and of records that were not imported by batch size.
std::vector<FrameworkTable> framework_tables(std::span<const records::RunRecord> records);

/// What keeps a column from being compared, or says what is not compared.
struct Finding {
  std::string column;  // its title
  std::string text;
  bool excludes = false;             // the column is not comparable
  std::optional<Devices> devices{};  // where; absent: on all that it has
};

/// Which columns do not train the same, on any number of devices: their parameter counts or FLOPs,
/// or, where the same training was asked for, their losses differ; and which do not say one of
/// these, and why.
std::vector<Finding> unequal_training(const FrameworkTable& table);

/// What reports of the Python package are made from, a part of `--format json`:
///   runs          every record without the samples of its steps
///   environments  those of the runs, each once
///   comparisons   tables of programs beside each other: columns with their
///                 cells, and which of them do not train the same
/// Runs and environments are named by their indices.
Json comparison_data(std::span<const records::RunRecord> records);

}  // namespace paceline::report
