// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/composed.h"

#include <utility>

#include "paceline/base/error.h"

namespace paceline::plan {
namespace {

class Composed final : public Planner {
 public:
  Composed(std::unique_ptr<ScheduleRule> schedule,
           std::unique_ptr<ExchangeRule> exchange,
           std::unique_ptr<CodecRule> codec,
           std::unique_ptr<UpdateRule> update)
      : schedule_(std::move(schedule)),
        exchange_(std::move(exchange)),
        codec_(std::move(codec)),
        update_(std::move(update)) {}

  Setup setup(const PlanInput& input) const override {
    check_shape(input);
    Frame frame(input, schedule_->groups(input), exchange_->shards(input));
    exchange_->extend(input, frame);
    codec_->extend(input, frame);
    return std::move(frame).finish();
  }

  Variant variant(const PlanInput&, Step) const override { return 0; }

  CommPlan plan(const PlanInput& input,
                const Setup& setup,
                Variant) const override {
    Program program(input, setup);
    Score score(program, *update_, {*exchange_, *codec_});
    schedule_->write(units_of(setup, schedule_->groups(input)), score);
    score.finish();
    return std::move(program).finish();
  }

  Rank stand_in(const PlanInput& input) const override {
    return exchange_->stand_in(input);
  }

 private:
  std::unique_ptr<ScheduleRule> schedule_;
  std::unique_ptr<ExchangeRule> exchange_;
  std::unique_ptr<CodecRule> codec_;
  std::unique_ptr<UpdateRule> update_;
};

}  // namespace

void Score::apply(const Unit& unit) {
  if (program_.input().loss_scaling) {
    waiting_.push_back(unit);
  } else {
    update_.apply(unit, crossing_, program_);
  }
}

void Score::finish() {
  program_.judge_gradients();
  for (const Unit& unit : waiting_) {
    update_.apply(unit, crossing_, program_);
  }
}

Unit join(const std::vector<Unit>& units) {
  PACELINE_CHECK(!units.empty());
  Unit all = units.front();
  for (std::size_t i = 1; i < units.size(); ++i) {
    const Unit& unit = units[i];
    PACELINE_CHECK_EQ(all.values.begin + all.values.count, unit.values.begin);
    all.parameters.insert(
        all.parameters.end(), unit.parameters.begin(), unit.parameters.end());
    all.values.count += unit.values.count;
    all.gradients.count += unit.gradients.count;
  }
  return all;
}

std::unique_ptr<Planner> make_composed(std::unique_ptr<ScheduleRule> schedule,
                                       std::unique_ptr<ExchangeRule> exchange,
                                       std::unique_ptr<CodecRule> codec,
                                       std::unique_ptr<UpdateRule> update) {
  return std::make_unique<Composed>(std::move(schedule),
                                    std::move(exchange),
                                    std::move(codec),
                                    std::move(update));
}

}  // namespace paceline::plan
