// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/operations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/comm_table.h"
#include "paceline/report/wall_time.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::CommRecord;
using records::RunRecord;

constexpr const char* kOperations = "operations";  // the experiment's name

/// One operation at one size in one record.
struct MeasuredSize {
  std::vector<std::string> fields;  // in the order of kFields
  std::int64_t bytes = 0;
  double median_ns = 0;
  const CommRecord* record = nullptr;
};

constexpr auto kFields =
    std::to_array<std::string_view>({"operation", "op", "root", "place", "dtype", "ranks", "engine",
                                     "device", "interface", "link", "clock"});

std::vector<std::string> said_fields(const CommRecord& r, std::string place) {
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
      points.push_back(
          {said_fields(record, std::move(place)), record.bytes, median_of(iteration_ns), &record});
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

// Returns the distinct values of a field.
std::set<std::string> values_of(const std::vector<MeasuredSize>& points, std::size_t field) {
  std::set<std::string> values;
  for (const MeasuredSize& point : points) {
    values.insert(point.fields[field]);
  }
  return values;
}

std::string said(const std::string& value) { return value.empty() ? "-" : value; }

/// Names operations by the first field and by those fields that have several values on a side.
struct Naming {
  std::array<bool, kFields.size()> shown{};
  std::vector<Difference> differences;

  Naming(const std::vector<MeasuredSize>& base, const std::vector<MeasuredSize>& test) {
    shown[0] = true;
    for (std::size_t i = 1; i < kFields.size(); ++i) {
      const auto before = values_of(base, i);
      const auto after = values_of(test, i);
      if (before.size() > 1 || after.size() > 1) {
        shown.at(i) = true;
      } else if (!before.empty() && !after.empty() && before != after) {
        differences.push_back(
            {std::string(kFields.at(i)), said(*before.begin()), said(*after.begin())});
      }
    }
  }

  std::string operator()(const MeasuredSize& point) const {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      if (shown.at(i) && !point.fields[i].empty()) {
        words.push_back(kFields.at(i) == "ranks"  ? fmt::format("ranks={}", point.fields[i])
                        : kFields.at(i) == "root" ? fmt::format("root={}", point.fields[i])
                                                  : point.fields[i]);
      }
    }
    return fmt::format("{}", fmt::join(words, " "));
  }
};

/// The measured sizes of a side by operation name, size in bytes and run.
using Runs = std::map<int, const MeasuredSize*>;
using Side = std::map<std::string, std::map<std::int64_t, Runs>>;

Side side_of(const std::vector<MeasuredSize>& points, const Naming& name) {
  Side side;
  for (const MeasuredSize& point : points) {
    Runs& runs = side[name(point)][point.bytes];
    runs.emplace(static_cast<int>(runs.size()), &point);
  }
  return side;
}

// Returns the index of the range of a size; ranges end at 4 KiB, 64 KiB, 1 MiB, ...
int range_of(std::int64_t bytes) {
  int range = 0;
  for (std::int64_t end = 4096; bytes >= end && range < 12; end *= 16) {
    ++range;
  }
  return range;
}

bool is_invalid(const CommRecord& record) {
  return !record.valid.value_or(true) || record.found_wrong();
}

RunRecord record_of(const std::string& label, int run,
                    const std::vector<const MeasuredSize*>& points) {
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

// Adds a record of one range for each run that has all of its sizes; `sizes` is of one side.
void add_records(const std::string& label, const std::vector<const Runs*>& sizes,
                 std::vector<RunRecord>& records) {
  for (const auto& [run, point] : *sizes.front()) {
    std::vector<const MeasuredSize*> points;
    for (const Runs* size : sizes) {
      if (const auto found = size->find(run); found != size->end()) {
        points.push_back(found->second);
      }
    }
    if (points.size() == sizes.size()) {
      records.push_back(record_of(label, run, points));
    }
  }
}

// Adds the clause "all-reduce of 4 B only in the base"; several sizes share one clause.
void add_unpaired(const std::string& operation, const std::vector<std::int64_t>& sizes,
                  std::string_view side, OperationSides& sides) {
  if (sizes.empty()) {
    return;
  }
  const std::string which = sizes.size() == 1
                                ? size_text(sizes.front())
                                : fmt::format("{} sizes from {} to {}", sizes.size(),
                                              size_text(sizes.front()), size_text(sizes.back()));
  sides.unpaired.push_back(fmt::format("{} of {} only in the {}", operation, which, side));
}

void add_operation(const std::string& operation, const std::map<std::int64_t, Runs>& base,
                   const std::map<std::int64_t, Runs>& test, OperationSides& sides) {
  std::map<int, std::vector<std::int64_t>> ranges;  // sizes that both sides have
  std::vector<std::int64_t> only_base;
  std::vector<std::int64_t> only_test;
  for (const auto& [bytes, runs] : base) {
    if (test.contains(bytes)) {
      ranges[range_of(bytes)].push_back(bytes);
    } else {
      only_base.push_back(bytes);
    }
  }
  for (const auto& [bytes, runs] : test) {
    if (!base.contains(bytes)) {
      only_test.push_back(bytes);
    }
  }
  add_unpaired(operation, only_base, "base", sides);
  add_unpaired(operation, only_test, "test", sides);
  for (const auto& [range, sizes] : ranges) {
    const std::string label = sizes.size() == 1
                                  ? fmt::format("{} {}", operation, size_text(sizes.front()))
                                  : fmt::format("{} {} to {}", operation, size_text(sizes.front()),
                                                size_text(sizes.back()));
    for (const bool is_test : {false, true}) {
      std::vector<const Runs*> runs;
      for (const std::int64_t bytes : sizes) {
        runs.push_back(&(is_test ? test : base).at(bytes));
      }
      add_records(label, runs, is_test ? sides.test : sides.base);
    }
  }
}

}  // namespace

OperationSides operation_sides(std::span<const CommRecord> base, std::span<const CommRecord> test) {
  const std::vector<MeasuredSize> before = points_of(base);
  const std::vector<MeasuredSize> after = points_of(test);
  const Naming name(before, after);
  const Side base_side = side_of(before, name);
  const Side test_side = side_of(after, name);
  OperationSides sides;
  sides.differences = name.differences;
  for (const auto& [operation, sizes] : base_side) {
    if (const auto other = test_side.find(operation); other != test_side.end()) {
      add_operation(operation, sizes, other->second, sides);
    } else {
      sides.unpaired.push_back(operation + " only in the base");
    }
  }
  for (const auto& [operation, sizes] : test_side) {
    if (!base_side.contains(operation)) {
      sides.unpaired.push_back(operation + " only in the test");
    }
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

}  // namespace paceline::report
