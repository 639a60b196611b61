// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/codec_advice.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/cost.h"

namespace paceline::predict {
namespace {

/// Returns the prediction for strategy fusion with the bucket size that is fastest.  `codec_part`
/// is the codec's part of the strategy's text ("+topk"); it is empty without a codec.
Advice best_fusion_advice(const AdviseRequest& request, const std::string& codec_part) {
  std::optional<Advice> best;
  for (const double mebibytes : request.bucket_mb) {
    PredictRequest job = request.job;
    job.strategy = fmt::format("fusion:bucket-mb={}{}", mebibytes, codec_part);
    job.steps = 3;
    Advice one = advice_of(job, predict(job), request);
    one.configuration.strategy = job.strategy;
    if (!best || one.step < best->step) {
      best = std::move(one);
    }
  }
  return *std::move(best);
}

/// The program of rank 0 with all gradients in one bucket. `codec_part` is as for
/// best_fusion_advice().
struct BucketProgram {
  BucketProgram(const AdviseRequest& request, const std::string& codec_part) {
    plan::PlanInput input;
    input.model = request.job.network.model;
    input.world = request.job.ranks;
    const auto planner = strategies::make_planner(strategies::parse_strategy("bsp" + codec_part));
    setup = planner->setup(input);
    ops = planner->plan(input, setup, 0);
  }

  std::int64_t sent_bytes() const { return cost(setup, ops, 0).wire_bytes; }

  /// Returns the coding time of a step by the kernel rates of `codec`.  A kernel without a rate
  /// adds 0.
  plan::Picoseconds coding(const cluster::CodecTime& codec) const {
    double total = 0;
    for (const plan::Op& op : ops.ops) {
      const auto* kernel = std::get_if<plan::Kernel>(&op.work);
      if (kernel == nullptr) {
        continue;
      }
      const auto rate =
          std::ranges::find(codec.kernels, kernel->name, &cluster::KernelTime::kernel);
      if (rate != codec.kernels.end()) {
        total += static_cast<double>(simulator::shape_of(*kernel, setup).bytes) /
                 static_cast<double>(rate->bytes) * plan::seconds_of(rate->time);
      }
    }
    return plan::picoseconds_of(total);
  }

  plan::Setup setup;
  plan::CommPlan ops;
};

CodecAdvice row_of(const std::string& codec, const BucketProgram& program, const Advice& best) {
  return {.codec = codec,
          .bytes = program.sent_bytes(),
          .strategy = best.configuration.strategy,
          .step = best.step,
          .exposed = best.exposed};
}

}  // namespace

std::optional<double> break_even_bytes_per_s(std::int64_t saved_bytes, plan::Picoseconds coding) {
  if (saved_bytes <= 0) {
    return std::nullopt;
  }
  return coding == 0 ? std::numeric_limits<double>::infinity()
                     : static_cast<double>(saved_bytes) / plan::seconds_of(coding);
}

CodecTable compare_codecs(const AdviseRequest& request) {
  CodecTable table;
  if (request.job.codecs.empty() || request.job.ranks == 1) {
    return table;
  }
  const Advice plain = best_fusion_advice(request, "");
  table.plain = row_of("none", BucketProgram(request, ""), plain);
  for (const cluster::CodecTime& codec : request.job.codecs) {
    try {
      const std::string codec_part = "+" + codec.codec;
      const BucketProgram program(request, codec_part);
      const Advice best = best_fusion_advice(request, codec_part);
      CodecAdvice row = row_of(codec.codec, program, best);
      row.coding = program.coding(codec);
      row.break_even_bytes_per_s =
          break_even_bytes_per_s(table.plain.bytes - row.bytes, row.coding);
      row.change = static_cast<double>(row.step - plain.step) / static_cast<double>(plain.step);
      row.ties_with_no_codec = plain.step <= best.step ? is_indistinguishable(plain, best)
                                                       : is_indistinguishable(best, plain);
      table.rows.push_back(std::move(row));
    } catch (const UsageError& error) {
      table.unfit.push_back({codec.codec, error.what()});
    }
  }
  return table;
}

}  // namespace paceline::predict
