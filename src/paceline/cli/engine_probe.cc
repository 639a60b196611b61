// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/engine_probe.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "paceline/base/file.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/stats/quantile.h"

namespace paceline::cli {
namespace {

constexpr int kIterations = 10;
// Above it an engine's time grows with the bytes.
constexpr std::int64_t kMostBytes = std::int64_t{16} << 20;
constexpr double kSizes = 4;  // from the least to the most

std::vector<predict::EngineTime> times_of(
    const std::string& records, const std::vector<plan::Pattern>& of) {
  std::vector<predict::EngineTime> times;
  for (const std::string& line : split_lines(read_text(records))) {
    const auto json = nlohmann::json::parse(line);
    const std::string operation = json.at("operation");
    const auto pattern = std::ranges::find(of, operation, plan::name_of);
    const std::vector<double> ns = json.at("iteration_ns");
    times.push_back({.pattern = *pattern,
                     .bytes = json.at("bytes").get<std::int64_t>(),
                     .time = plan::picoseconds_of(stats::median(ns) * 1e-9)});
  }
  return times;
}

}  // namespace

EngineQuestion question_of(const std::vector<const simulator::Job*>& jobs) {
  EngineQuestion question;
  question.least_bytes = kMostBytes;
  for (const simulator::Job* job : jobs) {
    question.ranks = job->input.world;
    for (const cluster::CollectiveCall& call : job->collective_shapes) {
      if (call.group.ranks < 2) {
        continue;
      }
      question.least_bytes = std::min(question.least_bytes, call.bytes);
      question.most_bytes = std::max(question.most_bytes, call.bytes);
      if (std::ranges::find(question.patterns, call.pattern) ==
          question.patterns.end()) {
        question.patterns.push_back(call.pattern);
      }
    }
  }
  question.most_bytes = std::min(question.most_bytes, kMostBytes);
  question.least_bytes =
      std::clamp<std::int64_t>(question.least_bytes, 4, question.most_bytes);
  return question;
}

EngineAnswer probe_engine(const EngineQuestion& question,
                          const std::string& records,
                          OwnRuns& runs,
                          std::chrono::milliseconds deadline) {
  EngineAnswer answer;
  if (question.patterns.empty()) {
    return answer;
  }
  std::vector<std::string_view> names;
  for (const plan::Pattern pattern : question.patterns) {
    names.push_back(plan::name_of(pattern));
  }
  const double span = static_cast<double>(question.most_bytes) /
                      static_cast<double>(question.least_bytes);
  // A hair below the root, so that rounding does not leave the largest out.
  const double factor =
      std::max(1.01, std::pow(span, 1 / (kSizes - 1)) * (1 - 1e-9));
  answer.ending = runs.run({"comm",
                            "--ranks",
                            std::to_string(question.ranks),
                            "--device",
                            "cpu",
                            "--engine",
                            "gloo",
                            "--only",
                            fmt::format("{}", fmt::join(names, ",")),
                            "--min",
                            fmt::format("{}B", question.least_bytes),
                            "--max",
                            fmt::format("{}B", question.most_bytes),
                            "--factor",
                            fmt::format("{}", factor),
                            "--iterations",
                            std::to_string(kIterations),
                            "--records",
                            records},
                           deadline);
  if (answer.ending.timed_out) {
    answer.failure = "it had not ended in time";
  } else if (answer.ending.exit_code != 0) {
    answer.failure = runs.last_words();
  } else if (answer.ending.stop_signal == 0) {
    answer.times = times_of(records, question.patterns);
  }
  return answer;
}

}  // namespace paceline::cli
