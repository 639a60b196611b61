// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/strategy.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/ddl_names.h"
#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/rules.h"
#include "paceline/strategies/strategy_text.h"

namespace paceline::strategies {
namespace {

/// One part of a strategy's text: its name and its options as written.
struct Part {
  std::string name;
  OptionTexts options;
};

std::string with_hyphens(std::string_view text) {
  std::string result(text);
  std::ranges::replace(result, '_', '-');
  return result;
}

Part parsed_part(const PartText& text) {
  Part part{with_hyphens(text.name), {}};
  for (const std::string& option : text.options) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) {
      throw UsageError(
          fmt::format("strategy part '{}': '{}' is not of the form key=value", text.name, option));
    }
    part.options.emplace_back(with_hyphens(option.substr(0, equals)), option.substr(equals + 1));
  }
  return part;
}

template <class T>
const Row<T>* find_row(std::span<const Row<T>> rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &RowInfo::name);
  return found == rows.end() ? nullptr : &*found;
}

/// Sets `choice` and returns true if `part` names a row of this axis.  Throws UsageError if the
/// axis has a choice already.
template <class T>
bool set_choice(std::span<const Row<T>> rows, std::string_view axis, const Part& part,
                const StrategyDefaults& defaults, Choice<T>& choice) {
  const Row<T>* row = find_row(rows, part.name);
  if (row == nullptr) {
    return false;
  }
  if (choice.row != nullptr) {
    throw UsageError(fmt::format("a strategy has one {}; '{}' and '{}' are two", axis,
                                 choice.row->name, row->name));
  }
  choice = {row, resolve(*row, part.options, defaults)};
  return true;
}

template <class T>
const Row<T>& default_row(std::span<const Row<T>> rows, std::string_view partner) {
  const Row<T>* row = find_row(rows, partner);
  return row == nullptr ? rows.front() : *row;
}

template <class T>
void choose_default(std::span<const Row<T>> rows, std::string_view partner,
                    const StrategyDefaults& defaults, Choice<T>& choice) {
  if (choice.row == nullptr) {
    const Row<T>& row = default_row(rows, partner);
    choice = {&row, resolve(row, {}, defaults)};
  }
}

/// Returns Paceline's name of a method or compressor of ddl-benchmarks or of an optimizer of
/// BlueFog; empty if `name` is none of these.  `alone` says that the strategy has no other part.
std::string paceline_name_of(const std::string& name, bool alone) {
  if (const DdlName* method = find_ddl_name(kDdlMethods, name)) {
    return fmt::format("{}{}", method->ours, method->options);
  }
  const DdlName* optimizer = find_ddl_name(kBluefogOptimizers, name);
  if (alone && optimizer != nullptr) {
    return fmt::format("{}{}", optimizer->ours, optimizer->options);
  }
  const DdlName* codec = find_ddl_name(kDdlCompressors, name);
  return codec == nullptr ? "" : fmt::format("{}{}", alone ? "bsp+" : "", codec->ours);
}

[[noreturn]] void throw_unknown(const std::string& name, bool alone) {
  std::string known;
  std::vector<std::string> all;
  for (const AxisInfo& axis : strategy_axes()) {
    std::vector<std::string_view> names;
    for (const RowInfo& row : axis.rows) {
      names.push_back(row.name);
      all.emplace_back(row.name);
    }
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", axis.name, fmt::join(names, ", "));
  }
  const std::string here = paceline_name_of(name, alone);
  const auto near = nearest_name(name, all);
  throw UsageError(fmt::format("unknown strategy part '{}'{} known are {}", name,
                               !here.empty() ? fmt::format("; here it is '{}';", here)
                               : near        ? fmt::format("; did you mean '{}'?", *near)
                                             : std::string(";"),
                               known));
}

template <class T>
bool is_part(const Part& part, const Choice<T>& choice) {
  return choice.row != nullptr && choice.row->name == part.name &&
         std::ranges::all_of(part.options, [&](const auto& option) {
           return choice.options.text(option.first) == option.second;
         });
}

/// Returns "+name:options" for a part of the strategy's text; empty for a default part without
/// options.
template <class T>
std::string nondefault_part_text(std::span<const Row<T>> rows, std::string_view partner,
                                 const Choice<T>& choice) {
  const bool is_default =
      choice.row == &default_row(rows, partner) && choice.options.values().empty();
  return is_default ? "" : fmt::format("+{}", choice_text(*choice.row, choice.options));
}

}  // namespace

bool StrategySpec::external() const { return whole.row != nullptr && whole.row->make == nullptr; }

