// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/networks/catalogue.h"

namespace paceline::networks {

/// The examples of one step.  Dimension 0 of both tensors counts examples; the other dimensions are
/// a convention between make_batch and the network:
///
///   images  input   [batch, channels, side, side]
///           target  [batch], int64 classes
///   texts   input   [batch, 2, tokens], int64: words, then 0 or 1 for the
///                   first or second sequence
///           target  [batch, 1 + tokens], int64: whether the second sequence
///                   follows the first (0: it does), then the word that is
///                   hidden at each token or kNoLabel
struct Batch {
  at::Tensor input;
  at::Tensor target;
  bool integers = false;  // whether the batch is for integer_loss()
};

/// The target at tokens whose word is not to be predicted.
inline constexpr std::int64_t kNoLabel = -100;

struct BatchOptions {
  int batch_size = 32;
  std::uint64_t seed = 0;
  int rank = 0;
  /// Images are integers from 0 to 3 instead of uniform in [0, 1).
  bool integers = false;
  bool channels_last = false;
  at::ScalarType dtype = at::kFloat;  // of image inputs
  at::Device device = at::kCPU;
  NetworkOptions network{};  // the options with which the network was made
};

/// Makes a synthetic batch that depends only on the seed and the rank: it has the same bits here
/// and in adapters/formula.py, on every machine (see formula.h).
///
/// Classes and words are uniform.  In a text 15 % of the tokens (at least one) are to be predicted;
/// 8 in 10 of these are replaced by the mask token, 1 in 10 by another word, and 1 in 10 is kept
/// (Devlin et al., NAACL 2019, arXiv:1810.04805).  With NetworkOptions::zeros the batch is that of
/// ddl-benchmarks: words below 2000, no masked words, and 0 for everything else.
///
/// Throws UsageError for an empty batch, and for integers with a text network.
Batch make_batch(const NetworkInfo& info, const BatchOptions& options);

/// Makes a network with its usual random initialization; seeds torch's generators.
std::shared_ptr<Network> make_network(const NetworkInfo& info, const NetworkOptions& options,
                                      std::uint64_t seed);

/// Overwrites every parameter by a formula of its name and `seed`, in any dtype, device and layout.
/// Weights are uniform with the variance of He et al.; scales are within 1/8 of one, or an eighth
/// of that at the end of a residual block's branch; shifts are within 1/8 of zero.
void fill_by_formula(Network& network, std::uint64_t seed);

/// Overwrites every parameter by -1, 0 or 1, with about eight non-zero weights per unit.  With
/// integer batches and `integer_loss`, every value and gradient of a network without batch norm is
/// an integer far below 2^24, so that sums over examples and ranks are exact in float32 in any
/// order.
void fill_with_integers(Network& network, std::uint64_t seed);

/// Returns the sum over the batch of logit[target] - logit[target + 1], a loss whose gradient is
/// integer if the network's values are.
at::Tensor integer_loss(const at::Tensor& logits, const at::Tensor& target);

/// Returns the mean loss over the batch: cross-entropy, or, if the targets are floating-point, half
/// the mean squared error of the network's only output.
at::Tensor mean_loss(const at::Tensor& outputs, const at::Tensor& target);

/// Lays out 4-D parameters as channels last and drops gradients.  Must be called before gradients,
/// hooks, flat buffers and optimizers refer to the parameters' storage.
void to_channels_last(Network& network);

/// Returns a hash of a tensor's bits in logical order, independent of layout and device.  Equal
/// tensors of one dtype have equal fingerprints, here and in adapters/formula.py.
std::uint64_t fingerprint(const at::Tensor& tensor);
/// The fingerprint of several tensors is the wrapping sum of each tensor's fingerprint times its
/// position, counted from 1.
std::uint64_t fingerprint(const std::vector<at::Tensor>& tensors);

}  // namespace paceline::networks
