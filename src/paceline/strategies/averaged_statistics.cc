// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/averaged_statistics.h"

#include <numeric>
#include <string>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/plan/program.h"

namespace paceline::strategies {
namespace {

class AveragedStatistics final : public Planner {
 public:
  AveragedStatistics(std::vector<Elements> elements, DType type, Step every,
                     std::unique_ptr<Planner> parameters)
      : elements_(std::move(elements)),
        type_(type),
        every_(every),
        parameters_(std::move(parameters)) {
    PACELINE_CHECK(every_ >= 1 && every_ <= kLongestStatisticsInterval);
  }

  Setup setup(const PlanInput& input) const override {
    Setup setup = parameters_->setup(input);
    const auto id = static_cast<BufferId>(setup.buffers.size());
    Elements begin = 0;
    for (const Elements count : elements_) {
      setup.statistics.push_back({id, begin, count});
      begin += count;
    }
    setup.buffers.push_back({.name = std::string(kStatistics), .dtype = type_, .elements = begin});
    if (training_ranks(input) > 1) {
      setup.communicators.push_back(
          {.name = std::string(kStatistics), .members = Members::spaced(0, training_ranks(input))});
    }
    return setup;
  }

  // The variant is twice that of the other planner, plus 1 in a step that averages the statistics.
  Variant variant(const PlanInput& input, Step step) const override {
    return 2 * parameters_->variant(input, step) + ((step + 1) % every_ == 0 ? 1 : 0);
  }

  Step period(const PlanInput& input) const override { return every_ * parameters_->period(input); }

  CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const override {
    CommPlan plan = parameters_->plan(input, setup, variant / 2);
    const Rank ranks = training_ranks(input);
    if (variant % 2 == 0 || ranks < 2 || input.rank >= ranks) {
      return plan;
    }
    Program program(input, setup);
    for (Op& op : plan.ops) {
      program.append(std::move(op));
    }
    const Slice all = whole(setup, kStatistics);
    program.all_reduce(all, communicator_named(setup, kStatistics));
    program.kernel("copy", {{all}}, {{all}}, {1.0 / ranks});
    return std::move(program).finish();
  }

  Rank training_ranks(const PlanInput& input) const override {
    return parameters_->training_ranks(input);
  }
  Symmetry symmetry(const PlanInput& input) const override { return parameters_->symmetry(input); }
  std::string remark(const PlanInput& input) const override { return parameters_->remark(input); }

 private:
  std::vector<Elements> elements_;
  DType type_;
  Step every_;
  std::unique_ptr<Planner> parameters_;
};

}  // namespace

std::unique_ptr<Planner> make_averaged_statistics(std::vector<Elements> elements, DType type,
                                                  Step every, std::unique_ptr<Planner> parameters) {
  return std::make_unique<AveragedStatistics>(std::move(elements), type, every,
                                              std::move(parameters));
}

}  // namespace paceline::strategies
