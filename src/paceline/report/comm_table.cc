// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/comm_table.h"

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/report/console.h"
#include "paceline/report/csv.h"
#include "paceline/report/fields.h"
#include "paceline/report/markdown.h"

namespace paceline::report {
namespace {

using records::CommRecord;

// Three significant digits, microseconds.
std::string micro_text(double ns) {
  const double us = ns * 1e-3;
  return fmt::format("{:.{}f}", us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

// GB/s, 10^9 bytes.
std::string rate_text(double bytes_per_s) {
  const double rate = bytes_per_s * 1e-9;
  return fmt::format("{:.{}f}", rate, rate < 10 ? 3 : 2);
}

// A mean has no distribution.
std::string quantile_text(const CommRecord& record, double p) {
  return record.is_mean() ? "-" : micro_text(record.quantile_ns(p));
}

std::string rate_text(const CommRecord& record,
                      double (CommRecord::*bandwidth)() const) {
  return record.has_bandwidth() ? rate_text((record.*bandwidth)()) : "-";
}

std::string share_text(const CommRecord& record) {
  const auto share =
      record.has_bandwidth() ? record.line_share() : std::nullopt;
  return share ? fmt::format("{:.1f}", *share * 100) : "-";
}

std::string remark(const CommRecord& record) {
  if (record.wrong_elements.value_or(0) > 0) {
    return fmt::format("{} WRONG ELEMENTS", *record.wrong_elements);
  }
  if (record.in_place && record.in_place->wrong_elements.value_or(0) > 0) {
    return fmt::format("{} WRONG ELEMENTS IN PLACE",
                       *record.in_place->wrong_elements);
  }
  return record.valid.value_or(true) ? ""
                                     : "INVALID: slower than the link makes it";
}

std::string title_of(const CommRecord& first) {
  const std::string hosts =
      first.ranks_per_host.empty()
          ? ""
          : fmt::format(" ({})", fmt::join(first.ranks_per_host, "+"));
  std::string text = fmt::format("{}{}, {} ranks{}, {} on {}, {}",
                                 first.operation,
                                 first.op.empty() ? "" : " of a " + first.op,
                                 first.ranks,
                                 hosts,
                                 first.engine,
                                 first.device,
                                 first.dtype);
  if (!first.clock.empty()) {
    text +=
        fmt::format(", {} time", first.clock == "cpu" ? "CPU" : first.clock);
  }
  if (!first.link.empty()) {
    text += fmt::format(", emulated link {}", first.link);
  }
  return text;
}

Table table_of(std::span<const CommRecord> records, const CommRecord& first) {
  Table table{.title = title_of(first),
              .columns = {{.name = "size"},
                          {"p10", "time", "us"},
                          {first.is_mean() ? "mean" : "median", "time", "us"},
                          {"p90", "time", "us"},
                          {"p99", "time", "us"},
                          {"alg", "bandwidth", "GB/s"},
                          {"bus", "bandwidth", "GB/s"},
                          {"wire", "bandwidth", "GB/s"},
                          {"", "of line", "%"},
                          {.name = "", .align = Align::kLeft}}};
  for (const CommRecord& r : records) {
    if (title_of(r) == table.title) {
      table.rows.push_back(
          {.cells = {size_text(r.bytes),
                     quantile_text(r, 0.1),
                     micro_text(r.median_ns()),
                     quantile_text(r, 0.9),
                     quantile_text(r, 0.99),
                     rate_text(r, &CommRecord::algorithm_bandwidth),
                     rate_text(r, &CommRecord::bus_bandwidth),
                     rate_text(r, &CommRecord::wire_bandwidth),
                     share_text(r),
                     remark(r)}});
    }
  }
  return table;
}

// Of another program's record its formula says what the times are.
std::string time_note(const CommRecord& first) {
  if (first.is_mean()) {
    return first.mean_of > 0
               ? fmt::format("the program's mean of {}",
                             counted(first.mean_of, "iteration"))
               : std::string("the program's mean of its iterations");
  }
  return fmt::format(
      "of {} iterations{}",
      first.iteration_ns.size(),
      first.formula.empty()
          ? ", in each the slowest rank's"
          : ": " + first.formula.substr(0, first.formula.find(';')));
}

void add_notes(const CommRecord& first, std::vector<Note>& notes) {
  add_once(notes,
           {"time",
            time_note(first) +
                (first.has_bandwidth()
                     ? ""
                     : ", of the CPU alone, which issues the operation")});
  if (!first.has_bandwidth()) {
    return;
  }
  add_once(
      notes,
      {"bandwidth",
       fmt::format("alg: size / {}; bus: as defined by nccl-tests; "
                   "wire: {}",
                   first.is_mean() ? "mean" : "median",
                   first.formula.empty() ? "what a rank sends"
                                         : "what a ring sends of a rank")});
  if (first.line_bytes_per_s > 0) {
    add_once(
        notes,
        {"line",
         fmt::format("{} GB/s, {}",
                     rate_text(first.line_bytes_per_s),
                     first.link.empty()
                         ? "a plain stream from one of these processes to its "
                           "neighbor, the fastest of this run"
                         : "that of the emulated link")});
  }
}

Document comm_document(std::span<const CommRecord> records) {
  std::vector<std::string> titles;
  std::vector<std::string> warnings;
  Document document;
  for (const CommRecord& r : records) {
    if (add_once(titles, title_of(r))) {
      document.tables.push_back(table_of(records, r));
      add_notes(r, document.notes);
    }
    for (const records::Warning& w : r.warnings) {
      add_once(warnings, fmt::format("{}: {}; {}", w.seen, w.why, w.advice));
    }
  }
  for (const std::string& warning : warnings) {
    document.notes.push_back({"warning", warning});
  }
  return document;
}

std::string render_comm_table(std::span<const CommRecord> records,
                              const records::Environment&) {
  return console_text(comm_document(records));
}

std::string render_comm_markdown(std::span<const CommRecord> records,
                                 const records::Environment&) {
  return markdown_text(comm_document(records));
}

const Fields<CommRecord>& comm_fields() {
  static const Fields<CommRecord> fields = [] {
    Fields<CommRecord> all;
    const auto bandwidth = [](double (CommRecord::*of)() const) {
      return [of](const CommRecord& r) {
        return r.has_bandwidth() ? Json(std::llround((r.*of)())) : Json();
      };
    };
    const auto text_or_null = [](const std::string& text) {
      return text.empty() ? Json() : Json(text);
    };
    all.add("operation", &CommRecord::operation);
    all.add("bytes", &CommRecord::bytes);
    all.add("ranks", &CommRecord::ranks);
    all.add("engine", &CommRecord::engine);
    all.add("device", &CommRecord::device);
    all.add("dtype", &CommRecord::dtype);
    all.add("link", &CommRecord::link);
    all.add("iterations",
            [](const CommRecord& r) { return r.iteration_ns.size(); });
    for (const auto& [name, p] : {std::pair{"min_us", 0.0},
                                  std::pair{"p10_us", 0.1},
                                  std::pair{"p50_us", 0.5},
                                  std::pair{"p90_us", 0.9},
                                  std::pair{"p99_us", 0.99},
                                  std::pair{"max_us", 1.0}}) {
      all.add(name, [share = p](const CommRecord& r) {
        return r.is_mean() && share != 0.5
                   ? Json()
                   : Json(fmt::format("{:.3f}", r.quantile_ns(share) * 1e-3));
      });
    }
    all.add("algorithm_bytes_per_s",
            bandwidth(&CommRecord::algorithm_bandwidth));
    all.add("bus_bytes_per_s", bandwidth(&CommRecord::bus_bandwidth));
    all.add("wire_bytes_per_s", bandwidth(&CommRecord::wire_bandwidth));
    all.add("line_bytes_per_s", [](const CommRecord& r) {
      return r.line_bytes_per_s > 0 ? Json(std::llround(r.line_bytes_per_s))
                                    : Json();
    });
    all.add("wrong_elements", &CommRecord::wrong_elements);
    all.add("valid", &CommRecord::valid);
    all.add("op", [=](const CommRecord& r) { return text_or_null(r.op); });
    all.add("clock",
            [=](const CommRecord& r) { return text_or_null(r.clock); });
    all.add("wrong_elements_in_place",
            &CommRecord::in_place,
            &records::InPlace::wrong_elements);
    return all;
  }();
  return fields;
}

std::string render_comm_csv(std::span<const CommRecord> records,
                            const records::Environment&) {
  return csv_text(comm_fields().table(records));
}

std::string render_comm_json(std::span<const CommRecord> records,
                             const records::Environment& environment) {
  Json all = Json::array();
  for (const CommRecord& r : records) {
    all.push_back(records::to_json(r, environment));
  }
  return json_text(all, 1) + "\n";
}

constexpr auto kCommFormats =
    std::to_array<CommFormat>({{"table", render_comm_table},
                               {"csv", render_comm_csv},
                               {"json", render_comm_json},
                               {"markdown", render_comm_markdown}});

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

std::span<const CommFormat> comm_formats() {
  return kCommFormats;
}

}  // namespace paceline::report
