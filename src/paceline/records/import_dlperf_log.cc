// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/records/dlperf_formats.h"
#include "paceline/records/importers.h"

namespace paceline::records {
namespace {

using dlperf::Format;
using dlperf::kFormats;
using dlperf::Measure;

constexpr int kSkipped = 20;
constexpr int kTimed = 100;
constexpr int kMostCounted = 1 << 15;  // of nodes, devices of a node, batch

// What the path says: .../NnGg/MODEL_bB_PRECISION_REPETITION.log
struct Name {
  int nodes = 1, devices_per_node = 1, batch = 1, repetition = 0;
  std::string model, precision;
};

std::optional<Name> name_of(const std::string& path) {
  static const std::regex case_pattern(R"(^(\d+)n(\d+)g$)");
  static const std::regex file_pattern(
      R"(^(.*?)_b(?:z|sz)?(\d+)_(fp32|fp16|amp)_(\d{1,9})\.log$)");
  const std::filesystem::path file(path);
  const std::string folder = file.parent_path().filename().string();
  const std::string name = file.filename().string();
  std::smatch place;
  std::smatch parts;
  if (!std::regex_match(folder, place, case_pattern) ||
      !std::regex_match(name, parts, file_pattern)) {
    return std::nullopt;
  }
  const auto number = [&path](const std::string& digits) {
    const int value = digits.size() > 9 ? 0 : std::stoi(digits);
    if (value < 1 || value > kMostCounted) {
      throw UsageError(fmt::format("{}: {} in its name is not from 1 to {}",
                                   path,
                                   digits,
                                   kMostCounted));
    }
    return value;
  };
  const std::string model = parts[1].str();
  return Name{.nodes = number(place[1]),
              .devices_per_node = number(place[2]),
              .batch = number(parts[2]),
              .repetition = std::stoi(parts[4]),
              .model = model == "rn50" || model == "r50" ? "ResNet-50-v1.5"
                       : model.starts_with("bert")       ? "BERT-Base"
                                                         : model,
              .precision = parts[3] == "fp32" ? "fp32" : "amp"};
}

// Seconds of a day and date in a stamp, on a common scale.  The year may be
// left out.
double seconds_of(const std::smatch& stamp) {
  using std::chrono::sys_days;
  const std::size_t month = stamp.size() - dlperf::kGroupsFromMonth;
  const auto part = [&](std::size_t i) { return std::stoi(stamp[month + i]); };
  const sys_days day =
      std::chrono::year(month > 1 ? std::stoi(stamp[1]) : dlperf::kLeapYear) /
      part(0) / part(1);
  const double fraction =
      part(5) / std::pow(10.0, static_cast<double>(stamp[month + 5].length()));
  return 86400.0 * static_cast<double>(day.time_since_epoch().count()) +
         3600.0 * part(2) + 60.0 * part(3) + part(4) + fraction;
}

// A line of MindSpore's times gets the last line before it that has a step.
std::vector<std::string> lines_with_steps(std::string_view text) {
  std::vector<std::string> lines = split_lines(text);
  std::string named;
  for (std::string& line : lines) {
    if (line.find(dlperf::kEpochMarker) != std::string::npos) {
      line += ' ' + named;
    } else if (line.find("epoch: ") != std::string::npos &&
               line.find("step: ") != std::string::npos) {
      named = line;
    }
  }
  return lines;
}

// Numbers of steps are those of the lines, or counted.
struct Steps {
  const Format* format = nullptr;
  std::map<int, double> by_step{};  // stamps, or seconds
  std::vector<int> unread{};        // lines of steps that say less
  bool counted = false;
};

// The number in a line of a step as a stamp, or as the step's seconds.
double seconds_in(const std::smatch& number,
                  const Format& format,
                  const Name& name) {
  if (format.measure == Measure::kStamp && number.size() > 2) {
    return seconds_of(number);
  }
  if (format.measure == Measure::kEpochs) {
    return std::stod(number[2]) * 1e-3;
  }
  const double value = std::stod(number[1]);
  switch (format.measure) {
    case Measure::kMilliseconds:
      return value * 1e-3;
    case Measure::kGlobalRate:
      return 1.0 * name.batch * name.nodes * name.devices_per_node / value;
    case Measure::kStepRate:
      return name.nodes / value;
    default:
      return value;
  }
}

// The step's number in a line, where it has one.
std::optional<int> step_in(const std::string& line,
                           const std::regex& numbered,
                           const Format& format,
                           const Name& name) {
  std::smatch step;
  if (*format.step == '\0' || !std::regex_search(line, step, numbered)) {
    return std::nullopt;
  }
  int number = 1;
  for (std::size_t i = 1; i < step.size(); ++i) {
    number *= step[i].matched ? std::stoi(step[i]) : 1;
  }
  return format.measure == Measure::kStepRate ? number / name.nodes : number;
}

// The steps that a line is of, which ends with the last of them.
int steps_of_line(const std::smatch& number, const Format& format) {
  if (format.measure != Measure::kEpochs) {
    return 1;
  }
  const double steps = std::stod(number[1]) / std::stod(number[2]);
  return steps >= 1 && steps <= kMostCounted
             ? static_cast<int>(std::lround(steps))
             : 1;
}

Steps steps_in(const std::vector<std::string>& lines,
               const Format& format,
               const Name& name) {
  const std::regex number(format.number);
  const std::regex numbered(format.step);
  struct Line {
    std::size_t at;
    std::optional<int> step;
  };
  std::vector<Line> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(format.marker) != std::string::npos) {
      found.push_back({i, step_in(lines[i], numbered, format, name)});
    }
  }
  Steps steps{.format = &format};
  steps.counted = format.measure != Measure::kEpochs &&
                  std::ranges::none_of(found, [](const Line& line) {
                    return line.step.has_value();
                  });
  int counted = format.first_counted;
  for (const Line& line : found) {
    const auto step = steps.counted ? std::optional(counted++) : line.step;
    std::smatch match;
    if (!step || !std::regex_search(lines[line.at], match, number)) {
      steps.unread.push_back(static_cast<int>(line.at) + 1);
      continue;
    }
    // Where each rank has a time of its own, the slowest counts.
    const double value = seconds_in(match, format, name);
    for (int i = *step - steps_of_line(match, format); i < *step; ++i) {
      double& kept = steps.by_step.try_emplace(i + 1, value).first->second;
      kept = std::max(kept, value);
    }
  }
  return steps;
}

