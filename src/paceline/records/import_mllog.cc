// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/records/importers.h"

namespace paceline::records {
namespace {

using Event = nlohmann::json;

constexpr std::string_view kPrefix = ":::MLLOG ";
constexpr double kMostDevices = 1e6;

class Log {
 public:
  Log(std::string_view text, std::string path) : path_(std::move(path)) {
    for (const std::string& text_line : split_lines(text)) {
      ++line_;
      const std::string_view line = text_line;
      const std::size_t at = line.find(kPrefix);  // after a rank's number
      if (at != std::string_view::npos) {
        take(line.substr(at + kPrefix.size()));
      }
    }
  }

  RunRecord record() {
    const bool tracked = !tracked_.empty();
    const std::vector<double>& rates = tracked ? tracked_ : alone_;
    if (rates.empty()) {
      throw UsageError(
          fmt::format("{}: no tracked_stats line has a throughput, and none is "
                      "a line of its own, so there is no rate to import",
                      path_));
    }
    set_devices_and_batch();
    Configuration& c = record_.configuration;
    c.steps = static_cast<int>(rates.size());
    RankSamples& samples = record_.ranks.emplace_back();
    for (const double rate : rates) {
      samples.step_ns.push_back(std::max<std::int64_t>(
          1, std::llround(1e9 * c.batch_size * c.ranks / rate)));
      samples.window_ns += samples.step_ns.back();
    }
    record_.adapter["formula"] = fmt::format(
        "each step stands for one {} line: a global batch at the "
        "throughput that it names",
        tracked ? "tracked_stats" : "throughput");
    return record_;
  }

 private:
  void take(std::string_view json) {
    Event event;
    try {
      event = Event::parse(json);
    } catch (const Event::exception& error) {
      throw UsageError(
          fmt::format("{}:{}: {}", path_, line_, not_json(json, error.what())));
    }
    const std::string key = event.value("key", "");
    const Event value = event.value("value", Event());
    if (key == "global_batch_size" &&
        !(value.is_number() && value.get<double>() >= 1 &&
          value.get<double>() <= std::numeric_limits<int>::max())) {
      throw UsageError(
          fmt::format("{}:{}: the global_batch_size {} is no positive number",
                      path_,
                      line_,
                      shown(value.dump())));
    }
    if (key == "tracked_stats") {
      if (value.is_object() && value.contains("throughput")) {
        tracked_.push_back(rate_of(value["throughput"]));
      }
    } else if (key == "throughput") {
      alone_.push_back(rate_of(value));
    } else if (!value.is_null() && !value.is_structured() && kept(key, event)) {
      record_.adapter[key] =
          value.is_string() ? value.get<std::string>() : value.dump();
    }
    if (key == "run_stop" && event.contains("metadata")) {
      record_.adapter["run_status"] = event["metadata"].value("status", "");
    }
  }

  // The accelerators of all nodes, and the batch of each.
  void set_devices_and_batch() {
    Configuration& c = record_.configuration;
    c.batch_size = std::max(1, static_cast<int>(number("global_batch_size")));
    const double nodes = number("number_of_nodes");
    const double each = number("accelerators_per_node");
    if (!(nodes >= 1 && each >= 1 && nodes * each <= kMostDevices)) {
      record_.warnings.push_back(
          {.code = "devices-unknown",
           .seen = "the log does not say how many devices there were",
           .why = "the rate is that of all of them, and the batch the global "
                  "one; '1 device' and 'per rank' stand for the whole platform",
           .advice = "compare it with rates of the same platform alone"});
      return;
    }
    c.ranks_per_host.assign(static_cast<std::size_t>(nodes),
                            static_cast<int>(each));
    c.ranks = static_cast<int>(nodes) * static_cast<int>(each);
    if (c.batch_size % c.ranks != 0) {
      record_.warnings.push_back(
          {.code = "batch-unknown",
           .seen = fmt::format("no global batch of a multiple of {} devices",
                               c.ranks),
           .why = "the batch of a device is rounded down, but to 1 at least; "
                  "the rate is the log's",
           .advice = "take the rate alone"});
    }
    c.batch_size = std::max(1, c.batch_size / c.ranks);
  }

  double rate_of(const Event& rate) const {
    if (!rate.is_number() || !(rate.get<double>() > 0)) {
      throw UsageError(
          fmt::format("{}:{}: the throughput {} is no positive number",
                      path_,
                      line_,
                      shown(rate.dump())));
    }
    return rate.get<double>();
  }

  static bool kept(const std::string& key, const Event& event) {
    return event.value("event_type", "") == "POINT_IN_TIME" &&
           key != "weights_initialization";
  }

  double number(const char* key) const {
    return std::strtod(fact_of(record_.adapter, key).c_str(), nullptr);
  }

  std::string path_;
  int line_ = 0;
  RunRecord record_;
  std::vector<double> tracked_;  // of tracked_stats
  std::vector<double> alone_;    // of lines of their own
};

}  // namespace

bool is_mllog(std::string_view text, const std::string& /*path*/) {
  return text.find(kPrefix) != std::string_view::npos;
}

std::vector<RunRecord> import_mllog(std::string_view text,
                                    const std::string& path) {
  RunRecord record = Log(text, path).record();
  record.source = Source::kImported;
  record.experiment = "mlperf";
  Configuration& c = record.configuration;
  const auto fact = [&record](const char* key) {
    return fact_of(record.adapter, key);
  };
  c.model = fact("submission_benchmark").empty()
                ? std::filesystem::path(path).stem().string()
                : fact("submission_benchmark");
  c.label = fact("submission_platform").empty() ? "mlperf"
                                                : fact("submission_platform");
  c.framework = c.label;
  c.strategy = "external";
  c.engine = c.device = c.optimizer = "";
  c.dtype = "-";
  c.warmup = 0;
  c.bucket_mb = c.learning_rate = c.momentum = c.weight_decay = 0;
  if (fact("run_status") != "success") {
    record.warnings.push_back(
        {.code = "run-not-successful",
         .seen = fact("run_status").empty()
                     ? "the log has no status of run_stop"
                     : fmt::format("run_stop has the status '{}'",
                                   shown(fact("run_status"))),
         .why = "the training did not reach its target",
         .advice = "take the rate as that of an unfinished training"});
  }
  return {record};
}

}  // namespace paceline::records
