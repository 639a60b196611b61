// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

// The kernels, by the file that defines them.  Class plan::Program (plan/program.h) has their
// contracts: the operands and numbers of a call, in order, and what is written.

namespace paceline::runtime {

KernelFunction run_copy, run_divide, run_multiply, run_cast;               // move.cc
KernelFunction run_linear;                                                 // linear.cc
KernelFunction run_update, run_count, run_check, run_rescale;              // update.cc
KernelFunction run_square_sum, run_clip;                                   // clip.cc
KernelFunction run_nesterov, run_slow_momentum;                            // outer.cc
KernelFunction run_topk, run_scatter;                                      // topk.cc
KernelFunction run_gtopk_merge;                                            // gtopk.cc
KernelFunction run_random_k;                                               // random_k.cc
KernelFunction run_sign, run_unsign, run_sign8, run_vote;                  // sign.cc
KernelFunction run_ef_sign, run_ef_sign_sum;                               // ef_sign.cc
KernelFunction run_qsgd, run_qsgd_sum;                                     // qsgd.cc
KernelFunction run_powersgd_left, run_powersgd_right, run_powersgd_outer;  // powersgd.cc
KernelFunction run_draw_rows, run_deduplicate, run_lookup, run_pool,       // embeddings.cc
    run_pool_gradient, run_update_rows, run_update_all_rows;

/// optimizers.cc: one step of an optimizer with one weight decay for all values that the call
/// updates.  run_update() calls it with its own operands; the kernel table has no row for it.
KernelFunction run_optimizer;

}  // namespace paceline::runtime
