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

// Parses strategies by name.  A name is SCHEDULE+EXCHANGE+CODEC+UPDATE, where each part is NAME or
// NAME:KEY=VALUE,KEY=VALUE and an omitted part takes its default, or one whole strategy (none, ddp,
// python-ddp, ...) with options likewise.  `_` is read as `-`.

namespace paceline::strategies {

class ScheduleRule;
class ExchangeRule;
class CodecRule;
class UpdateRule;

/// What a strategy guarantees for the ranks' parameters after a step.
enum class Guarantee : std::uint8_t {
  kExact,       // the parameters of one rank that trained on the whole batch
  kRounded,     // as kExact, except for rounding on the wire; equal on all ranks
  kCompressed,  // equal on all ranks; gradients are sent in part
  kPeriodic,    // equal on all ranks after every H-th step only
  kConsensus,   // ranks agree in the limit only
  kLocal,       // nothing: the ranks' parameters drift apart
  kNeutral      // the guarantee is that of the strategy's other parts
};

/// The largest size that a strategy option may have, in MiB.
inline constexpr double kMostMebibytes = 1e6;

/// The kind of value that an option has; it determines how its text is parsed.
enum class OptionKind : std::uint8_t {
  kMebibytes,
  kCount,     // an integer of at least 0
  kFraction,  // a number above 0 and at most 1
  kNumber,    // a number from 0 to 1000
  kMomentum,  // a number of at least 0 and below 1
  kWord,      // one of OptionInfo::words
  kTopology   // the text of a TopologyChoice
};

struct OptionInfo {
  std::string_view key;
  /// The default: a value, another key of the row (whose value is used), or "--bucket-mb".
  std::string_view fallback;
  std::string_view summary;
  OptionKind kind = OptionKind::kMebibytes;
  std::span<const std::string_view> words{};
  /// If true, the strategy's text omits the option when it has its default. Records made before the
  /// option existed therefore keep the same key.
  bool implied = false;
  bool positive = false;  // the option is a number, and 0 is rejected
  /// If true, any value other than the default makes the ranks' parameters unequal after every
  /// step.
  bool apart = false;
  bool of_codec = false;  // an option of an exchange that has an effect only with a codec
};

/// What an update rule requires of the exchange with which it is combined.
enum class ExchangeNeed : std::uint8_t {
  kAny,
  kNeighbors,  // an average with neighbors
  kMean,       // the sum over all ranks
  kShards      // that sum, and each rank has its shard of it first
};

/// The properties of a table row, as `paceline list` prints them.
struct RowInfo {
  std::string_view name{};
  std::string_view summary{};
  std::string_view paper{};
  Guarantee guarantee = Guarantee::kNeutral;
  std::span<const OptionInfo> options{};

  /// The source file, whose comment has the cost: rounds, bytes sent and memory.  Empty: <name>.cc.
  std::string_view file{};

  /// The default row of the next axis: the exchange of a schedule, or the update rule of an
  /// exchange.  Empty: the first row of its table.
  std::string_view partner{};

  /// For an exchange: the default schedule.  Empty: the first row of its table.
  std::string_view schedule{};

  /// Of an exchange: whether it averages parameters with neighbors. Of an update rule: whether it
  /// exchanges parameters instead of gradients.
  bool parameters = false;

  /// Only for an exchange: whether it sums in two halves, between which each rank has its shard of
  /// the sum.
  bool shards = false;

  /// Only for an update rule: what it needs of its exchange (`need`), and the reason as a clause of
  /// the error message (`because`).
  ExchangeNeed need = ExchangeNeed::kAny;
  std::string_view because{};

  /// Of an exchange: whether the values it sends must first be changed by prepare(). Of an update
  /// rule: whether it calls prepare() before the update.
  bool prepared = false;

  /// Of an exchange: whether it averages whatever values have arrived, which may be old. Of an
  /// update rule: whether it accepts such averages.
  bool late = false;

  /// Only for an update rule that sends parameters: whether it accepts averages in which a codec
  /// compresses the changes of the parameters.
  bool accepts_codec = false;
};

/// The options of a part as KEY=VALUE pairs, as the user wrote them.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

/// The options of a row with all defaults filled in, in the row's order.
class Options {
 public:
  Options() = default;
  explicit Options(std::vector<std::pair<std::string_view, std::string>> values)
      : values_(std::move(values)) {}

  /// The value of `key`, which must exist.
  const std::string& text(std::string_view key) const;

  /// The value of `key`; null if the row has no such key.
  const std::string* find(std::string_view key) const;

  void erase(std::string_view key);

  /// The value in MiB (2^20 bytes, as in PyTorch) in whole bytes, rounded down.
  std::int64_t bytes_of_mebibytes(std::string_view key) const;

  std::int64_t count(std::string_view key) const;

