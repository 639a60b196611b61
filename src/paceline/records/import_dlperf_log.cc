// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/records/importers.h"

namespace paceline::records {
namespace {

constexpr int kSkipped = 20;
constexpr int kTimed = 100;

enum class Says : std::uint8_t {
  kStamp,       // the line's time: the step ended then
  kSeconds,     // how long the step took
  kGlobalRate,  // samples/s of all devices
  kStepRate,    // steps/s
  // Of lines that say which step they are of:
  kNumberedStamp,   // some steps have one
  kNumberedSeconds  // each step has one of every rank
};

// What a framework's log has for each step, by DLPerf's own extractors.
struct Format {
  const char* framework;
  const char* marker;  // a line of a step holds it
  Says says;
  const char* number;     // regular expression of the number, or of the stamp
  int first_printed;      // the first step that has a line; of numbered lines
                          // the last before the window
  const char* extractor;  // what the original computes from it
  const char* step = nullptr;  // regular expression of the step's number
};

constexpr const char* kStampNumber =
    R"((\d{4})-(\d{1,2})-(\d{1,2})\s(\d{1,2}):(\d{1,2}):(\d{1,2})[.,](\d{1,6}))";

constexpr const char* kUnixStamp = R"((\d{9,10}\.\d+)\s*$)";

constexpr auto kFormats = std::to_array<Format>({
    {"OneFlow",
     "train: epoch ",
     Says::kNumberedStamp,
     kUnixStamp,
     20,
     "stamps of iterations 20 and 120",
     R"(iter (\d+),)"},
    {"OneFlow",
     "total_loss: ",
     Says::kNumberedStamp,
     kUnixStamp,
     19,
     "stamps of iterations 19 and 119",
     R"(step: (\d+),)"},
    {"NGC TensorFlow 1.x",
     " throughput_train : ",
     Says::kNumberedStamp,
     kStampNumber,
     20,
     "stamps of iterations 20 and 120",
     R"(Iteration: (\d+)\b)"},
    {"PyTorch",
     "Epoch: [0][",
     Says::kNumberedSeconds,
     R"(Time +([0-9.]+) \()",
     19,
     "mean of the printed times of lines 21 to 120 after the sixth step, those "
     "of all ranks of a node in turn",
     R"(Epoch: \[0\]\[ *(\d+)/)"},
    {"NGC PyTorch",
     "  train.loss : ",
     Says::kStamp,
     kStampNumber,
     1,
     "stamps of lines 20 and 120 after the fifth"},
    {"NGC PyTorch",
     "Training Iteration: ",
     Says::kStamp,
     kStampNumber,
     1,
     "stamps of lines 20 and 120"},
    {"NGC TensorFlow 1.x",
     " imgs_per_sec ",
     Says::kGlobalRate,
     R"(imgs_per_sec : ([0-9.]+))",
     21,
     "mean of the printed rates"},
    {"NGC MXNet",
     " Epoch[0] Batch ",
     Says::kGlobalRate,
     R"(Speed: ([0-9.]+) samples/sec)",
     1,
     "mean of the printed rates"},
    {"MXNet",
     "Epoch[0] Batch[",
     Says::kGlobalRate,
     R"(Speed: ([0-9.]+) samples/sec)",
     1,
     "mean of the printed rates"},
    {"PaddlePaddle",
     "elapse ",
     Says::kSeconds,
     R"(elapse ([0-9.]+) sec)",
     1,
     "mean of batch / elapse"},
    {"PaddlePaddle",
     " speed: ",
     Says::kStepRate,
     R"(speed: ([0-9.]+) steps/s)",
     1,
     "mean of the printed rates"},
    {"MXNet",
     "throughput=",
     Says::kSeconds,
     R"(latency=([0-9.]+) ms/batch)",
     1,
     "mean of batch / latency, median over ranks"},
});

// What the path says: .../NnGg/MODEL_bB_PRECISION_REPETITION.log
struct Name {
  int nodes = 1, devices_per_node = 1, batch = 1, repetition = 0;
  std::string model, precision;
};

std::optional<Name> name_of(const std::string& path) {
  static const std::regex case_pattern(R"(^(\d+)n(\d+)g$)");
  static const std::regex file_pattern(
      R"(^(.*?)_b(?:z|sz)?(\d+)_(fp32|fp16|amp)_(\d+)\.log$)");
  const std::filesystem::path file(path);
  const std::string folder = file.parent_path().filename().string();
  const std::string name = file.filename().string();
  std::smatch place;
  std::smatch parts;
  if (!std::regex_match(folder, place, case_pattern) ||
      !std::regex_match(name, parts, file_pattern)) {
    return std::nullopt;
  }
  const std::string model = parts[1].str();
  return Name{.nodes = std::stoi(place[1]),
              .devices_per_node = std::stoi(place[2]),
              .batch = std::stoi(parts[2]),
              .repetition = std::stoi(parts[4]),
              .model = model == "rn50" || model == "r50" ? "ResNet-50-v1.5"
                       : model.starts_with("bert")       ? "BERT-Base"
                                                         : model,
              .precision = parts[3] == "fp32" ? "fp32" : "amp"};
}

// Seconds of a day and date in a stamp, on a common scale.
double seconds_of(const std::smatch& stamp) {
  using std::chrono::seconds;
  using std::chrono::sys_days;
  const auto part = [&stamp](std::size_t i) { return std::stoi(stamp[i]); };
  const sys_days day = std::chrono::year(part(1)) / part(2) / part(3);
  const double fraction =
      part(7) / std::pow(10.0, static_cast<double>(stamp[7].length()));
  return static_cast<double>(
             std::chrono::duration_cast<seconds>(day.time_since_epoch())
                 .count()) +
         3600.0 * part(4) + 60.0 * part(5) + part(6) + fraction;
}

struct Steps {
  const Format* format = nullptr;
  std::vector<double> values;        // stamps, seconds or rates, a line each
  std::map<int, double> numbered{};  // stamps or seconds by the step's number
  std::vector<int> unread{};         // lines of steps that lack one of these
};

// Whether the line of a step says what it should.
bool read_step(const std::string& line,
               const std::regex& number,
               const std::regex& numbered,
               Steps& steps) {
  std::smatch match, step;
  if (!std::regex_search(line, match, number)) {
    return false;
  }
  const double value = steps.format->number == kStampNumber
                           ? seconds_of(match)
                           : std::stod(match[1]);
  if (steps.format->step == nullptr) {
    steps.values.push_back(value);
    return true;
  }
  if (!std::regex_search(line, step, numbered)) {
    return false;
  }
  // Of a rank's own times the slowest counts.
  double& kept = steps.numbered[std::stoi(step[1])];
  kept = std::max(kept, value);
  return true;
}

Steps steps_of(std::string_view text) {
  const std::vector<std::string> lines = split_lines(text);
  for (const Format& format : kFormats) {
    Steps steps{.format = &format, .values = {}};
    const std::regex number(format.number);
    const std::regex numbered(format.step == nullptr ? "" : format.step);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find(format.marker) != std::string::npos &&
          !read_step(lines[i], number, numbered, steps)) {
        steps.unread.push_back(static_cast<int>(i) + 1);
      }
    }
    if (!steps.values.empty() || !steps.numbered.empty()) {
      return steps;
    }
  }
  return {};
}

