// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/operations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/comm_table.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::CommRecord;
using records::RunRecord;

// The names of the experiments, and the model of a whole command; no network has this name.
constexpr const char* kOperations = "operations";
constexpr const char* kCommands = "ab";
constexpr const char* kCommandModel = "command";

// Returns an external record of one rank with one step of `ns` nanoseconds.  All other keys of its
// configuration are unstated.
RunRecord one_step_record(const std::string& experiment, const std::string& label,
                          std::int64_t ns) {
  RunRecord one;
  one.source = records::Source::kExternal;
  one.experiment = experiment;
  cases::Case& c = one.configuration;
  c.label = c.model = label;
  c.strategy = c.engine = c.device = c.dtype = c.optimizer = "";
  c.batch_size = c.steps = 1;
  c.bucket_mb = c.learning_rate = c.momentum = c.weight_decay = 0;
  c.warmup = 0;
  one.ranks.resize(1);
  one.ranks[0].step_ns = {ns};
  one.ranks[0].window_ns = ns;
  return one;
}

/// The measurement of one operation at one size in one record.
struct MeasuredSize {
  std::vector<std::string> fields;  // values of the fields kIdentifyingFields, in their order
  std::int64_t bytes = 0;
  double median_ns = 0;
  const CommRecord* record = nullptr;
};

constexpr auto kIdentifyingFields =
    std::to_array<std::string_view>({"operation", "op", "root", "place", "dtype", "ranks", "engine",
                                     "device", "interface", "link", "clock"});

std::vector<std::string> identifying_fields(const CommRecord& r, std::string place) {
  return {r.operation,      r.op,     r.root ? fmt::to_string(*r.root) : "",
          std::move(place), r.dtype,  fmt::to_string(r.ranks),
          r.engine,         r.device, r.interface,
          r.link,           r.clock};
}

double median_of(const std::vector<std::int64_t>& iteration_ns) {
  const std::vector<double> values(iteration_ns.begin(), iteration_ns.end());
  return stats::median(values);
}

std::vector<MeasuredSize> points_of(std::span<const CommRecord> records) {
  std::vector<MeasuredSize> points;
  const auto add = [&](const CommRecord& record, std::string place,
                       const std::vector<std::int64_t>& iteration_ns) {
    if (!iteration_ns.empty() && median_of(iteration_ns) > 0) {
      points.push_back({identifying_fields(record, std::move(place)), record.bytes,
                        median_of(iteration_ns), &record});
    }
  };
  for (const CommRecord& record : records) {
    add(record, record.place, record.iteration_ns);
    if (record.in_place) {
      add(record, "in-place", record.in_place->iteration_ns);
    }
  }
  return points;
}

// Returns the distinct values that a field has among `points`.
std::set<std::string> values_of(const std::vector<MeasuredSize>& points, std::size_t field) {
  std::set<std::string> values;
  for (const MeasuredSize& point : points) {
    values.insert(point.fields[field]);
  }
  return values;
}

std::string or_dash(const std::string& value) { return value.empty() ? "-" : value; }

/// Makes the names of operations. A name consists of the first identifying field, and of the other
/// fields that have several values on one side.
struct OperationNamer {
  std::array<bool, kIdentifyingFields.size()> shown{};
  std::vector<Difference> differences;

  OperationNamer(const std::vector<MeasuredSize>& base, const std::vector<MeasuredSize>& test) {
    shown[0] = true;
    for (std::size_t i = 1; i < kIdentifyingFields.size(); ++i) {
      const auto before = values_of(base, i);
      const auto after = values_of(test, i);
      if (before.size() > 1 || after.size() > 1) {
        shown.at(i) = true;
      } else if (!before.empty() && !after.empty() && before != after) {
        differences.push_back({std::string(kIdentifyingFields.at(i)), or_dash(*before.begin()),
                               or_dash(*after.begin())});
      }
    }
  }

  std::string operator()(const MeasuredSize& point) const {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < kIdentifyingFields.size(); ++i) {
      if (shown.at(i) && !point.fields[i].empty()) {
        words.push_back(
            kIdentifyingFields.at(i) == "ranks"  ? fmt::format("ranks={}", point.fields[i])
            : kIdentifyingFields.at(i) == "root" ? fmt::format("root={}", point.fields[i])
                                                 : point.fields[i]);
      }
    }
    return fmt::format("{}", fmt::join(words, " "));
  }
};

/// The runs of an operation at one size, in the order of the records.
using Runs = std::vector<const MeasuredSize*>;

/// The runs of the base and of the test by size in bytes.
using RunsBySize = std::map<std::int64_t, std::array<Runs, 2>>;

// Returns the index of the range of a size; ranges end at 4 KiB, 64 KiB, 1 MiB, ...
int size_range_index(std::int64_t bytes) {
  int range = 0;
  for (std::int64_t end = 4096; bytes >= end && range < 12; end *= 16) {
    ++range;
  }
  return range;
}

