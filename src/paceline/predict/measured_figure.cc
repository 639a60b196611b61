// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/measured_figure.h"

#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cluster/cluster_units.h"
#include "paceline/predict/predict_request.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

[[noreturn]] void reject_figure(const std::string& words, const std::string& why) {
  throw UsageError(fmt::format("--measured '{}': {}", words, why));
}

int whole_number_of(const std::string& words, std::string_view key, const std::string& text) {
  const auto number = number_from<int>(text);
  if (!number || *number < 1) {
    reject_figure(words, fmt::format("{}={}: must be a whole number of at least 1", key, text));
  }
  return *number;
}

double rate_of(const std::string& words, const std::string& text) {
  const auto number = number_from<double>(text);
  if (!number || !is_device_rate(*number)) {
    reject_figure(words, fmt::format("rate={}: must be samples/s of all ranks, from {} to {:.0f}",
                                     text, kLeastDeviceRate, kMostDeviceRate));
  }
  return *number;
}

double parse_step_seconds(const std::string& words, const std::string& text) {
  const double seconds = plan::seconds_of(
      cluster::parse_duration_ps(fmt::format("--measured '{}': step", words), text));
  if (seconds <= 0) {
    reject_figure(words, fmt::format("step={}: must be above 0", text));
  }
  return seconds;
}

void put_word(const std::string& words, const std::string& key, const std::string& value,
              ParsedFigure& into) {
  MeasuredFigure& figure = into.figure;
  if (value.empty()) {
    reject_figure(words, fmt::format("{}= has no value", key));
  }
  if (key == "ranks") {
    figure.ranks = whole_number_of(words, key, value);
    into.has_rank_count = true;
  } else if (key == "batch") {
    figure.batch_size = whole_number_of(words, key, value);
  } else if (key == "accumulate") {
    figure.accumulate = whole_number_of(words, key, value);
  } else if (key == "rate") {
    figure.samples_per_s = rate_of(words, value);
  } else if (key == "step") {
    figure.step_s = parse_step_seconds(words, value);
  } else if (key == "strategy") {
    (void)strategies::parse_strategy(value);
    figure.strategy = value;
  } else if (key == "file") {
    into.file = value;
  } else {
    const std::vector<std::string> known{"ranks", "batch",    "accumulate", "rate",
                                         "step",  "strategy", "file"};
    reject_figure(words, unknown_name_message("key", key, known));
  }
}

void check_complete(const std::string& words, const ParsedFigure& given) {
  const MeasuredFigure& figure = given.figure;
  const bool timed = figure.step_s || figure.samples_per_s;
  if (!timed && given.file.empty()) {
    reject_figure(words, "determines nothing: give rate=, the samples/s of all ranks, or step=");
  }
  if (timed && !given.file.empty()) {
    reject_figure(words, "file= says the time; leave out rate= and step=");
  }
  if (timed && !given.has_rank_count) {
    reject_figure(words, "says no number of ranks: give ranks=");
  }
}

}  // namespace

ParsedFigure parse_figure(const std::string& words) {
  ParsedFigure given;
  given.figure.words = words;
  std::set<std::string> seen;
  for (const std::string& word : split_at(words, ' ')) {
    if (word.empty()) {
      continue;
    }
    const auto sign = word.find('=');
    if (sign == std::string::npos) {
      reject_figure(words, fmt::format("'{}' is not KEY=VALUE", word));
    }
    const std::string key = word.substr(0, sign);
    if (!seen.insert(key).second) {
      reject_figure(words, fmt::format("{} is given twice", key));
    }
    put_word(words, key, word.substr(sign + 1), given);
  }
  check_complete(words, given);
  return given;
}

}  // namespace paceline::predict