Steps steps_of(std::string_view text, const Name& name) {
  const std::vector<std::string> lines = lines_with_steps(text);
  for (const Format& format : kFormats) {
    Steps steps = steps_in(lines, format, name);
    if (!steps.by_step.empty()) {
      return steps;
    }
  }
  return {};
}

// A log that has a line for each 100 steps has no line after 20.
int skipped_in(const Steps& steps) {
  return std::max(kSkipped, steps.format->last_skipped);
}

// The durations of the window's steps.  A stamp is the end of its step; the
// steps between two stamps are taken to be equally long.
std::vector<double> window_of(const Steps& steps, const std::string& path) {
  const bool stamps = steps.format->measure == Measure::kStamp;
  const int last_skipped = steps.format->last_skipped;
  const int begin = steps.counted                         ? kSkipped
                    : last_skipped != dlperf::kAsNumbered ? last_skipped
                    : steps.by_step.contains(0)           ? kSkipped - 1
                                                          : kSkipped;
  const int end = begin + kTimed;
  if (steps.by_step.rbegin()->first < end) {
    throw UsageError(
        fmt::format("{}: {} steps, but the window is {} after {}",
                    path,
                    steps.by_step.rbegin()->first + skipped_in(steps) - begin,
                    kTimed,
                    skipped_in(steps)));
  }
  for (const int border : {begin, end}) {
    if (stamps && !steps.by_step.contains(border)) {
      throw UsageError(
          fmt::format("{}: no line says when step {} ended, which is a border "
                      "of the window",
                      path,
                      border));
    }
  }
  std::vector<double> seconds;
  auto before = steps.by_step.lower_bound(begin);
  for (auto it = steps.by_step.upper_bound(begin);
       it != steps.by_step.end() && it->first <= end;
       ++it) {
    const int count = stamps ? it->first - before->first : 1;
    seconds.insert(seconds.end(),
                   static_cast<std::size_t>(count),
                   stamps ? (it->second - before->second) / count : it->second);
    before = it;
  }
  if (std::ssize(seconds) != kTimed) {
    throw UsageError(
        fmt::format("{}: {} of the {} steps after step {} have a line",
                    path,
                    seconds.size(),
                    kTimed,
                    begin));
  }
  return seconds;
}

}  // namespace

bool is_dlperf_log(std::string_view text, const std::string& path) {
  const auto name = name_of(path);
  return name && steps_of(text, *name).format != nullptr;
}

std::vector<RunRecord> import_dlperf_log(std::string_view text,
                                         const std::string& path) {
  const auto name = name_of(path);
  const Steps steps = name ? steps_of(text, *name) : Steps{};
  if (steps.format == nullptr) {
    throw UsageError(fmt::format(
        "{}: no log of DLPerf, which is named 1n8g/rn50_b128_fp32_1.log and "
        "has a line for each step",
        path));
  }
  const std::vector<double> window = window_of(steps, path);
  RunRecord record;
  record.source = Source::kImported;
  record.experiment = "dlperf";
  record.run = std::max(0, name->repetition - 1);
  Configuration& c = record.configuration;
  c.framework = c.label = steps.format->framework;
  c.model = name->model;
  c.dtype = name->precision;
  c.batch_size = name->batch;
  c.ranks = name->nodes * name->devices_per_node;
  c.ranks_per_host.assign(static_cast<std::size_t>(name->nodes),
                          name->devices_per_node);
  c.strategy = "external";
  c.engine = c.device = c.optimizer = "";
  c.warmup = skipped_in(steps);
  c.steps = kTimed;
  c.bucket_mb = c.learning_rate = c.momentum = c.weight_decay = 0;
  RankSamples& samples = record.ranks.emplace_back();
  for (const double seconds : window) {
    if (!(seconds > 0) || !std::isfinite(seconds)) {
      throw UsageError(fmt::format("{}: step {} of the window took {} s",
                                   path,
                                   samples.step_ns.size() + 1,
                                   seconds));
    }
    samples.step_ns.push_back(std::llround(seconds * 1e9));
    samples.window_ns += samples.step_ns.back();
  }
  record.adapter["formula"] = fmt::format(
      "{} steps after {}{}, samples over the sum of their times; DLPerf's own "
      "extractor takes the {}",
      kTimed,
      skipped_in(steps),
      steps.counted ? ", a line each, which says no number of its step" : "",
      steps.format->extractor);
  if (!steps.unread.empty()) {
    record.warnings.push_back(
        {.code = "unreadable-lines",
         .seen = fmt::format("{} of a step cannot be read, the first is line "
                             "{}",
                             counted(std::ssize(steps.unread), "line"),
                             steps.unread.front()),
         .why = steps.format->measure == Measure::kStamp
                    ? "the steps between the stamps around them are taken to "
                      "be equally long"
                    : "they are of no step of the window",
         .advice = "compare with an undamaged log"});
  }
  return {record};
}

}  // namespace paceline::records
