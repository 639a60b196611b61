// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/strategy.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/strategies/composed.h"
#include "paceline/strategies/options.h"
#include "paceline/strategies/rules.h"

namespace paceline::strategies {
namespace {

/// One part of the text, as written.
struct Part {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    pieces.emplace_back(text.substr(begin, end - begin));
    if (end == text.size()) {
      return pieces;
    }
    begin = end + 1;
  }
}

std::string with_hyphens(std::string_view text) {
  std::string result(text);
  std::ranges::replace(result, '_', '-');
  return result;
}

Part parse_part(std::string_view text) {
  const std::size_t colon = text.find(':');
  Part part{with_hyphens(text.substr(0, colon)), {}};
  if (colon == std::string_view::npos) {
    return part;
  }
  for (const std::string& option : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) {
      throw UsageError(
          fmt::format("strategy part '{}': '{}' is not of the form key=value",
                      text,
                      option));
    }
    part.options.emplace_back(with_hyphens(option.substr(0, equals)),
                              option.substr(equals + 1));
  }
  return part;
}

std::string fallback_text(
    const OptionInfo& option,
    const std::vector<std::pair<std::string_view, std::string>>& resolved,
    const StrategyDefaults& defaults) {
  if (option.fallback == "--bucket-mb") {
    return fmt::format("{}", defaults.bucket_mb);
  }
  for (const auto& [key, value] : resolved) {
    if (key == option.fallback) {
      return value;
    }
  }
  return std::string(option.fallback);
}

/// Every key of the row with its given or default value, numbers normalized.
Options resolve(const RowInfo& row,
                const Part& part,
                const StrategyDefaults& defaults) {
  std::vector<std::string_view> known;
  for (const OptionInfo& option : row.options) {
    known.push_back(option.key);
  }
  for (const auto& [key, value] : part.options) {
    if (std::ranges::find(known, key) == known.end()) {
      throw UsageError(fmt::format(
          "strategy '{}' has no option '{}'; {}",
          row.name,
          key,
          known.empty() ? std::string("it takes none")
                        : fmt::format("known: {}", fmt::join(known, ", "))));
    }
  }
  std::vector<std::pair<std::string_view, std::string>> resolved;
  for (const OptionInfo& option : row.options) {
    std::optional<std::string> text;
    for (const auto& [key, value] : part.options) {
      if (key == option.key && text.has_value()) {
        throw UsageError(
            fmt::format("strategy '{}': '{}' is given twice", row.name, key));
      }
      if (key == option.key) {
        text = value;
      }
    }
    const std::string where = fmt::format("{}:{}", row.name, option.key);
    resolved.emplace_back(
        option.key,
        parse_option(option,
                     where,
                     text ? *text : fallback_text(option, resolved, defaults)));
  }
  return Options(std::move(resolved));
}

template <class T>
const Row<T>* find_row(std::span<const Row<T>> rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &RowInfo::name);
  return found == rows.end() ? nullptr : &*found;
}

/// Takes `part` if it names a row of this axis.
template <class T>
bool choose(std::span<const Row<T>> rows,
            std::string_view axis,
            const Part& part,
            const StrategyDefaults& defaults,
            Choice<T>& choice) {
  const Row<T>* row = find_row(rows, part.name);
  if (row == nullptr) {
    return false;
  }
  if (choice.row != nullptr) {
    throw UsageError(fmt::format("a strategy has one {}; '{}' and '{}' are two",
                                 axis,
                                 choice.row->name,
                                 row->name));
  }
  choice = {row, resolve(*row, part, defaults)};
  return true;
}

template <class T>
const Row<T>& default_row(std::span<const Row<T>> rows,
                          std::string_view partner) {
  const Row<T>* row = find_row(rows, partner);
  return row == nullptr ? rows.front() : *row;
}

template <class T>
void choose_default(std::span<const Row<T>> rows,
                    std::string_view partner,
                    const StrategyDefaults& defaults,
                    Choice<T>& choice) {
  if (choice.row == nullptr) {
    const Row<T>& row = default_row(rows, partner);
    choice = {&row, resolve(row, {}, defaults)};
  }
}

template <class T>
std::string choice_text(const Choice<T>& choice) {
  std::vector<std::string> options;
  for (const auto& [key, value] : choice.options.values()) {
    const auto info =
        std::ranges::find(choice.row->options, key, &OptionInfo::key);
    if (!info->implied || value != info->fallback) {
      options.push_back(fmt::format("{}={}", key, value));
    }
  }
  return fmt::format("{}{}{}",
                     choice.row->name,
                     options.empty() ? "" : ":",
                     fmt::join(options, ","));
}

