// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/transfer_time.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/buckets.h"
#include "paceline/strategies/rules.h"

namespace paceline::strategies {
namespace {

/// One encoded part of a slice. `share` is its size relative to the slice, and `how` says how the
/// parts of all ranks are combined.
struct WireFormSize {
  double share = 1;
  Combination how = Combination::kSum;
};

/// Returns the encoded parts of the whole model.  The sizes of a bucket's parts are assumed to be
/// proportional to the bucket's size.
std::vector<WireFormSize> wire_forms_of(const CodecRule& codec, PlanInput input) {
  input.loss_scaling = false;
  SetupBuilder builder(input, one_group(input.model));
  codec.extend_setup(input, builder);
  const Program program(input, builder.setup(), {.buckets = builder.buckets()});
  const Slice& slice = builder.buckets().front().gradients;
  const auto bytes_of = [&program](const Slice& one) {
    const Buffer& buffer = program.setup().buffers[index_of(one.buffer)];
    return static_cast<double>(one.count * size_of(buffer.dtype));
  };
  std::vector<WireFormSize> forms;
  for (int round = 0; round < codec.rounds(input); ++round) {
    for (const WireSlice& wire_slice : codec.wire_slices(slice, round, program)) {
      forms.push_back({bytes_of(wire_slice.mine) / bytes_of(slice), wire_slice.format.combination});
    }
  }
  return forms;
}

const CodecRule& codec_of(const ExchangeWithCodec& transfer) {
  const CodecRule* own = transfer.exchange.codec();
  return own == nullptr ? transfer.codec : *own;
}

/// Returns a function that predicts the time of exchanging a slice of a given number of bytes,
/// which is encoded in the parts `forms`.  `exchange` must outlive the function.
TransferTime::TimeOfBytes time_function_of(PlanInput input, const ExchangeRule& exchange,
                                           const std::vector<WireFormSize>& forms) {
  return [input = std::make_shared<const PlanInput>(std::move(input)), &exchange,
          forms](std::int64_t bytes) {
    Picoseconds time = 0;
    for (const auto& [share, how] : forms) {
      const double crosses = std::ceil(share * static_cast<double>(bytes));
      time += exchange.time_of_wire_forms(*input, static_cast<std::int64_t>(crosses), how);
    }
    return time;
  };
}

}  // namespace

TransferTime transfer_time(const PlanInput& input, const ExchangeWithCodec& transfer) {
  if (input.world == 1) {
    return [](std::int64_t) { return Picoseconds{0}; };
  }
  if (!input.alpha_beta) {
    return [world = input.world](std::int64_t) -> Picoseconds {
      throw UsageError(
          fmt::format("the strategy decides by the times of exchanges among {} ranks, and the plan "
                      "was given no alpha-beta model of them",
                      world));
    };
  }
  const ExchangeRule& exchange = transfer.exchange;
  const auto forms = wire_forms_of(codec_of(transfer), input);
  auto alone = time_function_of(input, exchange, forms);
  if (input.alpha_beta->concurrent_collectives == 1) {
    return alone;
  }
  PlanInput start_ups = input;
  start_ups.alpha_beta = start_up_model_of(*input.alpha_beta);
  return {std::move(alone), time_function_of(std::move(start_ups), exchange, forms),
          input.alpha_beta->concurrent_collectives};
}

double payload_bytes_per_slice_byte(const PlanInput& input, const ExchangeWithCodec& transfer) {
  if (input.world == 1) {
    return 1;
  }
  const bool gathers = transfer.exchange.codec() == nullptr;
  double share = 0;
  for (const WireFormSize& form : wire_forms_of(codec_of(transfer), input)) {
    share += form.share * (gathers && form.how == Combination::kGather ? input.world : 1);
  }
  return share;
}

}  // namespace paceline::strategies
