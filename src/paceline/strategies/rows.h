// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/rules.h"

// Makers of the rows of the strategy tables.  Each function is defined and described in the file of
// its name.

namespace paceline::strategies {

class Options;  // strategies/strategy.h

/// The name of the communicator of all ranks over which gradients are sent.
inline constexpr const char* kGradientCommunicator = "grad";

template <class Part>
using Maker = std::unique_ptr<Part>(const Options& options);

/// Makes an exchange of parameters whose changes the codec compresses; null: it has no codec.
using CodedMaker = std::unique_ptr<ExchangeRule>(const Options& options,
                                                 std::unique_ptr<CodecRule> codec);

Maker<ScheduleRule> make_bsp, make_wfbp, make_fusion, make_mg_wfbp, make_optimal_merge,
    make_bytescheduler, make_dear;

Maker<ExchangeRule> make_all_reduce, make_rs_ag, make_hierarchical, make_ps,
    make_parameter_allreduce, make_win_put;
CodedMaker make_neighbor_allreduce, make_hierarchical_neighbor_allreduce, make_push_sum;

Maker<CodecRule> make_identity, make_fp16, make_bf16, make_sign, make_ef_sign, make_topk,
    make_gtopk, make_random_k, make_qsgd, make_powersgd;

Maker<UpdateRule> make_gradients, make_atc, make_awc, make_pga, make_local_sgd, make_diloco,
    make_slowmo, make_gradient_tracking, make_decentlam, make_exact_diffusion, make_zero_1,
    make_zero_2;

Maker<Planner> make_none, make_ddp;

}  // namespace paceline::strategies
