// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/ddp.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/buckets.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr auto kBuckets = "reducer_buckets";

/// Describes the ops that PyTorch's c10d::Reducer performs itself in a step. Nothing executes this
/// plan; it serves to predict costs and to compare the Reducer with other strategies.
///
/// The gradients of a bucket, divided by the world's size, are copied into memory of the Reducer,
/// and the bucket is summed over the ranks.  When backward has ended, the means are copied back;
/// with views the gradients are parts of the bucket, so nothing is copied back.  One update
/// follows.  With a static graph, the first step communicates after backward, and the buckets are
/// rebuilt one step later.
///
///   rounds per step            one all-reduce per bucket, all independent
///   bytes sent, rank and step  2(P-1)/P S, S = model size in bytes
///   extra memory, rank         S
///   guarantee                  exact: every rank has the same mean
///
/// Li et al., VLDB 2020, arXiv:2006.15704, sections 3 and 4.
class Ddp final : public Planner {
 public:
  explicit Ddp(const ReducerOptions& options) : options_(options) {}

  Setup setup(const PlanInput& input) const override {
    check_shape(input);
    if (options_.static_graph && input.micro_batches > 1) {
      throw UsageError(
          fmt::format("strategy 'ddp:static=yes': a static graph reduces in its first backward, "
                      "but with --accumulate {} that is not the last of its step",
                      input.micro_batches));
    }
    SetupBuilder builder(input, one_group(input.model));
    builder.add_buffer({.name = kBuckets,
                        .dtype = input.model.dtype,
                        .elements = input.model.elements(),
                        .performer = kReducer});
    builder.add_world_communicator(kGradientCommunicator);
    return std::move(builder).finish();
  }

  Variant variant(const PlanInput&, Step step) const override {
    return step > (options_.static_graph ? 1 : 0) ? 1 : 0;
  }

  CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const override {
    const Groups groups = reducer_buckets(input.model, options_.caps, variant);
    const CommunicatorId on = communicator_named(setup, kGradientCommunicator);
    Program program(input, setup);
    program.compute();
    std::vector<std::pair<ReducerBucket, OpIndex>> reduced;
    for (ReducerBucket& bucket : reducer_buckets_of(setup, groups)) {
      mark_as_reducer_op(
          program, program.kernel("copy", bucket.gradients, bucket.pieces, {1.0 / input.world}));
      const OpIndex op = program.all_reduce(bucket.all, on);
      mark_as_reducer_op(program, op);
      reduced.emplace_back(std::move(bucket), op);
    }
    for (const auto& [bucket, op] : reduced) {
      const OpIndex back = program.kernel(options_.gradient_as_bucket_view ? "view" : "copy",
                                          bucket.pieces, bucket.gradients, {1.0});
      mark_as_reducer_op(program, back);
      program.after(back, *program.last_backward());
    }
    program.check_gradients();
    program.update(buckets_of(setup, one_group(input.model)).front(), 1);
    return std::move(program).finish();
  }

  Symmetry symmetry(const PlanInput& input) const override {
    return symmetry_in_any_order(input.world);
  }

 private:
  struct ReducerBucket {
    Slice all;
    std::vector<Access> gradients{}, pieces{};  // gradients[i] is copied to pieces[i]
  };

  static void mark_as_reducer_op(Program& program, OpIndex op) {
    program.at(op).performer = kReducer;
  }

  static std::vector<ReducerBucket> reducer_buckets_of(const Setup& setup, const Groups& groups) {
    const BufferId memory = buffer_named(setup, kBuckets);
    std::vector<ReducerBucket> buckets;
    Elements end = 0;
    for (const auto& group : groups) {
      ReducerBucket bucket{.all = {memory, end, 0}};
      for (const ParameterId id : group) {
        const Slice gradient = setup.parameters[index_of(id)].gradient;
        bucket.gradients.push_back({gradient});
        bucket.pieces.push_back({{memory, end, gradient.count}});
        end += gradient.count;
      }
      bucket.all.count = end - bucket.all.begin;
      buckets.push_back(std::move(bucket));
    }
    return buckets;
  }

  ReducerOptions options_;
};

}  // namespace

Groups reducer_buckets(const ModelShape& model, const BucketCaps& caps, Step step) {
  if (step == 0) {
    return assign_buckets(model, model.ready_order, {std::numeric_limits<std::int64_t>::max()});
  }
  return assign_buckets(model, model.ready_order, {caps.first, caps.cap});
}

ReducerOptions reducer_options(const Options& options) {
  return {.caps = {.first = options.bytes_of_mebibytes("first-bucket-mb"),
                   .cap = options.bytes_of_mebibytes("bucket-mb")},
          .gradient_as_bucket_view = options.text("views") == "yes",
          .static_graph = options.text("static") == "yes"};
}

std::unique_ptr<Planner> make_ddp(const Options& options) {
  return std::make_unique<Ddp>(reducer_options(options));
}

}  // namespace paceline::strategies
