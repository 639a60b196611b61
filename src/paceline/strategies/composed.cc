// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/composed.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

/// One of the forms that cross of a slice: its bytes a byte of the slice.
struct Form {
  double share = 1;
  Combination how = Combination::kSum;
};

/// Those of the whole model; a bucket's are taken as its part of them.
std::vector<Form> forms_of(const CodecRule& codec, PlanInput input) {
  input.loss_scaling = false;
  const Groups groups = one_group(input.model);
  SetupBuilder builder(input, groups);
  const auto buckets = buckets_of(builder.setup(), groups);
  codec.extend(input, buckets, builder);
  const Program program(input, builder.setup(), {.buckets = buckets});
  const Slice& slice = buckets[0].gradients;
  const auto bytes_of = [&program](const Slice& one) {
    const Buffer& buffer = program.setup().buffers[index_of(one.buffer)];
    return static_cast<double>(one.count * size_of(buffer.dtype));
  };
  std::vector<Form> forms;
  for (int round = 0; round < codec.rounds(input); ++round) {
    for (const Crossing& crossing : codec.crossings(slice, round, program)) {
      forms.push_back({bytes_of(crossing.mine) / bytes_of(slice),
                       crossing.format.combination});
    }
  }
  return forms;
}

/// `exchange` must outlive it.
TransferTime::OfBytes time_on(const AlphaBeta& model,
                              const ExchangeRule& exchange,
                              const std::vector<Form>& forms) {
  return [model, &exchange, forms](std::int64_t bytes) {
    Picoseconds time = 0;
    for (const auto& [share, how] : forms) {
      const double crosses = std::ceil(share * static_cast<double>(bytes));
      time += exchange.time_of_forms(
          model, static_cast<std::int64_t>(crosses), how);
    }
    return time;
  };
}

/// `transfer` must outlive it.
TransferTime time_of(const PlanInput& input, const Transfer& transfer) {
  if (input.world == 1) {
    return [](std::int64_t) { return Picoseconds{0}; };
  }
  if (!input.alpha_beta) {
    return [world = input.world](std::int64_t) -> Picoseconds {
      throw UsageError(fmt::format(
          "the strategy decides by the times of exchanges among {} ranks, and "
          "the plan was given no alpha-beta model of them",
          world));
    };
  }
  const AlphaBeta& model = *input.alpha_beta;
  const ExchangeRule& exchange = transfer.exchange;
  const auto forms = forms_of(
      exchange.codec() == nullptr ? transfer.codec : *exchange.codec(), input);
  auto alone = time_on(model, exchange, forms);
  if (model.side_by_side == 1) {
    return alone;
  }
  return {std::move(alone),
          time_on(start_ups_of(model), exchange, forms),
          model.side_by_side};
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
      codec_->add_gathered(input, buckets, builder);
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
    return input.world == 1 ? "" : schedule_->remark(input, times(input));
  }

 private:
  Transfer transfer() const { return {*exchange_, *codec_}; }

  /// Zero where nobody asks: forms are found by a plan of their own.
  TransferTime times(const PlanInput& input) const {
    if (!schedule_->needs_times()) {
      return [](std::int64_t) { return Picoseconds{0}; };
    }
    return time_of(input, transfer());
  }

  /// A world of one has nothing to cut for.
  Groups groups_of(const PlanInput& input) const {
    return input.world == 1 && schedule_->needs_times()
               ? one_group(input.model)
               : schedule_->groups(input, times(input));
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
  if (program_.input().clip_norm > 0 && update_.updates_in_finish()) {
    waiting_.push_back({bucket, priority, true});
  } else {
    finish_now(bucket, priority);
  }
}

void PlanWriter::apply(const Bucket& bucket, std::int32_t priority) {
  if (program_.input().loss_scaling || program_.input().clip_norm > 0) {
    waiting_.push_back({bucket, priority});
  } else {
    apply_now(bucket, priority);
  }
}

void PlanWriter::finish_now(const Bucket& bucket, std::int32_t priority) {
  const OpIndex first = program_.size();
  update_.finish(bucket, transfer_, program_);
  program_.set_priority(first, priority);
}

void PlanWriter::apply_now(const Bucket& bucket, std::int32_t priority) {
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
  if (program_.input().clip_norm > 0) {
    std::vector<Bucket> finishing;
    for (const Waiting& one : waiting_) {
      if (one.finishes) {
        finishing.push_back(one.bucket);
      }
    }
    update_.clip(finishing, transfer_, program_);
  }
  for (const auto& [bucket, priority, finishes] : waiting_) {
    if (finishes) {
      finish_now(bucket, priority);
    } else {
      apply_now(bucket, priority);
    }
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

Slice range_in(std::string_view buffer,
               const Slice& slice,
               const Program& program) {
  return {buffer_named(program.setup(), buffer), slice.begin, slice.count};
}

Slice gathered_in(std::string_view buffer,
                  const Slice& mine,
                  const Program& program) {
  const auto all = find_buffer(program.setup(), buffer);
  const Elements world = program.input().world;
  return all ? Slice{*all, world * mine.begin, world * mine.count} : Slice{};
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

void refuse_clipping(std::string_view rule, const PlanInput& input) {
  if (input.clip_norm > 0) {
    throw UsageError(fmt::format(
        "{} makes of each bucket's gradients what it applies, so their norm "
        "is no bound of the step, and gradients cannot be clipped; leave "
        "--clip-norm out, or take the update rule exact-diffusion",
        rule));
  }
}

void CodecRule::decode(const Slice& slice, Program& program) const {
  std::vector<Slice> forms;
  for (const Crossing& crossing :
       crossings(slice, rounds(program.input()) - 1, program)) {
    const bool gathered = crossing.format.combination == Combination::kGather;
    forms.push_back(gathered ? crossing.all : crossing.mine);
  }
  decode_from(forms, slice, program);
}

void CodecRule::decode_from(const std::vector<Slice>&,
                            const Slice&,
                            Program&) const {
  PACELINE_CHECK(false);
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
  return time_of(program_.input(), transfer_);
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
