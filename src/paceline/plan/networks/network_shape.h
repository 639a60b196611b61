// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/plan_input.h"

// The shapes of built-in networks for planners and compute models: the names, sizes and order of
// their parameters and the arithmetic of their layers, without tensors.

namespace paceline::plan {

enum class LayerKind : std::uint8_t { kConvolution, kNormalization, kLinear, kEmbedding };

/// The work of the forward pass of one module for one sample, including the operations that follow
/// the module up to the next one (activation, pooling, residual addition, attention scores, loss).
struct LayerWork {
  LayerKind kind = LayerKind::kLinear;
  double flops = 0;  // a multiplication and an addition count as two
  double bytes = 0;  // activations read and written at 4 bytes; no weights
  int kernel = 1;    // side of a convolution kernel
  int stride = 1;
  int groups = 1;
};

/// The shape of a network and the work of its modules, for one input size.
struct NetworkShape {
  ModelShape model;
  std::vector<LayerWork> work{};  // by ModuleId
  /// The number of calls, in a forward pass, of PyTorch modules without children, including
  /// activations, pooling and dropout; 0: unknown.
  int leaf_calls = 0;
  int default_tokens = 0;  // default tokens of a sample; 0: the network reads no text
  /// The tokens of a sample if they differ from default_tokens; else 0.
  int sequence_length = 0;
};

/// The shape of a built-in network for samples of `sequence_length` tokens; 0: the network's
/// default number.  Throws UsageError for a name that `network_names` does not list, and for a
/// number of tokens if the network reads no text or has fewer positions.
///
/// Source: trained.json, which tests/runtime/network_shapes_test.cc derives from the torch modules.
NetworkShape network_shape(std::string_view name, int sequence_length = 0);
std::vector<std::string> network_names();

}  // namespace paceline::plan
