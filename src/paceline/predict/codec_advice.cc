// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/codec_advice.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/cost.h"

namespace paceline::predict {
namespace {

struct Fastest {
  std::string strategy;
  plan::Picoseconds step = 0, exposed = 0;
  ErrorBar bar{};
};

/// Whether the error bars do not tell the two apart; false where there is none.
bool alike(const AdviseRequest& request, const Fastest& a, const Fastest& b) {
  const Fastest& faster = a.step <= b.step ? a : b;
  const Fastest& slower = a.step <= b.step ? b : a;
  const auto share = [&](const Fastest& one) {
    return request.error ? request.error : one.bar.share;
  };
  if (!share(faster) || !share(slower)) {
    return false;
  }
  const auto apart =
      request.error ? std::nullopt : distinguishable_by(faster.bar, slower.bar);
  const auto fast = static_cast<double>(faster.step);
  const auto slow = static_cast<double>(slower.step);
  return apart ? slow <= fast * (1 + *apart)
               : slow * (1 - *share(slower)) <= fast * (1 + *share(faster));
}

/// Fusion in its fastest bucket size.  `codec_part`: what the strategy says of
/// a codec ("+topk"); empty: none.
Fastest best_of(const AdviseRequest& request, const std::string& codec_part) {
  Fastest best{"", std::numeric_limits<plan::Picoseconds>::max()};
  for (const double mebibytes : request.bucket_mb) {
    PredictRequest job = request.job;
    job.strategy = fmt::format("fusion:bucket-mb={}{}", mebibytes, codec_part);
    job.steps = 3;
    const Prediction prediction = predict(job);
    if (prediction.times.step < best.step) {
      best = {job.strategy,
              prediction.times.step,
              prediction.exposed(),
              prediction.bar};
    }
  }
  return best;
}

/// Rank 0's program with everything in one bucket.  `codec_part`: as above.
struct BucketProgram {
  BucketProgram(const AdviseRequest& request, const std::string& codec_part) {
    plan::PlanInput input;
    input.model = request.job.network.model;
    input.world = request.job.ranks;
    const auto planner = strategies::make_planner(
        strategies::parse_strategy("bsp" + codec_part));
    setup = planner->setup(input);
    ops = planner->plan(input, setup, 0);
  }

  std::int64_t sent_bytes() const { return cost(setup, ops, 0).wire_bytes; }

  /// The coding time of a step by the rates of `codec`; a kernel without a rate
  /// counts as 0.
  plan::Picoseconds coding(const cluster::CodecTime& codec) const {
    double total = 0;
    for (const plan::Op& op : ops.ops) {
      const auto* kernel = std::get_if<plan::Kernel>(&op.work);
      if (kernel == nullptr) {
        continue;
      }
      const auto rate = std::ranges::find(
          codec.kernels, kernel->name, &cluster::KernelTime::kernel);
      if (rate != codec.kernels.end()) {
        total +=
            static_cast<double>(simulator::shape_of(*kernel, setup).bytes) /
            static_cast<double>(rate->bytes) * plan::seconds_of(rate->time);
      }
    }
    return plan::picoseconds_of(total);
  }

  plan::Setup setup;
  plan::CommPlan ops;
};

CodecAdvice weigh(const AdviseRequest& request,
                  const cluster::CodecTime& codec,
                  const CodecTable& table,
                  const Fastest& plain) {
  const std::string codec_part = "+" + codec.codec;
  const BucketProgram program(request, codec_part);
  CodecAdvice row{.codec = codec.codec,
                  .coding = program.coding(codec),
                  .bytes = program.sent_bytes()};
  row.break_even = break_even(table.bytes - row.bytes, row.coding);
  Fastest best = best_of(request, codec_part);
  row.like_none = alike(request, plain, best);
  row.strategy = std::move(best.strategy);
  row.step = best.step;
  row.exposed = best.exposed;
  row.change = static_cast<double>(row.step - table.step) /
               static_cast<double>(table.step);
  return row;
}

}  // namespace

std::optional<double> break_even(std::int64_t saved_bytes,
                                 plan::Picoseconds coding) {
  if (saved_bytes <= 0) {
    return std::nullopt;
  }
  return coding == 0
             ? std::numeric_limits<double>::infinity()
             : static_cast<double>(saved_bytes) / plan::seconds_of(coding);
}

CodecTable weigh_codecs(const AdviseRequest& request) {
  CodecTable table;
  if (request.job.codecs.empty() || request.job.ranks == 1) {
    return table;
  }
  const Fastest plain = best_of(request, "");
  table.strategy = plain.strategy;
  table.step = plain.step;
  table.exposed = plain.exposed;
  table.bytes = BucketProgram(request, "").sent_bytes();
  for (const cluster::CodecTime& codec : request.job.codecs) {
    try {
      table.rows.push_back(weigh(request, codec, table, plain));
    } catch (const UsageError& error) {
      table.unfit.push_back({codec.codec, error.what()});
    }
  }
  return table;
}

}  // namespace paceline::predict
