// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/composed.h"

#include <algorithm>
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
TransferTime transfer_time(const PlanInput& input,
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
    SetupBuilder builder(input, groups, exchange_->traits(input).shards);
    const IssuePolicy issue_policy = schedule_->issue_policy();
    builder.set_issue_policy(issue_policy.order, issue_policy.credit_bytes);
    const auto buckets = buckets_of(builder.setup(), groups);
    if (input.world > 1) {
      codec_->extend(input, buckets, builder);
      exchange_->extend(input, buckets, codec_->format(input), builder);
    }
    update_->extend(input, *exchange_, buckets, builder);
    return std::move(builder).finish();
  }

  /// The step within the period of the exchange, and for each the variants of
  /// the update rule.
  Variant variant(const PlanInput& input, Step step) const override {
    return step % exchange_->traits(input).period * update_->variants() +
           update_->variant(step);
  }

  CommPlan plan(const PlanInput& input,
                const Setup& setup,
                Variant variant) const override {
    const auto buckets = buckets_of(setup, groups_of(input));
    const ExchangeTraits traits = exchange_->traits(input);
    Program program(input,
                    setup,
                    {.buckets = buckets,
                     .trains = input.rank < traits.training_ranks,
                     .shards = traits.shards,
                     .phase = static_cast<Step>(variant / update_->variants()),
                     .turn = variant % update_->variants()});
    PlanWriter writer(program, *update_, {*exchange_, *codec_});
    schedule_->write(buckets, writer);
    writer.apply_waiting();
    return std::move(program).finish();
  }

  Rank training_ranks(const PlanInput& input) const override {
    return std::min(input.world, exchange_->traits(input).training_ranks);
  }

  Symmetry symmetry(const PlanInput& input) const override {
    // Pairs are no ring, and no order of ranks is like another.
    return codec_->combination() == Combination::kPairs && input.world > 1
               ? Symmetry{}
               : exchange_->traits(input).symmetry;
  }

  std::string remark(const PlanInput& input) const override {
    return input.world == 1
               ? ""
               : schedule_->remark(input, transfer_time(input, *exchange_));
  }

 private:
  /// A world of one has nothing to cut for.
  Groups groups_of(const PlanInput& input) const {
    return input.world == 1 && schedule_->needs_times()
               ? one_group(input.model)
               : schedule_->groups(input, transfer_time(input, *exchange_));
  }

  std::unique_ptr<ScheduleRule> schedule_;
  std::unique_ptr<ExchangeRule> exchange_;
  std::unique_ptr<CodecRule> codec_;
  std::unique_ptr<UpdateRule> update_;
};

}  // namespace

void UpdateRule::compute(const std::vector<Bucket>&,
                         const Transfer&,
                         Program& program) const {
  program.compute();
}

void PlanWriter::start(const Bucket& bucket, std::int32_t priority) {
  const OpIndex first = program_.size();
  update_.start(bucket, transfer_, program_);
  program_.set_priority(first, priority);
}

void PlanWriter::finish(const Bucket& bucket, std::int32_t priority) {
  const OpIndex first = program_.size();
  update_.finish(bucket, transfer_, program_);
  program_.set_priority(first, priority);
}

void PlanWriter::apply(const Bucket& bucket, std::int32_t priority) {
  if (program_.input().loss_scaling) {
    waiting_.push_back({bucket, priority});
    return;
  }
  const OpIndex first = program_.size();
  update_.apply(bucket, transfer_, program_);
  program_.set_priority(first, priority);
}

void PlanWriter::synchronize(const std::vector<Bucket>& buckets) {
  for (const Bucket& bucket : buckets) {
    start(bucket);
    finish(bucket);
    apply(bucket);
  }
}

void PlanWriter::apply_waiting() {
  program_.judge_gradients();
  for (const auto& [bucket, priority] : waiting_) {
    const OpIndex first = program_.size();
    update_.apply(bucket, transfer_, program_);
    program_.set_priority(first, priority);
  }
}

std::vector<Slice> tensors_in(const Slice& slice, const Program& program) {
  std::vector<Slice> tensors;
  for (const ParameterId id :
       program.buckets()[program.bucket_at(slice.begin)].parameters) {
    const Slice& tensor = program.setup().parameters[index_of(id)].value;
    const Elements begin = std::max(slice.begin, tensor.begin);
    const Elements end =
        std::min(slice.begin + slice.count, tensor.begin + tensor.count);
    if (begin < end) {
      tensors.push_back({slice.buffer, begin, end - begin});
    }
  }
  return tensors;
}

void append_mean(const Slice& slice,
                 const Transfer& transfer,
                 Program& program) {
  const double divisor = transfer.divisor(program.input());
  if (divisor != 1 && program.trains()) {
    program.kernel("copy", {{slice}}, {{slice}}, {1 / divisor});
  }
}

std::vector<Bucket> buckets_in(const Bucket& bucket, const Program& program) {
  std::vector<Bucket> found;
  for (const Bucket& one : program.buckets()) {
    if (one.values.begin >= bucket.values.begin &&
        one.values.begin + one.values.count <=
            bucket.values.begin + bucket.values.count) {
      found.push_back(one);
    }
  }
  return found;
}

void refuse_loss_scaling(std::string_view rule, const PlanInput& input) {
  if (input.loss_scaling) {
    throw UsageError(fmt::format(
        "{} updates before the last gradient is known, so the loss cannot be "
        "scaled; take --dtype fp32 or bf16, or the update rule awc",
        rule));
  }
}

void Transfer::start(const Slice& slice, Program& program) const {
  const int rounds = codec.rounds(program.input());
  for (int round = 0; program.input().world > 1 && round < rounds; ++round) {
    if (program.trains()) {
      codec.encode(slice, round, program);
    }
    const auto crossings = codec.crossings(slice, round, program);
    for (const Crossing& crossing : crossings) {
      exchange.start(crossing, program);
    }
    for (const Crossing& crossing : crossings) {
      if (round + 1 < rounds) {
        exchange.finish(crossing, program);
      }
    }
  }
}

void Transfer::finish(const Slice& slice, Program& program) const {
  if (program.input().world == 1) {
    return;
  }
  const int last = codec.rounds(program.input()) - 1;
  for (const Crossing& crossing : codec.crossings(slice, last, program)) {
    exchange.finish(crossing, program);
  }
  if (program.trains()) {
    codec.decode(slice, program);
  }
}

double Transfer::divisor(const PlanInput& input) const {
  return codec.format(input).summed || input.world == 1
             ? exchange.traits(input).divisor
             : 1;
}

TransferTime PlanWriter::transfer_time() const {
  return strategies::transfer_time(program_.input(), transfer_.exchange);
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

Bucket join(const std::vector<Bucket>& buckets) {
  PACELINE_CHECK(!buckets.empty());
  Bucket all = buckets.front();
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    const Bucket& bucket = buckets[i];
    PACELINE_CHECK_EQ(all.values.begin + all.values.count, bucket.values.begin);
    all.parameters.insert(all.parameters.end(),
                          bucket.parameters.begin(),
                          bucket.parameters.end());
    all.values.count += bucket.values.count;
    all.gradients.count += bucket.gradients.count;
  }
  return all;
}

std::vector<FirstRead> by_first_read(const ModelShape& model,
                                     const std::vector<Bucket>& buckets) {
  std::vector<FirstRead> order;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    auto first = static_cast<std::int32_t>(model.modules.size());
    for (const ParameterId id : buckets[i].parameters) {
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
