// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// Cuts the optimizer's state down to this rank's shards.  Throws UsageError,
/// which names `rule`, where the loss is scaled.
void shard_state(std::string_view rule,
                 const PlanInput& input,
                 const ExchangeRule& exchange,
                 SetupBuilder& builder);

/// What of the exchange's symmetry leaves each rank its shard: others hold
/// other numbers of tensors.
Symmetry keeping_shards(const ExchangeTraits& exchange);

/// Clips this rank's shards of the summed gradients by the norm of all ranks'.
void clip_shards(const std::vector<Access>& gradients,
                 const CodedExchange& transfer,
                 Program& program);

/// Applies this rank's shard of the summed gradients to its shard of `values`,
/// a bucket or a part of one that is a multiple of the shards.
void update_shard(const Slice& values,
                  const Slice& gradients,
                  const CodedExchange& transfer,
                  Program& program);

}  // namespace paceline::strategies
