// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/step_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/case/outside.h"
#include "paceline/rank/external.h"
#include "paceline/rank/printed_number.h"
#include "paceline/rank/stated_case.h"

namespace paceline::rank {
namespace {

using nlohmann::json;

constexpr double kLongestStepS = 1e9;
constexpr const char* kNextEvent = "}{\"event\"";

// JSON has no NaN, which Python's json writes all the same; null stands for it.
std::string without_nan(const std::string& line) {
  static const std::regex not_finite(R"(([:\[,]\s*)-?(?:NaN|Infinity)\b)");
  return line.find("NaN") == std::string::npos && line.find("Infinity") == std::string::npos
             ? line
             : std::regex_replace(line, not_finite, "$1null");
}

std::int64_t ns_from(double seconds, const std::string& line) {
  if (!(seconds > 0 && seconds < kLongestStepS)) {
    throw OutsideFailure("bad-output", fmt::format("a step of {} s, which is no duration: '{}'",
                                                   seconds, shown(line)));
  }
  return std::max<std::int64_t>(1, std::llround(seconds * 1e9));
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// A loss, such as "loss nan", "lm loss: -inf", "'loss': nan"; "nan" elsewhere may be a word or a
// count.
bool says_loss_not_finite(const std::string& line) {
  static const std::regex loss(
      R"(loss['"]?\s*[:=]?\s*['"]?[-+]?(?:nan|inf|infinity)(?![A-Za-z0-9_]))", std::regex::icase);
  return std::regex_search(line, loss);
}

}  // namespace

StepReader::StepReader(const records::Configuration& configuration, int rank, LiveReader* live)
    : configuration_(configuration), rank_(rank), live_(live) {
  if (!configuration.step_regex.empty()) {
    regex_.emplace(configuration.step_regex);
    if (const auto turned = turned_over(configuration.step_regex, finds_rate(configuration))) {
      turned_.emplace(*turned);
    }
  }
}

bool StepReader::reads_events() const { return !known_ && configuration_.reader.empty(); }

void StepReader::take(const std::string& line, std::int64_t now_ns) {
  launch::RankLine rank_line = launch::without_prefix(line);
  // A rank that Paceline started is known; launchers within it count anew.
  if (!cases::starts_its_ranks(configuration_)) {
    rank_line.rank.reset();
  }
  if (regex_) {
    take_match(rank_line, line, now_ns);
    return;
  }
  if (reads_events()) {
    take_events(rank_line.text, now_ns, rank_line.rank);
  }
  // Which of both a program writes, its first step says.
  if (live_ != nullptr && (known_ || silent())) {
    take_known(rank_line, line, now_ns);
  }
}

void StepReader::take_known(const launch::RankLine& line, const std::string& whole,
                            std::int64_t now_ns) {
  const json said = live_->read(whole);
  if (said.is_null()) {
    return;
  }
  if (said.contains("failure")) {
    throw OutsideFailure(said.at("status"), said.at("failure"));
  }
  known_ = true;
  adapter_["reader"] = said.at("reader");
  Series& series = series_of(line.certain && line.rank ? *line.rank : rank_);
  series.warmup = lines_for(configuration_.warmup);
  check_known(said, series);
  ns_from(said.at("step_ns").get<double>() * 1e-9, whole);
  add_line(series,
           {.ns = said.at("step_ns"), .low_ns = said.at("low_ns"), .high_ns = said.at("high_ns")},
           now_ns);
  done_ = std::max(done_, static_cast<int>(series.step_ns.size()) * configuration_.steps_per_line);
}

// Holds what the line says of the case against the case.
void StepReader::check_known(const json& said, const Series& series) const {
  const auto number = [&said](const char* key) {
    const json& value = said.at(key);
    return value.is_null() ? 0 : value.get<std::int64_t>();
  };
  const std::int64_t steps = number("steps"), line = configuration_.steps_per_line;
  const std::size_t came = series.step_ns.size();
  const bool whole = said.at("whole");
  const bool counts = came < series.warmup + lines_for(configuration_.steps);  // it is used
  // The first line that has a time may be of fewer steps, and so may the last.
  if ((came > 0 || whole) && steps > 0 && (steps > line || (steps < line && counts))) {
    throw OutsideFailure(
        kContradiction,
        fmt::format("a line of {} stands for {}, and the case says {}; say --steps-per-line {}{}",
                    said.at("reader").get<std::string>(), counted(steps, "step"), line, steps,
                    whole ? fmt::format(" --warmup 0 --steps {}", steps) : ""));
  }
  const std::int64_t samples = number("examples");
  const std::int64_t asked = std::int64_t{configuration_.batch_size} * configuration_.ranks;
  if (samples > 0 && samples != asked) {
    throw OutsideFailure(
        kContradiction,
        fmt::format("a step of {} has {}, and --batch-size {} on {} are {}",
                    said.at("reader").get<std::string>(), counted(samples, "sample"),
                    configuration_.batch_size, counted(configuration_.ranks, "rank"), asked));
  }
}

void StepReader::take_events(const std::string& line, std::int64_t now_ns,
                             std::optional<int> rank) {
  if (!trimmed(line).starts_with('{') || line.find("\"event\"") == std::string::npos) {
    return;
  }
  // Where several ranks write at once, a line end may come late.
  const std::size_t next = line.find(kNextEvent);
  if (next != std::string::npos) {
    take_events(line.substr(0, next + 1), now_ns, rank);
    take_events(line.substr(next + 1), now_ns, rank);
    return;
  }
  try {
    json event = json::parse(without_nan(line));
    if (rank && !event.contains("rank")) {
      event["rank"] = *rank;
    }
    take_event(event, now_ns);
  } catch (const json::exception& error) {
    throw OutsideFailure(
        "bad-output", fmt::format("wrote '{}', which is no event ({})", shown(line), error.what()));
  }
}

void StepReader::take_event(const json& event, std::int64_t now_ns) {
  const std::string kind = event.at("event");
  check_loss(event);
  if (kind == "environment") {
    introduced_ = true;
    check_stated_case(configuration_, event);
    for (const auto& [key, value] : event.items()) {
      if (key != "event" && key != "case" && key != "rank" && key != "world" && !value.is_null()) {
        adapter_[key] = text_of(value);
      }
    }
    if (event.contains("case")) {
      adapter_["case"] = event.at("case").dump();
    }
  } else if (kind == "alive") {
    done_ = event.at("step");
    series_of(event).progress.push_back({now_ns, done_});
  } else if (kind == "step") {
    take_step(event, now_ns);
  } else if (kind == "end") {
    take_end(event);
  } else if (kind == "error") {
    const std::string message = event.at("message");
    throw OutsideFailure(
        event.value("status", says_out_of_memory(message) ? "out-of-memory" : "exit"), message);
  }
}

void StepReader::take_step(const json& event, std::int64_t now_ns) {
  Series& series = series_of(event);
  const std::int64_t ns = event.contains("step_ns")
                              ? event.at("step_ns").get<std::int64_t>()
                              : ns_from(event.at("step_s").get<double>(), event.dump());
  ns_from(static_cast<double>(ns) * 1e-9, event.dump());
  const auto stated = static_cast<double>(ns);
  add_line(series, {stated, stated, stated}, now_ns);
  series.in_ns = event.contains("step_ns");
  series.indexed = event.contains("index");
  if (!series.indexed) {
    series.warmup = lines_for(configuration_.warmup);
  }
  const json phases = event.value("phases_ns", json::object());
  for (const auto& [phase, duration] : phases.items()) {
    series.phase_ns[phase].push_back(duration);
  }
  done_ = std::max(done_, static_cast<int>(series.step_ns.size()) * configuration_.steps_per_line);
}

void StepReader::take_number(Series& series, const std::smatch& match, const std::string& whole,
                             bool turned, std::int64_t now_ns) const {
  const std::string number = match[1].str();
  const StatedStep step = stated_step(configuration_, printed_number(match, whole), number, turned);
  ns_from(step.ns * 1e-9, fmt::format("{} {}", number, configuration_.step_unit));
  add_line(series, step, now_ns);
}

void StepReader::add_line(Series& series, const StatedStep& step, std::int64_t now_ns) const {
  const double steps = configuration_.steps_per_line;
  series.step_ns.push_back(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(step.ns))));
  series.lines.push_back({.arrived_ns = now_ns,
                          .stated_ns = steps * step.ns,
                          .low_ns = steps * step.low_ns,
                          .high_ns = steps * step.high_ns});
}

std::size_t StepReader::lines_for(int steps) const {
  return (static_cast<std::size_t>(steps) + configuration_.steps_per_line - 1) /
         configuration_.steps_per_line;
}

void StepReader::take_end(const json& event) {
  ended_ = true;
  Series& series = series_of(event);
  if (const json peak = event.value("peak_memory_bytes", json()); !peak.is_null()) {
    series.peak_memory_bytes = peak;
  }
  if (event.contains("window_ns")) {
    series.window_ns = event.at("window_ns");
  }
  take_exchange(event, series);
  constexpr auto kTaken = std::to_array<std::string_view>(
      {"event", "window_ns", "rank", "peak_memory_bytes", "wire", "in_turn"});
  for (const auto& [key, value] : event.items()) {
    if (std::ranges::find(kTaken, key) == kTaken.end() && !value.is_null()) {
      adapter_[key] = text_of(value);
    }
  }
}

// What crossed, and the steps with and without that in turn.
void StepReader::take_exchange(const json& event, Series& series) {
  if (const auto wire = event.find("wire"); wire != event.end()) {
    const auto number = [&](const char* key) {
      const json& value = wire->at(key);
      return value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>());
    };
    wire_ = {.measured_per_step = number("measured_bytes_per_step"),
             .planned_per_step = number("planned_bytes_per_step"),
             .by_pattern = wire->at("bytes_by_pattern"),
             .calls_per_step = number("calls_per_step")};
  }
  if (const auto turns = event.find("in_turn"); turns != event.end()) {
    turns->at("paired_step_ns").get_to(series.paired_step_ns);
    turns->at("compute_only_step_ns").get_to(series.compute_only_step_ns);
    turns->at("pair_of_step").get_to(series.pair_of_step);
    const std::size_t steps = series.pair_of_step.size();
    if (series.paired_step_ns.size() != steps || series.compute_only_step_ns.size() != steps) {
      throw OutsideFailure("bad-output", "the lists of in_turn are not equally long");
    }
  }
}

