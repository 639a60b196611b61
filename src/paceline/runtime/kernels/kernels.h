// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

// The kernels, by the file that defines them.  "Reads" and "writes" list the operands of a call in
// order; `numbers` are those of the call.  Each is called by KernelInfo::run().

namespace paceline::runtime {

// move.cc; linear.cc has run_linear().

/// writes[i] = numbers[0] * reads[i]; in place where both are the same slice.
void run_copy(const OptimizerSettings& rule, const Call& call);

/// writes[0] = the sum of numbers[i] * reads[i], added in order of i, in the type of writes[0]; any
/// read may be the written slice.
void run_linear(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] / reads[1], where reads[1] has one element.
void run_divide(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] * reads[1], where reads[1] has one element.
void run_multiply(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] in the type of writes[0], rounded to the nearest even.
void run_cast(const OptimizerSettings& rule, const Call& call);

// update.cc: what an update needs beside the rule of its optimizer.

/// The optimizer's step over a slice, with weight decay where the settings
/// have it.
///
/// Reads values, gradients, the optimizer's state and the learning rate; where it counts steps also
/// their number, already incremented; with loss scaling also the scale and whether to skip the
/// update.  Writes values and state. Divides the gradient in place by `numbers[0]` and by the scale
/// first.
///
/// Slices that begin at multiples of 16 elements give the same bits as one call for the whole.
/// Elsewhere results may differ by one unit in the last place, because PyTorch rounds elements that
/// fill no SIMD vector differently.
void run_update(const OptimizerSettings& rule, const Call& call);

/// Adds one to a one-element buffer, and subtracts the overflow flag where there is one: as in
/// PyTorch's optimizers, a skipped step does not count.
void run_count(const OptimizerSettings& rule, const Call& call);

/// Writes 1 to the second operand where any gradient is infinite or not a number, else 0.  The
/// first operand is the gradients, which keep their values.  Does not wait for the device.
void run_check(const OptimizerSettings& rule, const Call& call);

/// Copies the loss scale of this step to the third operand, then adapts it: an overflow multiplies
/// it by `numbers[1]`, and `numbers[2]` steps in a row without overflow multiply it by
/// `numbers[0]`.  Micikevicius et al., ICLR 2018, arXiv:1710.03740, as PyTorch's GradScaler.
void run_rescale(const OptimizerSettings& rule, const Call& call);

// optimizers.cc: called by run_update(), not a row of the table.

/// The step of an optimizer of plan/optimizer.h, with one weight decay for all that the call
/// updates; the operands are those of run_update().
///
/// With g the divided gradient, d the weight decay, lr the learning rate, |x| the norm of x over a
/// whole parameter:
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
/// The scales of lamb and lars are 1 where either norm is 0 and where the settings are not
/// layerwise; where they are, each tensor is a parameter.
///
/// Uses PyTorch's fused kernel where PyTorch has one that works, else a loop of one pass, with
/// norms of two; on a GPU PyTorch's operators.
void run_optimizer(const OptimizerSettings& rule, const Call& call);

// clip.cc

/// Writes the sum of the squares of all operands, taken in double precision.
void run_square_sum(const OptimizerSettings& rule, const Call& call);

/// Scales what updates divide by, so that the norm is at most `numbers[0]`:
/// torch.nn.utils.clip_grad_norm_.  Pascanu et al., ICML 2013, arXiv:1211.5063.
void run_clip(const OptimizerSettings& rule, const Call& call);

// outer.cc: steps of outer optimizers, which move an anchor that all ranks share.

/// SGD with Nesterov momentum in PyTorch's form: with d = sum / `numbers[2]`,
/// m = mu m + d, anchor -= rate (d + mu m); `numbers` begin with rate and mu. Douillard et al.,
/// 2023, arXiv:2311.08105.
void run_nesterov(const OptimizerSettings& rule, const Call& call);

/// Slow momentum: u = beta u + (anchor - values) / lr, anchor -= alpha lr u;
/// `numbers` are alpha and beta, lr is the last read.  Wang et al., ICLR 2020,
/// arXiv:1910.00643.
void run_slow_momentum(const OptimizerSettings& rule, const Call& call);

// topk.cc

/// Adds the residual to the gradients and takes the values of largest
/// magnitude out of the sum, as many as `writes[0]` has elements; what remains is the residual.
///
/// Reads gradients and residual; writes values, their places as I32, in ascending order, and the
/// residual.  Of equal magnitudes the lower place is taken; not a number counts as infinite.
/// Selects by the k-th magnitude, in linear time.  Stich et al., NeurIPS 2018, arXiv:1809.07599.
void run_topk(const OptimizerSettings& rule, const Call& call);

/// Sets a slice to zero, then adds each value at its place, in the order in which they lie: values
/// that ranks have gathered add up in rank order.
///
/// Reads values and places, or nothing; writes the slice.
void run_scatter(const OptimizerSettings& rule, const Call& call);

// gtopk.cc

/// Adds two lists of values at ascending places, and keeps the values of largest magnitude, as many
/// as one list has; of equal magnitudes the lower place.  A value of this rank's own at a place
/// that is dropped returns to the residual, and counts as zero from then on.
///
/// Reads values and places (I32) of the lower rank, those of the higher rank, this rank's own, and
/// the residual; writes the merged values and places, the own values, the residual.  Not a number
/// counts as infinite.  Shi et al., ICDCS 2019, arXiv:1901.04359, algorithm 2.
void run_gtopk_merge(const OptimizerSettings& rule, const Call& call);

// random_k.cc

/// Adds the gradients to the residual and takes values at random places out of it, as many as
/// `writes[0]` has elements; every set of places is as likely.
///
/// Reads gradients and residual; writes values, their places as I32, each once, and the residual.
/// The places depend on the call's random key alone.  Stich et al., NeurIPS 2018, arXiv:1809.07599,
/// definition 2.2.
void run_random_k(const OptimizerSettings& rule, const Call& call);

// sign.cc

/// Packs the signs of a slice, eight a byte, the first in the lowest bit: 1 where a value is at
/// least zero, 0 where it is below or not a number.
///
/// Reads a slice; writes an I8 slice of an eighth of its elements.
void run_sign(const OptimizerSettings& rule, const Call& call);

/// Sets every value to +1 or -1, as its bit says.
///
/// Reads bits, writes values, slice by slice.
void run_unsign(const OptimizerSettings& rule, const Call& call);

/// +1 where a value is at least zero, -1 where it is below or not a number: of
/// gradients as I8, and of the sums of such bytes as values.
///
/// Reads and writes slice by slice.
void run_sign8(const OptimizerSettings& rule, const Call& call);

/// Writes the bit that most copies have at each place, 1 for a tie.
///
/// Reads slices of one or more copies each, of the length of what it writes. Bernstein et al., ICLR
/// 2019, arXiv:1810.05291.
void run_vote(const OptimizerSettings& rule, const Call& call);

// ef_sign.cc: signs with error feedback, Karimireddy et al., ICML 2019, arXiv:1901.09847.
// `numbers` are the begin and the end of each tensor in the slice.

/// Adds the gradients to the residual, then takes out of it what crosses: the sign of each value
/// times the mean magnitude of its tensor.
///
/// Reads gradients and residual; writes bytes (I8), which are the signs, eight a byte, then one F32
/// for each tensor, and the residual.
void run_ef_sign(const OptimizerSettings& rule, const Call& call);

/// Sets each tensor to the sum of what the ranks have sent of it, added in their order; what lies
/// between tensors stays.
///
/// Reads the bytes of all ranks, side by side; writes the slice.
void run_ef_sign_sum(const OptimizerSettings& rule, const Call& call);

// qsgd.cc: Alistarh et al., NeurIPS 2017, arXiv:1610.02132.

/// Rounds each value to a multiple of its block's L2 norm over the number of levels, up or down at
/// random so that its expectation is the value.
///
/// Reads values; writes bytes (I8): a code a value, then the norms (F32).
/// `numbers` are levels, values of a block, this rank.
void run_qsgd(const OptimizerSettings& rule, const Call& call);

/// Sets the values to the sum of what the ranks have sent, added in their order.
///
/// Reads the bytes of all ranks, side by side; writes values.  `numbers` are levels and values of a
/// block.
void run_qsgd_sum(const OptimizerSettings& rule, const Call& call);

// powersgd.cc: Vogels et al., NeurIPS 2019, arXiv:1905.13727, algorithm 1.
// `numbers` are, of each tensor in the slice, its begin, rows, columns and
// rank; rank 0: a tensor of `rows` values that crosses as it is.  The factors of the tensors lie
// one after the other.

/// M += gradients; P = M Q, or the gradients of a tensor as it is.  A Q that is zero is drawn
/// first, from the call's random key, the same on all ranks.
///
/// Reads gradients, M (the residual), and where there are matrices Q; writes P, M, Q.
void run_powersgd_left(const OptimizerSettings& rule, const Call& call);

/// P = an orthonormal basis of its columns (Householder); Q = M^T P.
///
/// Reads P and M; writes P and Q.
void run_powersgd_right(const OptimizerSettings& rule, const Call& call);

/// values = P Q^T, M -= values / ranks; the values of a tensor as it is.
///
/// Reads P, and where there are matrices Q, and M; writes values and M.  The last number is the
/// number of ranks.  Without M and that number: values alone.
void run_powersgd_outer(const OptimizerSettings& rule, const Call& call);

// embeddings.cc: embedding tables on servers, on the CPU.  plan/program.h has the operands,
// strategies/embedding_job.h the numbers.

/// A server's rows as they start: normal with variance 1, as PyTorch's embeddings, or -1, 0 or 1.
/// A row depends on the seed, its table and its id, not on where it lies.
void run_draw_rows(const OptimizerSettings& rule, const Call& call);

/// The step's lookups of a trainer; ids are in the order in which they come first.  Throws
/// UsageError that names trainer, table and id where a table has no such row.
void run_deduplicate(const OptimizerSettings& rule, const Call& call);

/// The rows that the ids name.
void run_lookup(const OptimizerSettings& rule, const Call& call);

/// Each bag's sum, or mean, of rows, added in the order of the lookups.
void run_pool(const OptimizerSettings& rule, const Call& call);

/// The gradient of each row that was looked up: that of its bags.
void run_pool_gradient(const OptimizerSettings& rule, const Call& call);

/// Applies the rule to each row that any trainer wants, with the mean of the trainers' gradients.
/// Rows of bf16 are rounded once.
void run_update_rows(const OptimizerSettings& rule, const Call& call);

/// Applies the rule to all rows of the server, with dense gradients: adds the trainers' gradients
/// up in a buffer as large as the server's rows.  Every rule leaves a row of gradient zero as it
/// is, so that the bits are those of update_rows.
void run_update_all_rows(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
