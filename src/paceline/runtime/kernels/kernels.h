// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

// The kernels, grouped by the file that defines them.  "Reads" and "writes" list the operands of a
// call in order; `numbers` are the call's.  KernelInfo::run() calls each kernel.

namespace paceline::runtime {

// move.cc; run_linear() is in linear.cc.

/// writes[i] = numbers[0] * reads[i]; in place if both are the same slice.
void run_copy(const OptimizerSettings& rule, const Call& call);

/// writes[0] = the sum of numbers[i] * reads[i], added in order of i, in the type of writes[0]. Any
/// read may be the written slice.
void run_linear(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] / reads[1], where reads[1] has one element.
void run_divide(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] * reads[1], where reads[1] has one element.
void run_multiply(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] in the type of writes[0], rounded to nearest, ties to even.
void run_cast(const OptimizerSettings& rule, const Call& call);

// update.cc: the optimizer update and the kernels around it.

/// One optimizer step over a slice, with weight decay if the settings have it.
///
/// Reads values, gradients, the optimizer's state and the learning rate.  If the optimizer counts
/// steps, the count, already incremented, follows; with loss scaling, the scale and the flag that
/// skips the update follow.  Writes values and state.  First divides the gradient in place by
/// `numbers[0]` and by the scale.
///
/// If slices begin at multiples of 16 elements, calls for these slices give the same bits as one
/// call for the whole.  Otherwise results may differ by one unit in the last place, because PyTorch
/// rounds elements that fill no SIMD vector differently.
void run_update(const OptimizerSettings& rule, const Call& call);

/// Adds one to a one-element buffer and subtracts the overflow flag, if the flag is an operand: as
/// in PyTorch's optimizers, a skipped step does not count.
void run_count(const OptimizerSettings& rule, const Call& call);

/// Writes 1 to the second operand if any gradient is infinite or NaN, else 0.  The first operand
/// holds the gradients, which keep their values.  Does not wait for the device.
void run_check(const OptimizerSettings& rule, const Call& call);

/// Copies this step's loss scale to the third operand, then adapts the scale: an overflow
/// multiplies it by `numbers[1]`, and `numbers[2]` steps in a row without overflow multiply it by
/// `numbers[0]`.  Micikevicius et al., ICLR 2018, arXiv:1710.03740, as PyTorch's GradScaler.
void run_rescale(const OptimizerSettings& rule, const Call& call);

// optimizers.cc: called by run_update(); the kernel table has no row for it.

/// One step of an optimizer of plan/optimizer.h, with one weight decay for all values that the call
/// updates; the operands are those of run_update().
///
/// With g the divided gradient, d the weight decay, lr the learning rate, mu the momentum, a and r
/// decay rates, e the epsilon, v, s and t states, |x| the norm of x over a whole parameter:
///   sgd       v = mu v + g + d w;  w -= lr v
///   adam      torch.optim.Adam: d w is added to g
///   adamw     torch.optim.AdamW: w is scaled by 1 - lr d
///   rmsprop   g' = g + d w;  s = a s + (1 - a) g'^2;  w -= lr g' / (sqrt(s) +
///             e)
///   adagrad   g' = g + d w;  s += g'^2;  w -= lr g' / (sqrt(s) + e)
///   adadelta  g' = g + d w;  s = r s + (1 - r) g'^2;  u = g' sqrt(t + e) /
///             sqrt(s + e);  t = r t + (1 - r) u^2;  w -= lr u
///   lamb      u = m / (sqrt(v) + e) + d w with adam's m and v of g;  w -= lr |w| / |u| u
///   lars      v = mu v + 0.001 |w| / (|g| + d |w|) (g + d w);  w -= lr v
/// The scales of lamb and lars are 1 if either norm is 0 or the settings are not layerwise; with
/// layerwise settings each tensor is one parameter.
///
/// Uses PyTorch's fused kernel if PyTorch has one that works; otherwise, on a CPU, a loop of one
/// pass (two passes for rules with norms), and on a GPU PyTorch's operators.
void run_optimizer(const OptimizerSettings& rule, const Call& call);

// clip.cc

/// Writes the sum of the squares of all operands, computed in double precision.
void run_square_sum(const OptimizerSettings& rule, const Call& call);

/// Scales the divisor of the updates so that the gradient norm is at most `numbers[0]`, as
/// torch.nn.utils.clip_grad_norm_.  Pascanu et al., ICML 2013, arXiv:1211.5063.
void run_clip(const OptimizerSettings& rule, const Call& call);

// outer.cc: steps of outer optimizers, which move an anchor (reference parameters) that all ranks
// share.

/// SGD with Nesterov momentum in PyTorch's form: with d = sum / `numbers[2]`,
/// m = mu m + d, anchor -= rate (d + mu m); `numbers` begin with rate and mu. Douillard et al.,
/// 2023, arXiv:2311.08105.
void run_nesterov(const OptimizerSettings& rule, const Call& call);

/// Slow momentum: u = beta u + (anchor - values) / lr, anchor -= alpha lr u; `numbers` are alpha
/// and beta, lr is the last operand read.  Wang et al., ICLR 2020, arXiv:1910.00643.
void run_slow_momentum(const OptimizerSettings& rule, const Call& call);

// topk.cc

/// Adds the gradients to the residual, then moves the k values of largest magnitude out of the
/// residual to `writes[0]`, where k is the number of elements of `writes[0]`.
///
/// Reads gradients and residual; writes the k values, their indices as I32 in ascending order, and
/// the residual.  Of equal magnitudes the value at the lower index is taken; NaN counts as
/// infinite. Selects by the k-th magnitude, in linear time.  Stich et al., NeurIPS 2018,
/// arXiv:1809.07599.
void run_topk(const OptimizerSettings& rule, const Call& call);

/// Sets a slice to zero, then adds each value at its index, in the order of the list: values that
/// were gathered from the ranks add up in rank order.
///
/// Reads values and indices, or nothing; writes the slice.
void run_scatter(const OptimizerSettings& rule, const Call& call);

// gtopk.cc

/// Adds two lists of values at ascending indices and keeps the k values of largest magnitude, where
/// k is the length of one list; of equal magnitudes the lower index is kept.  If the index of one
/// of this rank's own values is dropped, the value returns to the residual and counts as zero
/// afterwards.
///
/// Reads values and indices (I32) of the lower rank, those of the higher rank, this rank's own, and
/// the residual; writes the merged values and indices, the own values, the residual.  NaN counts as
/// infinite.  Shi et al., ICDCS 2019, arXiv:1901.04359, algorithm 2.
void run_gtopk_merge(const OptimizerSettings& rule, const Call& call);

// random_k.cc

/// Adds the gradients to the residual, then moves the values at k random indices out of the
/// residual to `writes[0]`, where k is the number of elements of `writes[0]`.  Every set of k
/// indices is equally likely.
///
/// Reads gradients and residual; writes the values, their distinct indices as I32, and the
/// residual. The indices depend only on the call's random key.  Stich et al., NeurIPS 2018,
/// arXiv:1809.07599, definition 2.2.
void run_random_k(const OptimizerSettings& rule, const Call& call);

// sign.cc

/// Packs the signs of a slice, eight per byte, the first in the lowest bit.  A bit is 1 if its
/// value is at least zero, 0 if the value is negative or NaN.
///
/// Reads a slice; writes an I8 slice with one eighth as many elements.
void run_sign(const OptimizerSettings& rule, const Call& call);

/// Sets every value to +1 if its bit is 1, else to -1.
///
/// Reads a slice of bits for each slice of values that it writes.
void run_unsign(const OptimizerSettings& rule, const Call& call);

/// Writes +1 if a value is at least zero, -1 if it is negative or NaN.  Serves both directions:
/// gradients to I8, and sums of such bytes to values.
///
/// Writes one slice for each slice that it reads.
void run_sign8(const OptimizerSettings& rule, const Call& call);

/// Writes at each position the bit that most copies have, 1 for a tie.
///
/// Reads slices, each with one or more copies as long as the written slice.  Bernstein et al., ICLR
/// 2019, arXiv:1810.05291.
void run_vote(const OptimizerSettings& rule, const Call& call);

// ef_sign.cc: signs with error feedback, Karimireddy et al., ICML 2019, arXiv:1901.09847.
// `numbers` are the begin and the end of each tensor in the slice, in elements.

/// Adds the gradients to the residual, then subtracts the transmitted values from it: the sign of
/// each value times the mean magnitude of the value's tensor.
///
/// Reads gradients and residual; writes bytes (I8) and the residual.  The bytes are the signs,
/// eight per byte, followed by one F32 per tensor.
void run_ef_sign(const OptimizerSettings& rule, const Call& call);

/// Sets each tensor to the sum of the values that the ranks have sent, added in rank order;
/// elements between tensors keep their values.
///
/// Reads the bytes of all ranks, concatenated in rank order; writes the slice.
void run_ef_sign_sum(const OptimizerSettings& rule, const Call& call);

// qsgd.cc: Alistarh et al., NeurIPS 2017, arXiv:1610.02132.

/// Quantizes each value to a multiple of (its block's L2 norm / number of levels), rounded up or
/// down at random so that the expectation is the value.
///
/// Reads values; writes bytes (I8): one code per value, then the norms (F32). `numbers` are the
/// number of levels, the number of values per block, this rank.
void run_qsgd(const OptimizerSettings& rule, const Call& call);

/// Sets the values to the sum of the values that the ranks have sent, added in rank order.
///
/// Reads the bytes of all ranks, concatenated in rank order; writes values.  `numbers` are the
/// number of levels and the number of values per block.
void run_qsgd_sum(const OptimizerSettings& rule, const Call& call);

// powersgd.cc: Vogels et al., NeurIPS 2019, arXiv:1905.13727, algorithm 1.
// `numbers` are, for each tensor in the slice, its begin, rows, columns and rank; rank 0 marks a
// tensor of `rows` values that is sent uncompressed.  The factors of the tensors are concatenated.

/// M += gradients; P = M Q; for an uncompressed tensor P is a copy of its gradients.  A Q that is
/// zero is first drawn from the call's random key, the same on all ranks.
///
/// Reads gradients, M (the residual), and Q if there are matrices; writes P, M, Q.
void run_powersgd_left(const OptimizerSettings& rule, const Call& call);

/// P = an orthonormal basis of the columns of P (Householder); Q = M^T P.
///
/// Reads P and M; writes P and Q.
void run_powersgd_right(const OptimizerSettings& rule, const Call& call);

/// values = P Q^T, M -= values / ranks; an uncompressed tensor's values are copied from P.
///
/// Reads P, and if there are matrices Q and M; writes values and M.  The last number is the number
/// of ranks.  Without M and that number, only the values are written.
void run_powersgd_outer(const OptimizerSettings& rule, const Call& call);

// embeddings.cc: embedding tables on servers, on the CPU.  plan/program.h documents the operands,
// strategies/embedding_job.h the numbers.

/// Draws the initial rows of a server: normal with variance 1, as PyTorch's embeddings, or -1, 0 or
/// 1. A row depends on the seed, its table and its id, but not on the server that holds it.
void run_draw_rows(const OptimizerSettings& rule, const Call& call);

/// Draws a trainer's lookups of the step and removes duplicates; ids stay in the order of their
/// first occurrence.  Throws UsageError that names trainer, table and id if a table has no such
/// row.
void run_deduplicate(const OptimizerSettings& rule, const Call& call);

/// Copies the rows that the ids name.
void run_lookup(const OptimizerSettings& rule, const Call& call);

/// Computes each bag's sum, or mean, of rows, added in the order of the lookups.
void run_pool(const OptimizerSettings& rule, const Call& call);

/// Computes the gradient of each row that was looked up: the weighted sum of its bags' gradients.
void run_pool_gradient(const OptimizerSettings& rule, const Call& call);

/// Applies the rule, with the mean of the trainers' gradients, to each row that any trainer wants.
/// Rows of bf16 are rounded once.
void run_update_rows(const OptimizerSettings& rule, const Call& call);

/// Applies the rule to all rows of the server, with dense gradients: sums the trainers' gradients
/// in a buffer as large as the server's rows.  Every rule leaves a row with gradient zero
/// unchanged, so the bits equal those of update_rows.
void run_update_all_rows(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
