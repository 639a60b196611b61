// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/strategies/plan_words.h"

// Strategies by name: SCHEDULE+EXCHANGE+CODEC+UPDATE, each part NAME or NAME:KEY=VALUE,KEY=VALUE,
// parts left out take their defaults, `_` is read as
// `-`; or one whole word (none, ddp, python-ddp, ...), with options likewise.

namespace paceline::strategies {

class ScheduleRule;
class ExchangeRule;
class CodecRule;
class UpdateRule;

/// What holds for every rank's parameters after a step.
enum class Guarantee : std::uint8_t {
  kExact,       // those of one rank that trained on the whole batch
  kRounded,     // as exact, but for rounding on the wire; ranks hold the same
  kCompressed,  // ranks hold the same; their gradients cross in part
  kPeriodic,    // ranks hold the same after every H-th step, else drift
  kConsensus,   // ranks agree in the limit only
  kLocal,       // nothing: ranks drift apart
  kNeutral      // that of the strategy's other parts
};

/// The largest size that a strategy may name, MiB.
inline constexpr double kMostMebibytes = 1e6;

/// How an option's text is read.
enum class OptionKind : std::uint8_t {
  kMebibytes,
  kCount,     // a whole number from 0 on
  kFraction,  // above 0, at most 1
  kNumber,    // from 0 to 1000
  kMomentum,  // at least 0 and below 1
  kWord,      // one of `words`
  kTopology   // a TopologyChoice
};

struct OptionInfo {
  std::string_view key;
  /// A value, another key of the row, or "--bucket-mb".
  std::string_view fallback;
  std::string_view summary;
  OptionKind kind = OptionKind::kMebibytes;
  std::span<const std::string_view> words{};
  /// Left out of the strategy's text where it has its default, so that records of before it was
  /// there keep their key.
  bool implied = false;
  bool positive = false;  // a number, and 0 means nothing
  /// Ranks hold the same after no step where it has another value.
  bool apart = false;
  bool of_codec = false;  // an exchange's, which means nothing without a codec
};

/// What an update rule needs of its exchange.
enum class ExchangeNeed : std::uint8_t {
  kAny,
  kNeighbors,  // averages with neighbors
  kMean,       // the sum over all ranks
  kShards      // that sum, of which each rank has its shard first
};

/// What `paceline list` prints of a row.
struct RowInfo {
  std::string_view name{};
  std::string_view summary{};
  std::string_view paper{};
  Guarantee guarantee = Guarantee::kNeutral;
  std::span<const OptionInfo> options{};

  // For docs/strategies.md; empty where there is nothing to say.  S: bytes of the model, P ranks, L
  // a host, H hosts, W workers, s a server's share.
  std::string_view phases{};
  std::string_view rounds{};
  std::string_view bytes{};  // sent by a rank in a step
  std::string_view file{};   // empty: <name>.cc

  /// The row of the next axis that is taken where none is named: a schedule's exchange, an
  /// exchange's update rule.  Empty: the first of its table.
  std::string_view partner{};

  /// An exchange: the schedule that is taken where none is named.  Empty: the first of its table.
  std::string_view schedule{};

  /// An exchange: averages parameters with neighbors.  An update rule: parameters cross, not
  /// gradients.
  bool parameters = false;

  /// An exchange: sums in two halves, between which each rank has a shard.
  bool shards = false;

  /// An update rule: what it needs, and why, as a predicate.
  ExchangeNeed need = ExchangeNeed::kAny;
  std::string_view because{};

  /// An exchange: takes only values that it has prepared before the update.  An update rule: lets
  /// it do so.
  bool prepared = false;

  /// An exchange: averages what has arrived, which may be late.  An update rule: may be given such
  /// averages.
  bool late = false;

  /// An update rule that sends parameters: may be given averages of which a codec has carried the
  /// changes.
  bool coded = false;
};

/// KEY=VALUE, as written.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

/// A row's options, every key resolved, in the row's order.
class Options {
 public:
  Options() = default;
  explicit Options(std::vector<std::pair<std::string_view, std::string>> values)
      : values_(std::move(values)) {}

  /// A missing key is a bug.
  const std::string& text(std::string_view key) const;

  /// Null where the row has no such key.
  const std::string* find(std::string_view key) const;

  void erase(std::string_view key);

  /// MiB as PyTorch counts them, in whole bytes, rounded down.
  std::int64_t bytes_of_mebibytes(std::string_view key) const;

