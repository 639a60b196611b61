// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/records/importers.h"

namespace paceline::records {
namespace {

constexpr int kSkipped = 20;
constexpr int kTimed = 100;

enum class Says : std::uint8_t {
  kStamp,       // the line's time: the step ended then
  kSeconds,     // how long the step took
  kGlobalRate,  // samples/s of all devices
  kStepRate     // steps/s
};

// What a framework's log has for each step, by DLPerf's own extractors.
struct Format {
  const char* framework;
  const char* marker;  // a line of a step holds it
  Says says;
  const char* number;     // regular expression of the number, or of the stamp
  int first_printed;      // the first step that has a line
  const char* extractor;  // what the original computes from it
};

constexpr const char* kStampNumber =
    R"((\d{4})-(\d{1,2})-(\d{1,2})\s(\d{1,2}):(\d{1,2}):(\d{1,2})[.,](\d{1,6}))";

constexpr auto kFormats = std::to_array<Format>({
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
  std::vector<double> values;  // stamps, seconds or rates, a line each
};

Steps steps_of(std::string_view text) {
  for (const Format& format : kFormats) {
    Steps steps{.format = &format, .values = {}};
    const std::regex number(format.number);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line(text.substr(begin, end - begin));
      begin = end + 1;
      std::smatch match;
      if (line.find(format.marker) != std::string::npos &&
          std::regex_search(line, match, number)) {
        steps.values.push_back(format.says == Says::kStamp
                                   ? seconds_of(match)
                                   : std::stod(match[1]));
      }
    }
    if (!steps.values.empty()) {
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
  }
  return 0;
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
  // A stamp ends its step; the window's first step begins at the stamp before.
  const std::size_t first = static_cast<std::size_t>(
      std::max(0, kSkipped - (steps.format->first_printed - 1)));
  if (steps.values.size() < first + kTimed) {
    throw UsageError(fmt::format(
        "{}: {} steps, but the window is {} after {}",
        path,
        steps.values.size() +
            static_cast<std::size_t>(steps.format->first_printed - 1),
        kTimed,
        kSkipped));
  }
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
  for (std::size_t i = first; i < first + kTimed; ++i) {
    const double seconds =
        i == 0 ? 0 : duration_of(steps, i, name->batch * ranks);
    if (!(seconds > 0)) {
      throw UsageError(
          fmt::format("{}: step {} took {} s", path, i + 1, seconds));
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
  return {record};
}

}  // namespace paceline::records
