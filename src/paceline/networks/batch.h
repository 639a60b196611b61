// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/torch.h>

#include "paceline/networks/network.h"

namespace paceline::networks {

struct Batch {
  at::Tensor input;   // [batch, channels, side, side]
  at::Tensor target;  // [batch] of int64, uniform over the classes
};

struct BatchOptions {
  int batch_size = 32;
  std::uint64_t seed = 0;
  int rank = 0;
  /// Inputs are 0, 1, 2 or 3 instead of uniform in [0, 1).
  bool integers = false;
  bool channels_last = false;
  at::ScalarType dtype = at::kFloat;  // of the input
  at::Device device = at::kCPU;
  NetworkOptions network{};  // those that the network was made with
};

/// A synthetic batch that depends on seed and rank alone: the same bits here
/// and in adapters/networks.py, on every machine (see formula.h).
Batch make_batch(const NetworkInfo& info, const BatchOptions& options);

/// A network with its usual random start; seeds torch's generators.
std::shared_ptr<Network> make_network(const NetworkInfo& info,
                                      const NetworkOptions& options,
                                      std::uint64_t seed);

/// Overwrites every parameter by a formula of its name and `seed`, in any
/// dtype, device and layout: weights uniform with the variance of He et al.,
/// scales within 1/8 of one, shifts within 1/8 of zero.
void fill_by_formula(Network& network, std::uint64_t seed);

/// Overwrites every parameter by -1, 0 or 1 with about eight non-zero weights
/// a unit.  With integer batches and `integer_loss`, every value and gradient
/// of a network without batch norm is an integer far below 2^24, so that sums
/// over samples and ranks are exact in float32 in any order.
void fill_with_integers(Network& network, std::uint64_t seed);

/// Sum over the batch of logit[target] - logit[target + 1]: a summed loss
/// whose gradient is integer where the network's values are.
at::Tensor integer_loss(const at::Tensor& logits, const at::Tensor& target);

/// Lays 4-D parameters out as channels last.  Before gradients, hooks, flat
/// buffers and optimizers refer to their storage; drops gradients.
void to_channels_last(Network& network);

/// A hash of a tensor's bits in its logical order, whatever its layout or
/// device: equal tensors of one dtype have equal fingerprints, here and in
/// adapters/formula.py.
std::uint64_t fingerprint(const at::Tensor& tensor);
/// Of several tensors: the wrapping sum of each fingerprint times its place,
/// counted from 1.
std::uint64_t fingerprint(const std::vector<at::Tensor>& tensors);

}  // namespace paceline::networks