  double number(std::string_view key) const;

  const std::vector<std::pair<std::string_view, std::string>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string_view, std::string>> values_;
};

template <class Part>
struct Row : RowInfo {
  std::unique_ptr<Part> (*make)(const Options&) = nullptr;  // null: an external program trains,
                                                            // without a planner

  /// Makes an exchange of parameters in which a codec compresses the changes.  Null: the row has no
  /// such variant.
  std::unique_ptr<Part> (*make_coded)(const Options&, std::unique_ptr<CodecRule>) = nullptr;
};

/// The tables, in the order in which `paceline list` prints them.  The first row of an axis is its
/// default.
std::span<const Row<ScheduleRule>> schedules();
std::span<const Row<ExchangeRule>> exchanges();
std::span<const Row<CodecRule>> codecs();
std::span<const Row<UpdateRule>> update_rules();
std::span<const Row<Planner>> whole_strategies();

struct AxisInfo {
  std::string_view name;  // schedule, exchange, codec, update or whole
  std::vector<RowInfo> rows;
};

/// Returns the rows of all tables by axis, for `paceline list` and the documentation.
std::vector<AxisInfo> strategy_axes();

/// Defaults of options that come from other flags, not from the tables.
struct StrategyDefaults {
  double bucket_mb = 25;  // in MiB, from --bucket-mb
};

/// Returns every key of the row with its given or default value, numbers in canonical form.  Throws
/// UsageError for an unknown key or an invalid value.
Options resolve(const RowInfo& row, const OptionTexts& given, const StrategyDefaults& defaults);

/// Returns "name:key=value,...", without implied options that have their default.
std::string choice_text(const RowInfo& row, const Options& options);

template <class Part>
struct Choice {
  const Row<Part>* row = nullptr;
  Options options;
};

/// A parsed strategy, which is either a whole strategy or four parts.
struct StrategySpec {
  Choice<Planner> whole;
  Choice<ScheduleRule> schedule;
  Choice<ExchangeRule> exchange;
  Choice<CodecRule> codec;
  Choice<UpdateRule> update;

  /// Whether an external program trains in place of Paceline, so that the strategy has no planner.
  bool external() const;

  /// The guarantee of the first part that has one.  A periodic update rule makes all ranks equal
  /// through a mean over all of them; over an exchange with neighbors, or if parts of the model are
  /// exchanged in different steps, its guarantee is kConsensus.
  Guarantee guarantee() const;

  /// Whether all of `parts`, "NAME:KEY=VALUE+NAME", are parts of the strategy, with option values
  /// as text() writes them.  A key that a part does not have is a bug.
  bool has(std::string_view parts) const;

  /// This strategy without its codec, so that values are sent unchanged.
  StrategySpec without_codec() const;

  /// The value of the first option of this name; null if no part has it.
  const std::string* find_option(std::string_view key) const;

  /// text() without these options of the schedule or the whole strategy, to group strategies that
  /// differ in them only.
  std::string text_without(std::initializer_list<std::string_view> keys) const;

  /// The canonical text: the schedule or the whole strategy with all its options, and the other
  /// parts where they are not the default.  It parses to an equal spec.
  std::string text() const;
};

/// Parses a strategy.  Throws UsageError that lists the known names or keys, or states the rule
/// that forbids the combination.
StrategySpec parse_strategy(std::string_view text, const StrategyDefaults& defaults = {});

/// Parses the strategy of a configuration or a request, with its bucket size.
template <class Job>
StrategySpec strategy_of(const Job& job) {
  return parse_strategy(job.strategy, {.bucket_mb = job.bucket_mb});
}

/// Throws UsageError, which states the rule and what to use instead, for combinations of parts that
/// the mathematics forbids.
void check_combination(const StrategySpec& spec);

/// Whether the strategy's planner needs a profile and an alpha-beta model.
bool needs_times(const StrategySpec& spec);

/// Whether the strategy's codec compresses parameters; otherwise it compresses gradients.
bool compresses_parameters(const StrategySpec& spec);

/// Whether the strategy's update rule divides by the learning rate.
bool divides_by_rate(const StrategySpec& spec);

/// Makes the exchange, including its codec if that compresses parameters.
std::unique_ptr<ExchangeRule> make_exchange(const StrategySpec& spec);

/// Makes the planner.  Throws UsageError for an external strategy.
std::unique_ptr<Planner> make_planner(const StrategySpec& spec);

/// Makes a planner of four parts that do not depend on each other.  Messages call it `name`.
std::unique_ptr<Planner> make_composed(std::string name, std::unique_ptr<ScheduleRule> schedule,
                                       std::unique_ptr<ExchangeRule> exchange,
                                       std::unique_ptr<CodecRule> codec,
                                       std::unique_ptr<UpdateRule> update);

}  // namespace paceline::strategies
