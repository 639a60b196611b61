// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/strategies/rules.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

template <class Part, class Has>
std::vector<std::string_view> names_of(std::span<const Row<Part>> rows, const Has& has) {
  std::vector<std::string_view> names;
  for (const Row<Part>& row : rows) {
    if (has(row)) {
      names.push_back(row.name);
    }
  }
  return names;
}

/// Returns the end of an error message: what the codec needs of an exchange, and what the chosen
/// exchange does instead.
std::string_view codec_need_text(Combination how, const ExchangeRule& exchange) {
  switch (how) {
    case Combination::kUncuttableSum:
      return "sums of a length of their own, and '{}' cuts sums by the slice";
    case Combination::kPairs:
      return "pairs of ranks that swap what they have, and '{}' has none";
    default:
      if (exchange.combines(Combination::kMerge)) {
        return "what every rank sends in one place, and '{}' answers with one sum, whose form is "
               "another than that of its parts";
      }
      return "what every rank sends in one place, and '{}' passes on sums of some ranks";
  }
}

/// Throws UsageError unless the exchange can combine the codec's forms.
void check_codec_exchange_pair(const StrategySpec& spec) {
  const auto codec = spec.codec.row->make(spec.codec.options);
  const Combination how = codec->format({}).combination;
  const auto exchange = spec.exchange.row->make(spec.exchange.options);
  if (exchange->combines(how)) {
    return;
  }
  const auto able = names_of(
      exchanges(), [&](const auto& row) { return row.make(resolve(row, {}, {}))->combines(how); });
  const RowInfo& rejected = *spec.exchange.row;
  const bool by_options = std::ranges::find(able, rejected.name) != able.end();
  throw UsageError(fmt::format("'{}' needs {}; take {}", spec.codec.row->name,
                               fmt::format(fmt::runtime(codec_need_text(how, *exchange)),
                                           by_options ? choice_text(rejected, spec.exchange.options)
                                                      : std::string(rejected.name)),
                               fmt::join(able, " or ")));
}

bool fulfills_need(const RowInfo& exchange, ExchangeNeed need) {
  switch (need) {
    case ExchangeNeed::kAny:
      return true;
    case ExchangeNeed::kNeighbors:
      return exchange.parameters;
    case ExchangeNeed::kMean:
      return !exchange.parameters;
    case ExchangeNeed::kShards:
      return exchange.shards;
  }
  return false;
}

bool can_combine(const RowInfo& update, const RowInfo& exchange) {
  return fulfills_need(exchange, update.need) && (!exchange.parameters || update.parameters) &&
         (!exchange.prepared || update.prepared) && (!exchange.late || update.late);
}

/// Throws UsageError unless the exchange provides what the update rule needs (RowInfo::need).
void check_exchange_need(const RowInfo& update, const RowInfo& exchange) {
  if (fulfills_need(exchange, update.need)) {
    return;
  }
  const auto able =
      names_of(exchanges(), [&](const RowInfo& row) { return can_combine(update, row); });
  throw UsageError(fmt::format("'{}' {}; '{}' is no exchange for it, take {}", update.name,
                               update.because, exchange.name, fmt::join(able, " or ")));
}

// Returns the names of the codecs that may compress parameters because they have a contraction. If
// the exchange cuts tensors (`cuts`), codecs that need whole tensors are left out.
std::string contracting_codecs_text(bool cuts) {
  return fmt::format("{}", fmt::join(names_of(codecs(),
                                              [cuts](const auto& row) {
                                                const auto kept =
                                                    row.make(resolve(row, {}, {}))->contraction({});
                                                return row.guarantee != Guarantee::kNeutral &&
                                                       kept && !(cuts && kept->whole_tensors);
                                              }),
                                     ", "));
}

/// Throws UsageError unless the codec may compress parameters.  It then encodes changes of the
/// parameters, with error feedback.
void check_parameter_codec(const StrategySpec& spec) {
  const RowInfo& codec = *spec.codec.row;
  const auto reject = [&](const std::string& why) {
    throw UsageError(fmt::format("'{}' {} what crosses, and {}", codec.name,
                                 codec.guarantee == Guarantee::kRounded ? "rounds" : "compresses",
                                 why));
  };
  if (spec.exchange.row->late) {
    reject(fmt::format(
        "'{}' averages while codes are under way, so the estimates at their two ends differ, which "
        "averages of codes need equal; take identity, or neighbor-allreduce",
        spec.exchange.row->name));
  }
  const auto contraction = spec.codec.row->make(spec.codec.options)->contraction({});
  const bool contracts = contraction.has_value();
  const bool cuts =
      spec.exchange.row->make_coded != nullptr &&
      spec.exchange.row->make_coded(spec.exchange.options, spec.codec.row->make(spec.codec.options))
          ->cuts();
  if (!spec.update.row->accepts_codec || spec.exchange.row->make_coded == nullptr) {
    reject(fmt::format(
        "'{}' over '{}' sends the parameters themselves; take identity, or {} with an update rule "
        "of {}{}",
        spec.update.row->name, spec.exchange.row->name,
        fmt::join(names_of(exchanges(), [](const auto& row) { return row.make_coded != nullptr; }),
                  ", "),
        fmt::join(names_of(update_rules(), [](const auto& row) { return row.accepts_codec; }),
                  ", "),
        contracts ? "" : " and a codec of " + contracting_codecs_text(cuts)));
  }
  if (!contracts) {
    reject(
        fmt::format("neighbors need codes that keep a share of every change of one rank's "
                    "parameters, as those of '{}' do not; take {}",
                    codec.name, contracting_codecs_text(cuts)));
  }
  if (contraction->whole_tensors && cuts) {
    reject(
        fmt::format("takes whole tensors, which the shares of '{}' cut; take neighbor-allreduce, "
                    "or another codec of {}",
                    spec.exchange.row->name, contracting_codecs_text(cuts)));
  }
}

}  // namespace

bool compresses_parameters(const StrategySpec& spec) {
  return spec.codec.row->guarantee != Guarantee::kNeutral && spec.update.row->parameters;
}

bool divides_by_rate(const StrategySpec& spec) {
  return spec.update.row != nullptr &&
         spec.update.row->make(spec.update.options)->divides_by_rate();
}

void check_combination(const StrategySpec& spec) {
  const RowInfo& exchange = *spec.exchange.row;
  const RowInfo& update = *spec.update.row;
  check_exchange_need(update, exchange);
  if (exchange.parameters && !update.parameters) {
    throw UsageError(
        fmt::format("'{}' averages parameters, which '{}' does not send; "
                    "take the update rule atc, awc or another that does",
                    exchange.name, update.name));
  }
  if (exchange.prepared && !update.prepared) {
    throw UsageError(
        fmt::format("'{}' sends the parameters times a weight, to which the gradient has to be "
                    "applied before they are sent, and '{}' does not do so; take atc",
                    exchange.name, update.name));
  }
  if (exchange.late && !update.late) {
    throw UsageError(
        fmt::format("'{}' averages what has arrived, which may be late, and '{}' needs the values "
                    "of the step; take neighbor-allreduce",
                    exchange.name, update.name));
  }
  if (compresses_parameters(spec)) {
    check_parameter_codec(spec);
    return;
  }
  check_codec_exchange_pair(spec);
}

}  // namespace paceline::strategies