  std::int64_t count(std::string_view key) const;

  double number(std::string_view key) const;

  const std::vector<std::pair<std::string_view, std::string>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string_view, std::string>> values_;
};

template <class Part>
struct Row : RowInfo {
  std::unique_ptr<Part> (*make)(const Options&) = nullptr;  // none: external

  /// An exchange of parameters of which a codec carries the changes: made in place of the other.
  /// None: it has no such form.
  std::unique_ptr<Part> (*make_coded)(const Options&, std::unique_ptr<CodecRule>) = nullptr;
};

/// The tables, in the order `paceline list` prints them; the first row of an axis is its default.
std::span<const Row<ScheduleRule>> schedules();
std::span<const Row<ExchangeRule>> exchanges();
std::span<const Row<CodecRule>> codecs();
std::span<const Row<UpdateRule>> update_rules();
std::span<const Row<Planner>> whole_strategies();

struct AxisInfo {
  std::string_view name;  // schedule, exchange, codec, update, whole
  std::vector<RowInfo> rows;
};

/// All of the above, for printing.
std::vector<AxisInfo> strategy_axes();

/// What options are when the text does not say.
struct StrategyDefaults {
  double bucket_mb = 25;  // --bucket-mb
};

/// Every key of the row with its given or default value, numbers normalized. Throws UsageError.
Options resolve(const RowInfo& row, const OptionTexts& given, const StrategyDefaults& defaults);

/// "name:key=value,...", without the values that RowInfo leaves implied.
std::string choice_text(const RowInfo& row, const Options& options);

template <class Part>
struct Choice {
  const Row<Part>* row = nullptr;
  Options options;
};

/// A parsed strategy: either a whole one or four parts.
struct StrategySpec {
  Choice<Planner> whole;
  Choice<ScheduleRule> schedule;
  Choice<ExchangeRule> exchange;
  Choice<CodecRule> codec;
  Choice<UpdateRule> update;

  /// Performed by a command outside Paceline; has no planner.
  bool external() const;

  /// Guarantee of the first part that has one.  A rule that gives all ranks the same every H-th
  /// step does so by a mean over all of them: over an exchange with neighbors, or in parts that
  /// cross at different steps, consensus is left.
  Guarantee guarantee() const;

  /// Whether these are parts of it, "NAME:KEY=VALUE+NAME", with these options as text() has them.
  /// A key that a part does not have is a bug.
  bool has(std::string_view parts) const;

  /// This strategy without its codec: values cross as they are.
  StrategySpec without_codec() const;

  /// The value of the first option of this name; null: no part has it.
  const std::string* find_option(std::string_view key) const;

  /// text() without these options of the schedule or whole word, as what strategies have in common
  /// that differ in them.
  std::string text_without(std::initializer_list<std::string_view> keys) const;

  /// Canonical text: the schedule or whole word with all its options, the
  /// other parts where they are not the default.  Parses to an equal spec.
  std::string text() const;
};

/// Throws UsageError that lists the known names, or keys, or says the rule
/// that forbids the combination.
StrategySpec parse_strategy(std::string_view text, const StrategyDefaults& defaults = {});

/// The strategy that a configuration or a request names, with its bucket size.
template <class Job>
StrategySpec strategy_of(const Job& job) {
  return parse_strategy(job.strategy, {.bucket_mb = job.bucket_mb});
}

/// Rejects combinations of parts that the mathematics forbids: throws UsageError, which says the
/// rule and what to take.
void check_combination(const StrategySpec& spec);

/// Whether its planner decides by a profile and an alpha-beta model.
bool needs_times(const StrategySpec& spec);

/// Whether the codec carries parameters, not gradients.
bool codes_parameters(const StrategySpec& spec);

/// Whether its update rule divides by the learning rate.
bool divides_by_rate(const StrategySpec& spec);

/// The exchange, with its codec where that carries parameters.
std::unique_ptr<ExchangeRule> make_exchange(const StrategySpec& spec);

/// Throws UsageError for an external strategy.
std::unique_ptr<Planner> make_planner(const StrategySpec& spec);

/// A planner made of four parts, none of which knows another; messages have its name.
std::unique_ptr<Planner> make_composed(std::string name, std::unique_ptr<ScheduleRule> schedule,
                                       std::unique_ptr<ExchangeRule> exchange,
                                       std::unique_ptr<CodecRule> codec,
                                       std::unique_ptr<UpdateRule> update);

}  // namespace paceline::strategies
