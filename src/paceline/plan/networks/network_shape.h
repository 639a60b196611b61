// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/plan_input.h"

// Networks as planners and compute models see them: the names, sizes and order
// of their parameters and the arithmetic of their layers, without tensors.

namespace paceline::plan {

enum class LayerKind : std::uint8_t {
  kConvolution,
  kNormalization,
  kLinear,
  kEmbedding
};

/// What the forward pass of one module does for one sample, with all that
/// follows it up to the next module (activation, pooling, residual addition,
/// attention scores, loss).
struct LayerWork {
  LayerKind kind = LayerKind::kLinear;
  double flops = 0;  // a multiplication and an addition count as two
  double bytes = 0;  // activations read and written at 4 bytes; no weights
  int kernel = 1;    // side of a convolution's window
  int stride = 1;
  int groups = 1;
};

/// A published network for one input size.
struct NetworkShape {
  ModelShape model;
  std::vector<LayerWork> work;  // by ModuleId
  /// Calls of modules without children in a forward pass, those without
  /// parameters (activations, pooling, dropout) included, as the published
  /// PyTorch model makes them.
  int leaf_calls = 0;

  /// Of one sample's forward pass.
  double flops() const;
  std::int64_t elements() const;
};

/// Two convolutions of 3x3, or one of them between two of 1x1.
enum class ResNetBlock : std::uint8_t { kBasic, kBottleneck };

/// Stages of blocks, as torchvision's resnet50 and its relatives.
struct ResNetOptions {
  ResNetBlock block = ResNetBlock::kBottleneck;
  std::vector<int> depths = {3, 4, 6, 3};
  int groups = 1;
  int width_per_group = 64;
  int image_size = 224;
  int classes = 1000;
};

/// BertForPreTraining with the decoder tied to the word embedding.
struct BertOptions {
  int layers = 12;
  int hidden = 768;
  int intermediate = 3072;
  int heads = 12;
  int vocabulary = 30528;  // 30522, padded to a multiple of 8
  int positions = 512;
  int sequence_length = 64;
};

NetworkShape resnet_shape(std::string name, const ResNetOptions& options);
NetworkShape vgg16_shape(int image_size = 224, int classes = 1000);
/// LeNet-5 with ReLU and max pooling.
NetworkShape lenet_shape(int classes = 10);
/// Three hidden layers of one width.
NetworkShape mlp_shape(std::string name, int width, int classes);
NetworkShape bert_shape(std::string name, const BertOptions& options);

/// Throws UsageError for a name that `network_names` does not list.
NetworkShape network_shape(std::string_view name);
std::vector<std::string> network_names();

}  // namespace paceline::plan
