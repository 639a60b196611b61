// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/comm_table.h"

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/report/result_column.h"

namespace paceline::report {
namespace {

using records::CommRecord;

// Returns nanoseconds as text in microseconds with three significant digits.
std::string microseconds_text(double ns) {
  const double us = ns * 1e-3;
  return fmt::format("{:.{}f}", us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

// Returns a rate as text in GB/s, 10^9 bytes per second.
std::string rate_text(double bytes_per_s) {
  const double rate = bytes_per_s * 1e-9;
  return fmt::format("{:.{}f}", rate, rate < 10 ? 3 : 2);
}

std::string line_fraction_text(const CommRecord& record) {
  const auto share = record.has_bandwidth() ? record.line_rate_fraction() : std::nullopt;
  return share ? fmt::format("{:.1f}", *share * 100) : "-";
}

std::string validity_text(const CommRecord& record) {
  if (record.wrong_elements.value_or(0) > 0) {
    return fmt::format("{} WRONG ELEMENTS", *record.wrong_elements);
  }
  if (record.in_place && record.in_place->wrong_elements.value_or(0) > 0) {
    return fmt::format("{} WRONG ELEMENTS IN PLACE", *record.in_place->wrong_elements);
  }
  return record.valid.value_or(true) ? "" : "INVALID: slower than the link makes it";
}

std::string title_of(const CommRecord& first) {
  const std::string hosts = first.ranks_per_host.empty()
                                ? ""
                                : fmt::format(" ({})", fmt::join(first.ranks_per_host, "+"));
  std::string text = fmt::format("{}{}, {} ranks{}, {} on {}, {}", first.operation,
                                 first.op.empty() ? "" : " of a " + first.op, first.ranks, hosts,
                                 first.engine, first.device, first.dtype);
  if (!first.clock.empty()) {
    text += fmt::format(", {} time", first.clock == "cpu" ? "CPU" : first.clock);
  }
  if (!first.link.empty()) {
    text += fmt::format(", emulated link {}", first.link);
  }
  return text;
}

// Returns a note on how the times of this record are defined. For a record of another program, the
// note quotes that program's formula.
std::string time_note(const CommRecord& first) {
  std::string time =
      first.formula.empty()
          ? fmt::format("of {} iterations, in each the slowest rank's", first.iteration_ns.size())
          : fmt::format("{}: {}", counted(std::ssize(first.iteration_ns), "value"),
                        first.formula.substr(0, first.formula.find(';')));
  if (first.is_mean()) {
    time = first.mean_of > 0
               ? fmt::format("the program's mean of {}", counted(first.mean_of, "iteration"))
               : std::string("the program's mean of its iterations");
  }
  return first.has_bandwidth() ? time : time + ", of the CPU alone, which issues the operation";
}

std::string bandwidth_note(const CommRecord& first) {
  return fmt::format("alg: size / {}; bus: as defined by nccl-tests; wire: {}",
                     first.is_mean() ? "mean" : "median",
                     first.formula.empty() ? "what a rank sends" : "what a ring sends of a rank");
}

std::string line_note(const CommRecord& first) {
  return first.line_bytes_per_s > 0
             ? fmt::format("{} GB/s, {}", rate_text(first.line_bytes_per_s),
                           first.link.empty() ? "a plain stream from one of these processes to "
                                                "its neighbor"
                                              : "that of the emulated link")
             : "";
}

/// Builds the columns of one operation's table, which has a row for each size.
class CommColumns {
 public:
  explicit CommColumns(const CommRecord& first) : first_(first) {}

  ResultColumns<CommRecord> run() {
    all_.data("operation", &CommRecord::operation);
    all_.add({.name = "size"})
        .cell([](const CommRecord& r) { return size_text(r.bytes); })
        .data("bytes", &CommRecord::bytes);
    all_.data("ranks", &CommRecord::ranks);
    all_.data("engine", &CommRecord::engine);
    all_.data("device", &CommRecord::device);
    all_.data("dtype", &CommRecord::dtype);
    all_.data("link", &CommRecord::link);
    all_.data("iterations", [](const CommRecord& r) { return r.iteration_ns.size(); });
    add_times();
    add_bandwidths();
    add_correctness();
    return std::move(all_);
  }

 private:
  void add_times() {
    const auto add = [this](const char* name, double p, const char* key) -> auto& {
      // A record that has only a mean has no quantiles.
      const auto is_known = [p](const CommRecord& r) { return !r.is_mean() || p == 0.5; };
      return all_.add({name, "time", "us"})
          .cell([=](const CommRecord& r) {
            return is_known(r) ? microseconds_text(r.quantile_ns(p))
                               : std::string(kMissingValueText);
          })
          .data(key, [=](const CommRecord& r) {
            return is_known(r) ? Json(fmt::format("{:.3f}", r.quantile_ns(p) * 1e-3)) : Json();
          });
    };
    add("min", 0, "min_us").shown(false);
    add("p10", 0.1, "p10_us").note("time", time_note(first_));
    add(first_.is_mean() ? "mean" : "median", 0.5, "p50_us");
    add("p90", 0.9, "p90_us");
    add("p99", 0.99, "p99_us");
    add("max", 1, "max_us").shown(false);
  }

  void add_bandwidths() {
    const auto add = [this](const char* name, const char* key,
                            double (CommRecord::*of)() const) -> auto& {
      return all_.add({name, "bandwidth", "GB/s"})
          .cell([of](const CommRecord& r) {
            return r.has_bandwidth() ? rate_text((r.*of)()) : std::string(kMissingValueText);
          })
          .data(key, [of](const CommRecord& r) {
            return r.has_bandwidth() ? Json(std::llround((r.*of)())) : Json();
          });
    };
    const bool known = first_.has_bandwidth();
    add("alg", "algorithm_bytes_per_s", &CommRecord::algorithm_bandwidth)
        .note("bandwidth", known ? bandwidth_note(first_) : "");
    add("bus", "bus_bytes_per_s", &CommRecord::bus_bandwidth);
    add("wire", "wire_bytes_per_s", &CommRecord::wire_bandwidth);
    all_.add({"", "of line", "%"})
        .cell(line_fraction_text)
        .data("line_bytes_per_s",
              [](const CommRecord& r) {
                return r.line_bytes_per_s > 0 ? Json(std::llround(r.line_bytes_per_s)) : Json();
              })
        .note("line", known ? line_note(first_) : "");
  }

  void add_correctness() {
    const auto text_or_null = [](const std::string& text) {
      return text.empty() ? Json() : Json(text);
    };
    all_.add({.name = "", .align = Align::kLeft})
        .cell(validity_text)
        .data("wrong_elements", &CommRecord::wrong_elements)
        .data("valid", &CommRecord::valid);
    all_.data("op", &CommRecord::op, text_or_null);
    all_.data("clock", &CommRecord::clock, text_or_null);
    all_.data("wrong_elements_in_place", &CommRecord::in_place, &records::InPlace::wrong_elements);
  }

  const CommRecord& first_;
  ResultColumns<CommRecord> all_;
};

}  // namespace

std::string size_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

CommandOutput comm_output(std::span<const CommRecord> records,
                          const records::Environment& environment) {
  std::vector<std::pair<std::string, std::vector<CommRecord>>> operations;
  std::vector<std::string> warnings;
  for (const CommRecord& r : records) {
    find_or_add(operations, title_of(r)).push_back(r);
    for (const records::Warning& w : r.warnings) {
      add_once(warnings, fmt::format("{}: {}; {}", w.seen, w.why, w.advice));
    }
  }
  CommandOutput output;
  for (const auto& [title, members] : operations) {
    const auto columns = CommColumns(members.front()).run();
    output.tables.push_back(columns.table(members));
    output.tables.back().title = title;
    for (const Note& note : columns.notes()) {
      add_once(output.notes, note);
    }
  }
  for (const std::string& warning : warnings) {
    output.notes.push_back({"warning", warning});
  }
  output.csv = CommColumns({}).run().fields().table(records);
  output.json = Json::array();
  for (const CommRecord& r : records) {
    output.json.push_back(records::to_json(r, environment));
  }
  return output;
}

}  // namespace paceline::report