bool is_invalid(const CommRecord& record) {
  return !record.valid.value_or(true) || record.has_wrong_values();
}

RunRecord record_of(const std::string& label, int run, const Runs& points) {
  double sum = 0;
  for (const MeasuredSize* point : points) {
    sum += std::log(point->median_ns);
  }
  RunRecord one = one_step_record(kOperations, label,
                                  std::llround(std::exp(sum / static_cast<double>(points.size()))));
  const CommRecord& first = *points.front()->record;
  one.run = run;
  one.configuration.ranks = first.ranks;
  one.environment = first.environment;
  one.started_at = first.started_at;
  for (const MeasuredSize* point : points) {
    one.started_at = std::min(one.started_at, point->record->started_at);
    if (is_invalid(*point->record)) {
      one.warnings = {{kInvalidOperation, fmt::format("{} is INVALID", size_text(point->bytes)),
                       "the engine was slower than the emulated link, or it moved wrong values",
                       "see its record"}};
    }
  }
  return one;
}

// Returns the label of an operation at one size, or at several: then with the smallest and the
// largest.
std::string label_of(const std::string& operation, const std::vector<std::int64_t>& sizes) {
  return operation + " " + size_text(sizes.front()) +
         (sizes.size() == 1 ? "" : " to " + size_text(sizes.back()));
}

// Returns the records of one side for a range of sizes, one for each run that measured all sizes of
// the range.  `sizes` has the runs of each size.
std::vector<RunRecord> records_of(const std::string& label, const std::vector<Runs>& sizes) {
  const std::size_t runs =
      std::ranges::min(sizes | std::views::transform([](const Runs& one) { return one.size(); }));
  std::vector<RunRecord> records;
  for (std::size_t run = 0; run < runs; ++run) {
    Runs points;
    for (const Runs& size : sizes) {
      points.push_back(size[run]);
    }
    records.push_back(record_of(label, static_cast<int>(run), points));
  }
  return records;
}

// Adds the records of the sizes that both sides have, and names those that one of them has.
void add_operation(const std::string& operation, const RunsBySize& sizes, OperationSides& sides) {
  std::map<int, std::vector<std::int64_t>> ranges;
  std::array<std::vector<std::int64_t>, 2> alone;
  for (const auto& [bytes, runs] : sizes) {
    const bool paired = !runs[0].empty() && !runs[1].empty();
    (paired ? ranges[size_range_index(bytes)] : alone.at(runs[0].empty() ? 1 : 0)).push_back(bytes);
  }
  for (const std::size_t side : {0, 1}) {
    const std::vector<std::int64_t>& only = alone.at(side);
    if (!only.empty()) {
      sides.unpaired.push_back(
          fmt::format("{} only in the {}", label_of(operation, only), side == 0 ? "base" : "test"));
    }
    for (const auto& [range, members] : ranges) {
      std::vector<Runs> runs;
      for (const std::int64_t bytes : members) {
        runs.push_back(sizes.at(bytes).at(side));
      }
      std::ranges::move(records_of(label_of(operation, members), runs),
                        std::back_inserter(side == 0 ? sides.base : sides.test));
    }
  }
}

}  // namespace

OperationSides operation_sides(std::span<const CommRecord> base, std::span<const CommRecord> test) {
  const std::vector<MeasuredSize> before = points_of(base);
  const std::vector<MeasuredSize> after = points_of(test);
  const OperationNamer name(before, after);
  std::map<std::string, RunsBySize> operations;
  for (const auto& [side, points] : {std::pair{0U, &before}, {1U, &after}}) {
    for (const MeasuredSize& point : *points) {
      operations[name(point)][point.bytes].at(side).push_back(&point);
    }
  }
  OperationSides sides;
  sides.differences = name.differences;
  for (const auto& [operation, sizes] : operations) {
    add_operation(operation, sizes, sides);
  }
  return sides;
}

bool is_operation(const RunRecord& record) {
  return record.source == records::Source::kExternal && record.experiment == kOperations;
}

Diff diff_operations(const OperationSides& sides, const DiffOptions& options) {
  Diff diff = diff_records(sides.base, sides.test, options);
  diff.software.insert(diff.software.begin(), sides.differences.begin(), sides.differences.end());
  diff.missing.insert(diff.missing.end(), sides.unpaired.begin(), sides.unpaired.end());
  return diff;
}

RunRecord wall_time_record(const std::string& command, const std::string& started_at,
                           const records::HostEnvironment& host, std::int64_t wall_ns) {
  RunRecord one = one_step_record(kCommands, "wall time", wall_ns);
  one.started_at = started_at;
  one.configuration.model = kCommandModel;
  one.configuration.strategy = command;
  one.environment.hosts = {host};
  one.ranks[0].host = host.host;
  return one;
}

bool is_wall_time(const RunRecord& record) {
  return record.source == records::Source::kExternal && record.experiment == kCommands &&
         record.configuration.model == kCommandModel;
}

}  // namespace paceline::report