double duration_of(const Steps& steps, std::size_t i, int global_batch) {
  const double value = steps.values[i];
  switch (steps.format->says) {
    case Says::kStamp:
      return value - steps.values[i - 1];
    case Says::kSeconds:
      return std::string_view(steps.format->marker) == "throughput="
                 ? value * 1e-3
                 : value;
    case Says::kGlobalRate:
      return global_batch / value;
    case Says::kStepRate:
      return 1 / value;
    case Says::kNumberedStamp:
    case Says::kNumberedSeconds:
      break;  // seconds_of_numbered
  }
  return 0;
}

[[noreturn]] void refuse_length(const std::string& path, std::size_t steps) {
  throw UsageError(fmt::format("{}: {} steps, but the window is {} after {}",
                               path,
                               steps,
                               kTimed,
                               kSkipped));
}

// A stamp is the end of its step; the steps between two stamps are taken to be
// equally long.
std::vector<double> seconds_of_numbered(const Steps& steps,
                                        const std::string& path) {
  const bool stamps = steps.format->says == Says::kNumberedStamp;
  const int begin = steps.format->first_printed;
  const int end = begin + kTimed;
  if (!steps.numbered.contains(end) ||
      (stamps && !steps.numbered.contains(begin))) {
    refuse_length(path,
                  static_cast<std::size_t>(steps.numbered.rbegin()->first));
  }
  std::vector<double> seconds;
  auto before = steps.numbered.lower_bound(begin);
  for (auto it = steps.numbered.upper_bound(begin);
       it != steps.numbered.end() && it->first <= end;
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

// The durations of the window's steps.
std::vector<double> window_of(const Steps& steps,
                              int global_batch,
                              const std::string& path) {
  if (steps.format->step != nullptr) {
    return seconds_of_numbered(steps, path);
  }
  // A stamp ends its step; the window's first step begins at the stamp before.
  const int unprinted = steps.format->first_printed - 1;
  const auto first = static_cast<std::size_t>(kSkipped - unprinted);
  if (steps.values.size() < first + kTimed) {
    refuse_length(path,
                  steps.values.size() + static_cast<std::size_t>(unprinted));
  }
  std::vector<double> seconds;
  for (std::size_t i = first; i < first + kTimed; ++i) {
    seconds.push_back(i == 0 ? 0 : duration_of(steps, i, global_batch));
  }
  return seconds;
}

}  // namespace

bool is_dlperf_log(std::string_view text, const std::string& path) {
  return name_of(path) && steps_of(text).format != nullptr;
}

std::vector<RunRecord> import_dlperf_log(std::string_view text,
                                         const std::string& path) {
  const auto name = name_of(path);
  const Steps steps = steps_of(text);
  if (!name || steps.format == nullptr) {
    throw UsageError(fmt::format(
        "{}: no log of DLPerf, which is named 1n8g/rn50_b128_fp32_1.log and "
        "has a line for each step",
        path));
  }
  const int ranks = name->nodes * name->devices_per_node;
  const std::vector<double> window =
      window_of(steps, name->batch * ranks, path);
  RunRecord record;
  record.source = Source::kImported;
  record.experiment = "dlperf";
  record.run = std::max(0, name->repetition - 1);
  Configuration& c = record.configuration;
  c.framework = c.label = steps.format->framework;
  c.model = name->model;
  c.dtype = name->precision;
  c.batch_size = name->batch;
  c.ranks = ranks;
  c.ranks_per_host.assign(static_cast<std::size_t>(name->nodes),
                          name->devices_per_node);
  c.strategy = "external";
  c.engine = c.device = c.optimizer = "";
  c.warmup = kSkipped;
  c.steps = kTimed;
  c.bucket_mb = c.learning_rate = c.momentum = c.weight_decay = 0;
  RankSamples& samples = record.ranks.emplace_back();
  for (const double seconds : window) {
    if (!(seconds > 0)) {
      throw UsageError(fmt::format("{}: step {} of the window took {} s",
                                   path,
                                   samples.step_ns.size() + 1,
                                   seconds));
    }
    samples.step_ns.push_back(std::llround(seconds * 1e9));
    samples.window_ns += samples.step_ns.back();
  }
  record.adapter["formula"] = fmt::format(
      "{} steps after {}, samples over the sum of their times; DLPerf's own "
      "extractor takes the {}",
      kTimed,
      kSkipped,
      steps.format->extractor);
  if (!steps.unread.empty()) {
    record.warnings.push_back(
        {.code = "unreadable-lines",
         .seen = fmt::format("{} of a step cannot be read, the first is line "
                             "{}",
                             counted(std::ssize(steps.unread), "line"),
                             steps.unread.front()),
         .why = "their steps are not counted, so that the window may begin "
                "later",
         .advice = "compare with an undamaged log"});
  }
  return {record};
}

}  // namespace paceline::records
