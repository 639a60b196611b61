// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/rules.h"

// Makers of the rows of the strategy tables.  Each function is defined and described in the file of
// its name.

namespace paceline::strategies {

class Options;  // strategies/strategy.h

/// The communicator of all ranks that carries gradients.
inline constexpr const char* kGradientCommunicator = "grad";

// schedules
std::unique_ptr<ScheduleRule> make_bsp(const Options& options);
std::unique_ptr<ScheduleRule> make_wfbp(const Options& options);
std::unique_ptr<ScheduleRule> make_fusion(const Options& options);
std::unique_ptr<ScheduleRule> make_mg_wfbp(const Options& options);
std::unique_ptr<ScheduleRule> make_optimal_merge(const Options& options);
std::unique_ptr<ScheduleRule> make_bytescheduler(const Options& options);
std::unique_ptr<ScheduleRule> make_dear(const Options& options);

// exchanges
std::unique_ptr<ExchangeRule> make_all_reduce(const Options& options);
std::unique_ptr<ExchangeRule> make_rs_ag(const Options& options);
std::unique_ptr<ExchangeRule> make_hierarchical(const Options& options);
std::unique_ptr<ExchangeRule> make_ps(const Options& options);
std::unique_ptr<ExchangeRule> make_neighbor_allreduce(const Options& options);
std::unique_ptr<ExchangeRule> make_coded_neighbor_allreduce(const Options& options,
                                                            std::unique_ptr<CodecRule> codec);
std::unique_ptr<ExchangeRule> make_hierarchical_neighbor_allreduce(const Options& options);
std::unique_ptr<ExchangeRule> make_coded_hierarchical_neighbor_allreduce(
    const Options& options, std::unique_ptr<CodecRule> codec);
std::unique_ptr<ExchangeRule> make_parameter_allreduce(const Options& options);
std::unique_ptr<ExchangeRule> make_push_sum(const Options& options);
std::unique_ptr<ExchangeRule> make_coded_push_sum(const Options& options,
                                                  std::unique_ptr<CodecRule> codec);
std::unique_ptr<ExchangeRule> make_win_put(const Options& options);

// codecs
std::unique_ptr<CodecRule> make_identity(const Options& options);
std::unique_ptr<CodecRule> make_fp16(const Options& options);
std::unique_ptr<CodecRule> make_bf16(const Options& options);
std::unique_ptr<CodecRule> make_sign(const Options& options);
std::unique_ptr<CodecRule> make_ef_sign(const Options& options);
std::unique_ptr<CodecRule> make_topk(const Options& options);
std::unique_ptr<CodecRule> make_gtopk(const Options& options);
std::unique_ptr<CodecRule> make_random_k(const Options& options);
std::unique_ptr<CodecRule> make_qsgd(const Options& options);
std::unique_ptr<CodecRule> make_powersgd(const Options& options);

// update rules
std::unique_ptr<UpdateRule> make_gradients(const Options& options);
std::unique_ptr<UpdateRule> make_atc(const Options& options);
std::unique_ptr<UpdateRule> make_awc(const Options& options);
std::unique_ptr<UpdateRule> make_pga(const Options& options);
std::unique_ptr<UpdateRule> make_local_sgd(const Options& options);
std::unique_ptr<UpdateRule> make_diloco(const Options& options);
std::unique_ptr<UpdateRule> make_slowmo(const Options& options);
std::unique_ptr<UpdateRule> make_gradient_tracking(const Options& options);
std::unique_ptr<UpdateRule> make_decentlam(const Options& options);
std::unique_ptr<UpdateRule> make_exact_diffusion(const Options& options);
std::unique_ptr<UpdateRule> make_zero_1(const Options& options);
std::unique_ptr<UpdateRule> make_zero_2(const Options& options);

// whole strategies
std::unique_ptr<Planner> make_none(const Options& options);
std::unique_ptr<Planner> make_ddp(const Options& options);

}  // namespace paceline::strategies
