// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "paceline/strategies/buckets.h"
#include "paceline/strategies/rules.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

class ComposedPlanner final : public Planner {
 public:
  ComposedPlanner(std::string name, std::unique_ptr<ScheduleRule> schedule,
                  std::unique_ptr<ExchangeRule> exchange, std::unique_ptr<CodecRule> codec,
                  std::unique_ptr<UpdateRule> update)
      : name_(std::move(name)),
        schedule_(std::move(schedule)),
        exchange_(std::move(exchange)),
        codec_(std::move(codec)),
        update_(std::move(update)) {}

  Setup setup(const PlanInput& input) const override {
    check_shape(input);
    const Groups groups = groups_of(input);
    SetupBuilder builder(input, groups, exchange_->traits(input).shards);
    const IssuePolicy issue_policy = schedule_->issue_policy();
    builder.set_issue_policy(issue_policy.order, issue_policy.credit_bytes);
    if (input.world > 1) {
      codec_->extend_setup(input, builder);
      codec_->add_gathered(builder);
      exchange_->extend_setup(codec_->format(input), builder);
    }
    update_->extend_setup(*exchange_, builder);
    return std::move(builder).finish();
  }

  /// The variant combines the number of the exchange within its period with the update rule's
  /// variant.
  Variant variant(const PlanInput& input, Step step) const override {
    const Step phase = update_->exchange_number_in(step) % exchange_->traits(input).period;
    return phase * update_->variants() + update_->variant(step);
  }

  Step period(const PlanInput& input) const override {
    return update_->interval() * exchange_->traits(input).period;
  }

  CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const override {
    const auto buckets = buckets_of(setup, groups_of(input));
    const ExchangeTraits traits = exchange_->traits(input);
    StrategyProgram program(input, setup,
                            {.buckets = buckets,
                             .trains = input.rank < traits.training_ranks,
                             .shards = traits.shards,
                             .phase = static_cast<Step>(variant / update_->variants()),
                             .turn = variant % update_->variants(),
                             .strategy = name_},
                            {*exchange_, *codec_});
    PlanWriter writer(program, *update_);
    schedule_->write(writer);
    writer.apply_delayed_updates();
    return std::move(program).finish();
  }

  Rank training_ranks(const PlanInput& input) const override {
    return std::min(input.world, exchange_->traits(input).training_ranks);
  }

  Symmetry symmetry(const PlanInput& input) const override {
    // Exchanges by pairs have no symmetry: no reordering of the ranks leaves the plans unchanged.
    return codec_->format(input).combination == Combination::kPairs && input.world > 1
               ? Symmetry{}
               : update_->symmetry(exchange_->traits(input));
  }

  std::string remark(const PlanInput& input) const override {
    return input.world == 1 ? "" : schedule_->remark(input, times(input));
  }

 private:
  /// The predicted transfer times.  They are all zero if the schedule does not need them: to know
  /// how many bytes the codec sends, a program would have to be built.
  TransferTime times(const PlanInput& input) const {
    if (!schedule_->needs_times()) {
      return [](std::int64_t) { return Picoseconds{0}; };
    }
    return transfer_time(input, {*exchange_, *codec_});
  }

  /// Returns the schedule's buckets. With one rank nothing is exchanged, so a schedule that chooses
  /// buckets by transfer times makes one bucket.
  Groups groups_of(const PlanInput& input) const {
    return input.world == 1 && schedule_->needs_times() ? one_group(input.model)
                                                        : schedule_->groups(input, times(input));
  }

  std::string name_;
  std::unique_ptr<ScheduleRule> schedule_;
  std::unique_ptr<ExchangeRule> exchange_;
  std::unique_ptr<CodecRule> codec_;
  std::unique_ptr<UpdateRule> update_;
};

}  // namespace

std::unique_ptr<Planner> make_composed(std::string name, std::unique_ptr<ScheduleRule> schedule,
                                       std::unique_ptr<ExchangeRule> exchange,
                                       std::unique_ptr<CodecRule> codec,
                                       std::unique_ptr<UpdateRule> update) {
  return std::make_unique<ComposedPlanner>(std::move(name), std::move(schedule),
                                           std::move(exchange), std::move(codec),
                                           std::move(update));
}

}  // namespace paceline::strategies