/// What a codec whose forms combine so needs of an exchange, and what others
/// do.
std::string_view need_of(Combination how) {
  switch (how) {
    case Combination::kOwnSum:
      return "sums of a length of their own, and '{}' cuts sums by the slice";
    case Combination::kPairs:
      return "pairs of ranks that swap what they have, and '{}' has none";
    default:
      return "what every rank sends in one place, and '{}' passes on sums of "
             "some ranks";
  }
}

/// What an exchange adds up must be a sum.
void check_combines(const StrategySpec& spec) {
  const auto codec = spec.codec.row->make(spec.codec.options);
  const Combination how = codec->combination();
  if (spec.exchange.row->make(spec.exchange.options)->combines(how)) {
    return;
  }
  std::vector<std::string_view> able;
  for (const auto& row : exchanges()) {
    if (row.make(resolve(row, {}, {}))->combines(how)) {
      able.push_back(row.name);
    }
  }
  throw UsageError(fmt::format(
      "'{}' needs {}; take {}",
      spec.codec.row->name,
      fmt::format(fmt::runtime(need_of(how)), choice_text(spec.exchange)),
      fmt::join(able, " or ")));
}

bool fulfills(const RowInfo& exchange, Wants wants) {
  switch (wants) {
    case Wants::kAny:
      return true;
    case Wants::kNeighbors:
      return exchange.parameters;
    case Wants::kMean:
      return !exchange.parameters;
    case Wants::kShards:
      return exchange.shards;
  }
  return false;
}

/// An update rule and an exchange that gives it what it needs.
void check_wants(const RowInfo& update, const RowInfo& exchange) {
  if (fulfills(exchange, update.wants)) {
    return;
  }
  std::vector<std::string_view> able;
  for (const RowInfo& row : exchanges()) {
    if (fulfills(row, update.wants)) {
      able.push_back(row.name);
    }
  }
  throw UsageError(fmt::format("'{}' {}; '{}' is no exchange for it, take {}",
                               update.name,
                               update.because,
                               exchange.name,
                               fmt::join(able, " or ")));
}

/// Whether a codec carries parameters, not gradients.
bool codes_parameters(const StrategySpec& spec) {
  return spec.codec.row->guarantee != Guarantee::kNeutral &&
         spec.update.row->parameters;
}

/// Of parameters a codec may carry the changes, which are compressed with
/// memory of what they leave out.
void check_coded(const StrategySpec& spec) {
  const RowInfo& codec = *spec.codec.row;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format(
        "'{}' {} what crosses, and {}",
        codec.name,
        codec.guarantee == Guarantee::kRounded ? "rounds" : "compresses",
        why));
  };
  if (!spec.update.row->coded || spec.exchange.row->make_coded == nullptr) {
    refuse(fmt::format(
        "'{}' over '{}' sends the parameters themselves; take identity, or "
        "neighbor-allreduce with the update rule atc, awc, pga or local-sgd",
        spec.update.row->name,
        spec.exchange.row->name));
  }
  if (!spec.codec.row->make(spec.codec.options)->contraction()) {
    std::vector<std::string_view> able;
    for (const auto& row : codecs()) {
      if (row.guarantee != Guarantee::kNeutral &&
          row.make(resolve(row, {}, {}))->contraction()) {
        able.push_back(row.name);
      }
    }
    refuse(fmt::format(
        "neighbors need codes that keep a share of every change of one rank's "
        "parameters, as those of '{}' do not; take {}",
        codec.name,
        fmt::join(able, ", ")));
  }
}

/// Combinations that the mathematics forbids.
void check_combination(const StrategySpec& spec) {
  const RowInfo& exchange = *spec.exchange.row;
  const RowInfo& update = *spec.update.row;
  check_wants(update, exchange);
  if (exchange.parameters && !update.parameters) {
    throw UsageError(fmt::format(
        "'{}' averages parameters with neighbors, which '{}' does not send; "
        "take the update rule atc, awc or another that does",
        exchange.name,
        update.name));
  }
  if (exchange.prepared && !update.prepared) {
    throw UsageError(fmt::format(
        "'{}' sends the parameters times a weight, to which the gradient has "
        "to be applied before they are sent, and '{}' does not do so; take atc",
        exchange.name,
        update.name));
  }
  if (exchange.late && !update.late) {
    throw UsageError(fmt::format(
        "'{}' averages what has arrived, which may be late, and '{}' needs the "
        "values of the step; take neighbor-allreduce",
        exchange.name,
        update.name));
  }
  if (codes_parameters(spec)) {
    check_coded(spec);
    return;
  }
  check_combines(spec);
}

