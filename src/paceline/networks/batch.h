// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/networks/catalogue.h"

namespace paceline::networks {

/// What one step trains on.  Dimension 0 of both tensors counts samples; what follows is between
/// make_batch and the network:
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
  bool integers = false;  // the loss is the integer one
};

/// At tokens whose word is not to be predicted.
inline constexpr std::int64_t kNoLabel = -100;

struct BatchOptions {
  int batch_size = 32;
  std::uint64_t seed = 0;
  int rank = 0;
  /// Images are 0, 1, 2 or 3 instead of uniform in [0, 1).
  bool integers = false;
  bool channels_last = false;
  at::ScalarType dtype = at::kFloat;  // of images
  at::Device device = at::kCPU;
  NetworkOptions network{};  // those that the network was made with
};

/// A synthetic batch that depends on seed and rank alone: the same bits here and in
/// adapters/formula.py, on every machine (see formula.h).
///
/// Classes and words are uniform.  Of a text, 15 % of the tokens (at least one) are to be
/// predicted, of which 8 in 10 are hidden, 1 in 10 holds another word and 1 in 10 its own (Devlin
/// et al., NAACL 2019, arXiv:1810.04805).  With
/// `zeros` it is the batch of ddl-benchmarks: words below 2000, nothing
/// hidden, and 0 for everything else.
///
/// Throws UsageError for an empty batch and for integers of a text.
Batch make_batch(const NetworkInfo& info, const BatchOptions& options);

/// A network with its usual random start; seeds torch's generators.
std::shared_ptr<Network> make_network(const NetworkInfo& info, const NetworkOptions& options,
                                      std::uint64_t seed);

/// Overwrites every parameter by a formula of its name and `seed`, in any dtype, device and layout:
/// weights uniform with the variance of He et al., scales within 1/8 of one, and an eighth of that
/// where they end the branch
/// of a residual block; shifts within 1/8 of zero.
void fill_by_formula(Network& network, std::uint64_t seed);

/// Overwrites every parameter by -1, 0 or 1 with about eight non-zero weights
/// a unit.  With integer batches and `integer_loss`, every value and gradient of a network without
/// batch norm is an integer far below 2^24, so that sums over samples and ranks are exact in
/// float32 in any order.
void fill_with_integers(Network& network, std::uint64_t seed);

/// Sum over the batch of logit[target] - logit[target + 1]: a summed loss
/// whose gradient is integer where the network's values are.
at::Tensor integer_loss(const at::Tensor& logits, const at::Tensor& target);

/// Cross-entropy, or, where the targets are numbers, half the mean squared error of one output
/// each: the mean over the batch.
at::Tensor mean_loss(const at::Tensor& outputs, const at::Tensor& target);

/// Lays 4-D parameters out as channels last.  Before gradients, hooks, flat buffers and optimizers
/// refer to their storage; drops gradients.
void to_channels_last(Network& network);

/// A hash of a tensor's bits in its logical order, whatever its layout or device: equal tensors of
/// one dtype have equal fingerprints, here and in adapters/formula.py.
std::uint64_t fingerprint(const at::Tensor& tensor);
/// The fingerprint of several tensors is the wrapping sum of each tensor's fingerprint times its
/// place, counted from 1.
std::uint64_t fingerprint(const std::vector<at::Tensor>& tensors);

}  // namespace paceline::networks
