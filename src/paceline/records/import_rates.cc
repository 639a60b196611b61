// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/records/importers.h"

namespace paceline::records {
namespace {

constexpr double kLongestStepNs = 1e18;
constexpr const char* kRate = "throughput_samples_per_s";

// One line of CSV (RFC 4180, without line breaks in fields).
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

class RateTable {
 public:
  RateTable(std::string_view text, std::string path) : path_(std::move(path)) {
    for (const std::string& line : split_lines(text)) {
      if (++line_ == 1) {
        columns_ = fields_of(line);
      } else if (!trimmed(line).empty()) {
        add(fields_of(line));
      }
    }
  }

  std::vector<RunRecord> records() && { return std::move(records_); }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(fmt::format("{}:{}: {}", path_, line_, what));
  }

  std::string get(const char* column) const { return fact_of(row_, column); }

  template <class Number>
  Number number(const char* column, std::optional<Number> fallback = {}) const {
    const std::string text = get(column);
    if (text.empty() && fallback) {
      return *fallback;
    }
    if (!row_.contains(column)) {
      refuse(fmt::format("the column '{}' is missing", column));
    }
    const auto value = number_from<Number>(text);
    if (!value || !(*value > 0)) {
      refuse(
          fmt::format("{}: '{}' is no positive number", column, shown(text)));
    }
    return *value;
  }

  void add(const std::vector<std::string>& fields) {
    if (fields.size() != columns_.size()) {
      refuse(fmt::format(
          "{} fields, the header has {}", fields.size(), columns_.size()));
    }
    row_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      row_[columns_[i]] = fields[i];
    }
    RunRecord record;
    record.source = Source::kImported;
    record.experiment = get("table_id").empty()
                            ? std::filesystem::path(path_).stem().string()
                            : get("table_id");
    configure(record.configuration);
    const auto rate = number<double>(kRate);
    RankSamples& samples = record.ranks.emplace_back();
    const Configuration& c = record.configuration;
    const double step_ns = 1e9 * c.batch_size * c.ranks / rate;
    if (!(step_ns >= 1 && step_ns < kLongestStepNs)) {
      refuse(fmt::format("{}: '{}' is no throughput: a step would take {} ns",
                         kRate,
                         shown(get(kRate)),
                         step_ns));
    }
    const auto [cell, is_new] =
        cells_.try_emplace(record.experiment + " " + c.key(), line_);
    if (!is_new) {
      refuse(fmt::format("the cell of line {} again", cell->second));
    }
    samples.step_ns = {std::llround(step_ns)};
    samples.window_ns = samples.step_ns.front();
    describe(record.adapter);
    records_.push_back(std::move(record));
  }

  void configure(Configuration& c) const {
    c.framework = get("framework");
    if (c.framework.empty()) {
      refuse("no framework");
    }
    c.label = c.framework;
    c.model = get("model").empty() ? "-" : get("model");
    c.dtype = get("precision").empty() ? "-" : get("precision");
    c.batch_size = number<int>("batch_size_per_device");
    c.ranks = number<int>("gpus");
    const int nodes = number<int>("nodes", 1);
    if (c.ranks % nodes != 0) {
      refuse(fmt::format("{} devices on {} nodes", c.ranks, nodes));
    }
    c.ranks_per_host.assign(static_cast<std::size_t>(nodes), c.ranks / nodes);
    c.compiled = get("xla") == "yes";
    c.strategy = "external";
    c.engine = c.device = c.optimizer = "";
    c.warmup = 0;
    c.steps = 1;
    c.bucket_mb = c.learning_rate = c.momentum = c.weight_decay = 0;
    // Columns of one framework differ in these alone.
    for (const char* column : {"gradient_clipping", "dali", "batch_mode"}) {
      if (!get(column).empty()) {
        c.env[column] = get(column);
      }
    }
  }

  void describe(std::map<std::string, std::string>& adapter) const {
    const auto keep = [&](const char* column, const char* name) {
      if (!get(column).empty()) {
        adapter[name] = get(column);
      }
    };
    adapter["reported_samples_per_s"] = get(kRate);
    adapter["formula"] = "as published; its window and formula are its own";
    keep("framework_version", "framework_version");
    keep("docker", "docker");
    keep("model_source", "model_source");
    keep("published_speedup", "published_speed_up");
    keep("flags", "flags");
    keep("dali", "dali");
    keep("batch_mode", "batch_mode");
    keep("gradient_clipping", "clipping");
  }

  std::string path_;
  int line_ = 0;
  std::vector<std::string> columns_;
  std::map<std::string, std::string> row_;
  std::map<std::string, int> cells_;  // the line of each
  std::vector<RunRecord> records_;
};

}  // namespace

bool is_rate_table(std::string_view text, const std::string& /*path*/) {
  const std::vector<std::string> columns =
      fields_of(text.substr(0, text.find('\n')));
  return std::ranges::count(columns, kRate) > 0 &&
         std::ranges::count(columns, "framework") > 0 &&
         std::ranges::count(columns, "batch_size_per_device") > 0;
}

std::vector<RunRecord> import_rate_table(std::string_view text,
                                         const std::string& path) {
  return RateTable(text, path).records();
}

}  // namespace paceline::records