StepReader::Series& StepReader::series_of(const json& event) {
  return series_of(event.value("rank", rank_));
}

StepReader::Series& StepReader::series_of(int rank) {
  if (rank < 0 || rank >= configuration_.ranks) {
    throw OutsideFailure("wrong-count",
                         fmt::format("a line of rank {}, and the case has {}; say how many "
                                     "with --ranks",
                                     rank, counted(configuration_.ranks, "rank")));
  }
  return series_[rank];
}

void StepReader::check_loss(const json& event) {
  const auto loss = event.find("loss");
  if (loss == event.end()) {
    return;
  }
  if (!loss->is_number() && !loss->is_null()) {
    throw OutsideFailure("bad-output",
                         fmt::format("the loss is no number: '{}'", shown(event.dump())));
  }
  if (loss->is_null() || !std::isfinite(loss->get<double>())) {
    throw OutsideFailure("not-finite", "the loss became a value that is not finite");
  }
}

void StepReader::take_match(const launch::RankLine& line, const std::string& whole,
                            std::int64_t now_ns) {
  std::smatch match;
  // An expression may match what the launcher wrote too.
  const auto found = [&](const std::optional<std::regex>& regex) {
    return regex &&
           (std::regex_search(line.text, match, *regex) || std::regex_search(whole, match, *regex));
  };
  bool turned = false;
  if (!found(regex_)) {
    turned = found(turned_);
    if (!turned) {
      return;
    }
    ++turned_lines_;
  }
  if (says_loss_not_finite(whole)) {
    throw OutsideFailure("not-finite", fmt::format("the loss is not finite: '{}'", shown(whole)));
  }
  Series& series = series_of(line.certain && line.rank ? *line.rank : rank_);
  series.warmup = lines_for(configuration_.warmup);
  if (match.size() > 1) {
    take_number(series, match, whole, turned, now_ns);
  } else {
    const std::int64_t before = std::exchange(series.last_match_ns, now_ns);
    if (before == 0 && configuration_.warmup == 0) {
      return;  // when its steps began is not known
    }
    series.step_ns.push_back(
        before == 0 ? 1
                    : std::max<std::int64_t>(1, (now_ns - before) / configuration_.steps_per_line));
  }
  done_ = std::max(done_, static_cast<int>(series.step_ns.size()) * configuration_.steps_per_line);
}

}  // namespace paceline::rank
