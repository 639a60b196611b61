// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/step_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/measure/external.h"

namespace paceline::measure {
namespace {

using nlohmann::json;

constexpr double kLongestStepS = 1e9;
constexpr double kLeastWindow = 0.99;  // of the sum of its steps
constexpr const char* kNextEvent = "}{\"event\"";

// JSON has no NaN, which Python's json writes all the same; null stands for it.
std::string without_nan(const std::string& line) {
  static const std::regex not_finite(R"(([:\[,]\s*)-?(?:NaN|Infinity)\b)");
  return line.find("NaN") == std::string::npos &&
                 line.find("Infinity") == std::string::npos
             ? line
             : std::regex_replace(line, not_finite, "$1null");
}

std::int64_t ns_from(double seconds, const std::string& line) {
  if (!(seconds > 0 && seconds < kLongestStepS)) {
    throw OutsideFailure(
        "bad-output",
        fmt::format("a step of {} s, which is no duration: '{}'",
                    seconds,
                    shown(line)));
  }
  return std::max<std::int64_t>(1, std::llround(seconds * 1e9));
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Length of the window: as the program says, or the sum of its steps.  Time
// between the steps may make the window longer than their sum.
std::int64_t window_of(const std::vector<std::int64_t>& step_ns,
                       std::optional<std::int64_t> said) {
  std::int64_t sum = 0;
  for (const std::int64_t ns : step_ns) {
    sum += ns;
  }
  if (said && (*said <= 0 || static_cast<double>(*said) <
                                 kLeastWindow * static_cast<double>(sum))) {
    throw OutsideFailure("bad-output",
                         fmt::format("a window_ns of {}, but its {} took {} ns",
                                     *said,
                                     counted(std::ssize(step_ns), "step"),
                                     sum));
  }
  return said.value_or(sum);
}

// Words such as "loss nan", "loss: -inf".
bool says_not_finite(const std::string& line) {
  static const std::regex word(
      R"((^|[^A-Za-z0-9_])[-+]?(nan|inf)([^A-Za-z0-9_]|$))", std::regex::icase);
  return std::regex_search(line, word);
}

}  // namespace

StepReader::StepReader(const records::Configuration& configuration, int rank)
    : configuration_(configuration), rank_(rank) {
  if (!configuration.step_regex.empty()) {
    regex_.emplace(configuration.step_regex);
  }
}

void StepReader::take(const std::string& line, std::int64_t now_ns) {
  if (regex_) {
    take_match(line, now_ns);
    return;
  }
  if (!trimmed(line).starts_with('{') ||
      line.find("\"event\"") == std::string::npos) {
    return;
  }
  // Where several ranks write at once, a line end may come late.
  const std::size_t next = line.find(kNextEvent);
  if (next != std::string::npos) {
    take(line.substr(0, next + 1), now_ns);
    take(line.substr(next + 1), now_ns);
    return;
  }
  try {
    take_event(json::parse(without_nan(line)));
  } catch (const json::exception& error) {
    throw OutsideFailure(
        "bad-output",
        fmt::format(
            "wrote '{}', which is no event ({})", shown(line), error.what()));
  }
}

void StepReader::take_event(const json& event) {
  const std::string kind = event.at("event");
  check_loss(event);
  if (kind == "environment") {
    introduced_ = true;
    for (const auto& [key, value] : event.items()) {
      if (key != "event" && key != "case" && key != "rank" && key != "world" &&
          !value.is_null()) {
        adapter_[key] = text_of(value);
      }
    }
    if (event.contains("case")) {
      adapter_["case"] = event.at("case").dump();
    }
  } else if (kind == "alive") {
    done_ = event.at("step");
  } else if (kind == "step") {
    take_step(event);
  } else if (kind == "end") {
    take_end(event);
  } else if (kind == "error") {
    const std::string message = event.at("message");
    throw OutsideFailure(
        event.value("status",
                    says_out_of_memory(message) ? "out-of-memory" : "exit"),
        message);
  }
}

void StepReader::take_step(const json& event) {
  Series& series = series_of(event);
  const std::int64_t ns =
      event.contains("step_ns")
          ? event.at("step_ns").get<std::int64_t>()
          : ns_from(event.at("step_s").get<double>(), event.dump());
  ns_from(static_cast<double>(ns) * 1e-9, event.dump());
  series.step_ns.push_back(ns);
  if (!event.contains("index")) {
    series.warmup = static_cast<std::size_t>(configuration_.warmup);
  }
  const json phases = event.value("phases_ns", json::object());
  for (const auto& [phase, duration] : phases.items()) {
    series.phase_ns[phase].push_back(duration);
  }
  done_ = std::max(done_, static_cast<int>(series.step_ns.size()));
}

void StepReader::take_end(const json& event) {
  ended_ = true;
  Series& series = series_of(event);
  if (const json peak = event.value("peak_memory_bytes", json());
      !peak.is_null()) {
    series.peak_memory_bytes = peak;
  }
  if (event.contains("window_ns")) {
    series.window_ns = event.at("window_ns");
  }
  for (const auto& [key, value] : event.items()) {
    if (key != "event" && key != "window_ns" && key != "rank" &&
        key != "peak_memory_bytes" && !value.is_null()) {
      adapter_[key] = text_of(value);
    }
  }
}

StepReader::Series& StepReader::series_of(const json& event) {
  const int rank = event.value("rank", rank_);
  if (rank < 0 || rank >= configuration_.ranks) {
    throw OutsideFailure(
        "wrong-count",
        fmt::format("a line of rank {}, and the case has {}; say how many "
                    "with --ranks",
                    rank,
                    counted(configuration_.ranks, "rank")));
  }
  return series_[rank];
}

void StepReader::check_loss(const json& event) {
  const auto loss = event.find("loss");
  if (loss == event.end()) {
    return;
  }
  if (!loss->is_number() && !loss->is_null()) {
    throw OutsideFailure(
        "bad-output",
        fmt::format("the loss is no number: '{}'", shown(event.dump())));
  }
  if (loss->is_null() || !std::isfinite(loss->get<double>())) {
    throw OutsideFailure("not-finite",
                         "the loss became a value that is not finite");
  }
}

std::int64_t StepReader::step_ns_of(double found) const {
  const std::string& unit = configuration_.step_unit;
  const std::string line = fmt::format("{} {}", found, unit);
  if (unit == "ms") {
    return ns_from(found * 1e-3, line);
  }
  if (unit == "us") {
    return ns_from(found * 1e-6, line);
  }
  if (unit == "ns") {
    return ns_from(found * 1e-9, line);
  }
  if (unit == "steps/s") {
    return ns_from(1 / found, line);
  }
  if (unit != "samples/s") {
    return ns_from(found, line);
  }
  // Without --ranks-per-host all ranks are on one node.
  const std::string& scope = configuration_.rate_scope;
  const int on_a_node = configuration_.ranks_per_host.empty()
                            ? configuration_.ranks
                            : configuration_.ranks_per_host.front();
  const int ranks = scope == "device" ? 1
                    : scope == "node" ? on_a_node
                                      : configuration_.ranks;
  return ns_from(static_cast<double>(configuration_.batch_size) * ranks / found,
                 line);
}

void StepReader::take_match(const std::string& line, std::int64_t now_ns) {
  std::smatch match;
  if (!std::regex_search(line, match, *regex_)) {
    return;
  }
  if (says_not_finite(line)) {
    throw OutsideFailure(
        "not-finite", fmt::format("a value is not finite: '{}'", shown(line)));
  }
  std::int64_t ns = 0;
  if (match.size() > 1) {
    const std::string number = match[1].str();
    std::size_t read = 0;
    double value = 0;
    try {
      value = std::stod(number, &read);
    } catch (const std::logic_error&) {
      read = 0;
    }
    if (read == 0 || read != number.size()) {
      throw OutsideFailure(
          "bad-output",
          fmt::format("--step-regex finds '{}', which is no number, in '{}'",
                      shown(number),
                      shown(line)));
    }
    ns = step_ns_of(value);
  } else {
    const std::int64_t before = std::exchange(last_match_ns_, now_ns);
    if (before == 0 && configuration_.warmup == 0) {
      return;  // when its step began is not known
    }
    ns = before == 0 ? 1 : std::max<std::int64_t>(1, now_ns - before);
  }
  Series& series = series_[rank_];
  series.step_ns.push_back(ns);
  series.warmup = static_cast<std::size_t>(configuration_.warmup);
  ++done_;
}

std::vector<records::RankSamples> StepReader::samples() const {
  if (series_.empty() || series_.begin()->second.step_ns.empty()) {
    throw OutsideFailure(
        "no-samples",
        regex_ ? fmt::format("no line matches --step-regex '{}'",
                             configuration_.step_regex)
               : std::string("it wrote no step (docs/adapters.md)"));
  }
  const auto steps = static_cast<std::size_t>(configuration_.steps);
  std::vector<records::RankSamples> ranks;
  for (const auto& [rank, series] : series_) {
    if (series.step_ns.size() < series.warmup + steps) {
      throw OutsideFailure("wrong-count",
                           fmt::format("{} of {} steps came{}",
                                       series.step_ns.size(),
                                       series.warmup + steps,
                                       ranks.empty() && series_.size() == 1
                                           ? ""
                                           : fmt::format(" of rank {}", rank)));
    }
    const auto cut = [&, first = series.warmup](const auto& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<std::int64_t>(
          begin, begin + static_cast<std::ptrdiff_t>(steps));
    };
    records::RankSamples& samples = ranks.emplace_back();
    samples.rank = rank;
    samples.device = configuration_.device;
    samples.step_ns = cut(series.step_ns);
    for (const auto& [phase, durations] : series.phase_ns) {
      if (durations.size() == series.step_ns.size()) {
        samples.phase_ns[phase] = cut(durations);
      }
    }
    samples.peak_memory_bytes = series.peak_memory_bytes;
    samples.window_ns = window_of(samples.step_ns, series.window_ns);
  }
  if (ranks.size() != 1 &&
      ranks.size() != static_cast<std::size_t>(configuration_.ranks)) {
    throw OutsideFailure("wrong-count",
                         fmt::format("steps came of {} of {} ranks",
                                     ranks.size(),
                                     configuration_.ranks));
  }
  return ranks;
}

std::optional<records::Warning> StepReader::surplus() const {
  std::size_t most = 0;
  for (const auto& [rank, series] : series_) {
    most = std::max(most, series.step_ns.size() - series.warmup);
  }
  const auto steps = static_cast<std::size_t>(configuration_.steps);
  if (most <= steps) {
    return std::nullopt;
  }
  return records::Warning{
      "steps-unused",
      fmt::format(
          "{} steps came after the {} measured ones", most - steps, steps),
      "they are not in the figures",
      fmt::format("--steps {} takes all of them", most)};
}

}  // namespace paceline::measure