Guarantee StrategySpec::guarantee() const {
  if (whole.row != nullptr) {
    return whole.row->guarantee;
  }
  if (update.row->guarantee == Guarantee::kPeriodic) {
    const bool by_neighbors =
        update.row->need == ExchangeNeed::kAny && exchange.row->guarantee == Guarantee::kConsensus;
    const bool apart = std::ranges::any_of(update.row->options, [&](const OptionInfo& option) {
      return option.apart && update.options.text(option.key) != option.fallback;
    });
    return apart || by_neighbors ? Guarantee::kConsensus : Guarantee::kPeriodic;
  }
  for (const RowInfo* part :
       {static_cast<const RowInfo*>(update.row), static_cast<const RowInfo*>(codec.row)}) {
    if (part->guarantee != Guarantee::kNeutral) {
      return part->guarantee;
    }
  }
  return exchange.row->guarantee;
}

bool StrategySpec::has(std::string_view parts) const {
  return std::ranges::all_of(parts_of_text(parts), [&](const PartText& text) {
    const Part part = parsed_part(text);
    return is_part(part, whole) || is_part(part, schedule) || is_part(part, exchange) ||
           is_part(part, codec) || is_part(part, update);
  });
}

StrategySpec StrategySpec::without_codec() const {
  StrategySpec plain = *this;
  if (codec.row != nullptr) {
    plain.codec = {&codecs().front(), {}};
    OptionTexts kept;
    for (const OptionInfo& option : exchange.row->options) {
      if (!option.of_codec) {
        kept.emplace_back(option.key, exchange.options.text(option.key));
      }
    }
    plain.exchange.options = resolve(*exchange.row, kept, {});
  }
  return plain;
}

const std::string* StrategySpec::find_option(std::string_view key) const {
  for (const Options* options :
       {&whole.options, &schedule.options, &exchange.options, &codec.options, &update.options}) {
    if (const std::string* text = options->find(key)) {
      return text;
    }
  }
  return nullptr;
}

std::string StrategySpec::text_without(std::initializer_list<std::string_view> keys) const {
  StrategySpec shown = *this;
  for (Options* options : {&shown.whole.options, &shown.schedule.options}) {
    for (const std::string_view key : keys) {
      options->erase(key);
    }
  }
  return shown.text();
}

std::string StrategySpec::text() const {
  if (whole.row != nullptr) {
    return choice_text(*whole.row, whole.options);
  }
  return choice_text(*schedule.row, schedule.options) +
         nondefault_part_text(exchanges(), schedule.row->partner, exchange) +
         nondefault_part_text(codecs(), "", codec) +
         nondefault_part_text(update_rules(), exchange.row->partner, update);
}

StrategySpec parse_strategy(std::string_view text, const StrategyDefaults& defaults) {
  StrategySpec spec;
  const std::vector<PartText> pieces = parts_of_text(text);
  for (const PartText& piece : pieces) {
    const Part part = parsed_part(piece);
    const bool known = set_choice(whole_strategies(), "whole", part, defaults, spec.whole) ||
                       set_choice(schedules(), "schedule", part, defaults, spec.schedule) ||
                       set_choice(exchanges(), "exchange", part, defaults, spec.exchange) ||
                       set_choice(codecs(), "codec", part, defaults, spec.codec) ||
                       set_choice(update_rules(), "update", part, defaults, spec.update);
    if (!known) {
      throw_unknown(part.name, pieces.size() == 1);
    }
  }
  if (spec.whole.row != nullptr) {
    if (pieces.size() > 1) {
      throw UsageError(
          fmt::format("strategy '{}': '{}' is a whole strategy and combines with no part", text,
                      spec.whole.row->name));
    }
    return spec;
  }
  choose_default(schedules(), spec.exchange.row == nullptr ? "" : spec.exchange.row->schedule,
                 defaults, spec.schedule);
  choose_default(exchanges(), spec.schedule.row->partner, defaults, spec.exchange);
  choose_default(codecs(), "", defaults, spec.codec);
  choose_default(update_rules(), spec.exchange.row->partner, defaults, spec.update);
  check_combination(spec);
  return spec;
}

bool needs_times(const StrategySpec& spec) {
  return spec.schedule.row != nullptr &&
         spec.schedule.row->make(spec.schedule.options)->needs_times();
}

std::unique_ptr<ExchangeRule> make_exchange(const StrategySpec& spec) {
  const auto& [row, options] = spec.exchange;
  return compresses_parameters(spec)
             ? row->make_coded(options, spec.codec.row->make(spec.codec.options))
             : row->make(options);
}

std::unique_ptr<Planner> make_planner(const StrategySpec& spec) {
  if (spec.external()) {
    throw UsageError(fmt::format(
        "strategy '{}' is performed by an external command and has no plan", spec.whole.row->name));
  }
  if (spec.whole.row != nullptr) {
    return spec.whole.row->make(spec.whole.options);
  }
  return make_composed(
      spec.text(), spec.schedule.row->make(spec.schedule.options), make_exchange(spec),
      compresses_parameters(spec) ? make_identity({}) : spec.codec.row->make(spec.codec.options),
      spec.update.row->make(spec.update.options));
}

}  // namespace paceline::strategies
