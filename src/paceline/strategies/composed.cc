// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/composed.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

Picoseconds time_of(const PlanInput& input,
                    const ExchangeRule& exchange,
                    std::int64_t bytes) {
  if (input.world == 1 || bytes == 0) {
    return 0;
  }
  if (!input.alpha_beta.has_value()) {
    throw UsageError(fmt::format(
        "the strategy decides by the times of exchanges among {} ranks, and "
        "the plan was given no alpha-beta model of them",
        input.world));
  }
  return exchange.time(*input.alpha_beta, bytes);
}

/// Both must outlive it.
CrossingTime crossing_time(const PlanInput& input,
                           const ExchangeRule& exchange) {
  const auto alone = [&input, &exchange](std::int64_t bytes) {
    return time_of(input, exchange, bytes);
  };
  if (!input.alpha_beta || input.alpha_beta->side_by_side == 1) {
    return alone;
  }
  return {alone,
          [starts = start_ups_of(*input.alpha_beta), &exchange](
              std::int64_t bytes) { return exchange.time(starts, bytes); },
          input.alpha_beta->side_by_side};
}

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
    const Groups groups = groups_of(input);
    Frame frame(input, groups, exchange_->terms(input).shards);
    const Discipline discipline = schedule_->discipline();
    frame.set_discipline(discipline.order, discipline.credit_bytes);
    codec_->extend(input, frame);
    exchange_->extend(input,
                      units_of(frame.setup(), groups),
                      codec_->wire_type(input),
                      frame);
    return std::move(frame).finish();
  }

  /// The step within the common period of exchange and update rule.
  Variant variant(const PlanInput& input, Step step) const override {
    return step % std::lcm(exchange_->terms(input).period, update_->period());
  }

  CommPlan plan(const PlanInput& input,
                const Setup& setup,
                Variant variant) const override {
    const auto units = units_of(setup, groups_of(input));
    const Terms terms = exchange_->terms(input);
    Program program(input,
                    setup,
                    {.units = units,
                     .trains = terms.trains,
                     .shards = terms.shards,
                     .phase = static_cast<Step>(variant)});
    Score score(program, *update_, {*exchange_, *codec_});
    schedule_->write(units, score);
    score.finish();
    return std::move(program).finish();
  }

  Symmetry symmetry(const PlanInput& input) const override {
    return exchange_->terms(input).symmetry;
  }

  std::string remark(const PlanInput& input) const override {
    return input.world == 1
               ? ""
               : schedule_->remark(input, crossing_time(input, *exchange_));
  }

 private:
  /// A world of one has nothing to cut for.
  Groups groups_of(const PlanInput& input) const {
    return input.world == 1 && schedule_->needs_times()
               ? one_group(input.model)
               : schedule_->groups(input, crossing_time(input, *exchange_));
  }

  std::unique_ptr<ScheduleRule> schedule_;
  std::unique_ptr<ExchangeRule> exchange_;
  std::unique_ptr<CodecRule> codec_;
  std::unique_ptr<UpdateRule> update_;
};

}  // namespace

void Score::give(const Unit& unit, std::int32_t priority) {
  const OpIndex first = program_.size();
  update_.give(unit, crossing_, program_);
  program_.set_priority(first, priority);
}

void Score::take(const Unit& unit, std::int32_t priority) {
  const OpIndex first = program_.size();
  update_.take(unit, crossing_, program_);
  program_.set_priority(first, priority);
}

void Score::apply(const Unit& unit, std::int32_t priority) {
  if (program_.input().loss_scaling) {
    waiting_.push_back({unit, priority});
    return;
  }
  const OpIndex first = program_.size();
  update_.apply(unit, crossing_, program_);
  program_.set_priority(first, priority);
}

void Score::synchronize(const std::vector<Unit>& units) {
  for (const Unit& unit : units) {
    give(unit);
    take(unit);
    apply(unit);
  }
}

void Score::finish() {
  program_.judge_gradients();
  for (const auto& [unit, priority] : waiting_) {
    const OpIndex first = program_.size();
    update_.apply(unit, crossing_, program_);
    program_.set_priority(first, priority);
  }
}

void take_mean(const Unit& unit, const Crossing& crossing, Program& program) {
  const double divisor = crossing.exchange.terms(program.input()).divisor;
  if (divisor != 1 && program.trains()) {
    program.kernel("copy", {{unit.values}}, {{unit.values}}, {1 / divisor});
  }
}

CrossingTime Score::crossing_time() const {
  return strategies::crossing_time(program_.input(), crossing_.exchange);
}

Groups single_groups(const ModelShape& model) {
  Groups groups;
  for (const ParameterId id : model.ready_order) {
    groups.push_back({id});
  }
  return groups;
}

Groups module_groups(const ModelShape& model) {
  const auto module_of = [&](ParameterId id) {
    return model.parameters[index_of(id)].module;
  };
  Groups groups;
  for (const ParameterId id : model.ready_order) {
    if (groups.empty() || module_of(groups.back().back()) != module_of(id)) {
      groups.emplace_back();
    }
    groups.back().push_back(id);
  }
  return groups;
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

std::vector<FirstRead> by_first_read(const ModelShape& model,
                                     const std::vector<Unit>& units) {
  std::vector<FirstRead> order;
  for (std::size_t i = 0; i < units.size(); ++i) {
    auto first = static_cast<std::int32_t>(model.modules.size());
    for (const ParameterId id : units[i].parameters) {
      first = std::min(
          first,
          static_cast<std::int32_t>(model.parameters[index_of(id)].module));
    }
    order.push_back({i, first});
  }
  std::ranges::stable_sort(order, {}, &FirstRead::module);
  return order;
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

}  // namespace paceline::strategies