[[noreturn]] void throw_unknown(std::string_view name) {
  std::string known;
  for (const AxisInfo& axis : strategy_axes()) {
    std::vector<std::string_view> names;
    for (const RowInfo& row : axis.rows) {
      names.push_back(row.name);
    }
    known += fmt::format("{}{}: {}",
                         known.empty() ? "" : "; ",
                         axis.name,
                         fmt::join(names, ", "));
  }
  throw UsageError(
      fmt::format("unknown strategy part '{}'; known are {}", name, known));
}

/// "+name:options", or nothing for a default row that has no options.
template <class T>
std::string tail_text(std::span<const Row<T>> rows,
                      std::string_view partner,
                      const Choice<T>& choice) {
  const bool is_default = choice.row == &default_row(rows, partner) &&
                          choice.options.values().empty();
  return is_default ? "" : fmt::format("+{}", choice_text(choice));
}

}  // namespace

bool StrategySpec::external() const {
  return whole.row != nullptr && whole.row->make == nullptr;
}

Guarantee StrategySpec::guarantee() const {
  if (whole.row != nullptr) {
    return whole.row->guarantee;
  }
  for (const RowInfo* part : {static_cast<const RowInfo*>(update.row),
                              static_cast<const RowInfo*>(codec.row)}) {
    if (part->guarantee != Guarantee::kNeutral) {
      return part->guarantee;
    }
  }
  return exchange.row->guarantee;
}

std::string StrategySpec::text() const {
  if (whole.row != nullptr) {
    return choice_text(whole);
  }
  return choice_text(schedule) +
         tail_text(exchanges(), schedule.row->partner, exchange) +
         tail_text(codecs(), "", codec) +
         tail_text(update_rules(), exchange.row->partner, update);
}

StrategySpec parse_strategy(std::string_view text,
                            const StrategyDefaults& defaults) {
  StrategySpec spec;
  const std::vector<std::string> pieces = split(text, '+');
  for (const std::string& piece : pieces) {
    const Part part = parse_part(piece);
    const bool known =
        choose(whole_strategies(), "whole", part, defaults, spec.whole) ||
        choose(schedules(), "schedule", part, defaults, spec.schedule) ||
        choose(exchanges(), "exchange", part, defaults, spec.exchange) ||
        choose(codecs(), "codec", part, defaults, spec.codec) ||
        choose(update_rules(), "update", part, defaults, spec.update);
    if (!known) {
      throw_unknown(part.name);
    }
  }
  if (spec.whole.row != nullptr) {
    if (pieces.size() > 1) {
      throw UsageError(fmt::format(
          "strategy '{}': '{}' is a whole strategy and combines with no part",
          text,
          spec.whole.row->name));
    }
    return spec;
  }
  choose_default(
      schedules(),
      spec.exchange.row == nullptr ? "" : spec.exchange.row->schedule,
      defaults,
      spec.schedule);
  choose_default(
      exchanges(), spec.schedule.row->partner, defaults, spec.exchange);
  choose_default(codecs(), "", defaults, spec.codec);
  choose_default(
      update_rules(), spec.exchange.row->partner, defaults, spec.update);
  check_combination(spec);
  return spec;
}

bool needs_times(const StrategySpec& spec) {
  return spec.schedule.row != nullptr &&
         spec.schedule.row->make(spec.schedule.options)->needs_times();
}

std::unique_ptr<Planner> make_planner(const StrategySpec& spec) {
  if (spec.external()) {
    throw UsageError(fmt::format(
        "strategy '{}' is performed by an external command and has no plan",
        spec.whole.row->name));
  }
  if (spec.whole.row != nullptr) {
    return spec.whole.row->make(spec.whole.options);
  }
  auto codec = spec.codec.row->make(spec.codec.options);
  const bool coded = codes_parameters(spec);
  auto exchange = coded ? spec.exchange.row->make_coded(spec.exchange.options,
                                                        std::move(codec))
                        : spec.exchange.row->make(spec.exchange.options);
  return make_composed(spec.schedule.row->make(spec.schedule.options),
                       std::move(exchange),
                       coded ? make_identity({}) : std::move(codec),
                       spec.update.row->make(spec.update.options));
}

}  // namespace paceline::strategies
