// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>

#include "paceline/networks/catalogue.h"

namespace paceline::networks {

enum class BlockKind { kBasic, kBottleneck };

/// One member of the residual family (He et al., CVPR 2016, arXiv:1512.03385; ResNeXt: Xie et al.,
/// CVPR 2017, arXiv:1611.05431).  A bottleneck has its stride in the 3x3 convolution: the variant
/// "v1.5", which torchvision uses.
struct ResNetShape {
  BlockKind block = BlockKind::kBottleneck;
  std::array<int, 4> depths{};  // blocks per stage
  int groups = 1;
  int width_per_group = 64;
};

/// One member of the family of BERT (Devlin et al., NAACL 2019, arXiv:1810.04805).
struct BertShape {
  int vocabulary = 30528;  // the original vocabulary of 30522, padded to a multiple of 8
  int hidden = 768;
  int layers = 12;
  int heads = 12;
  int intermediate = 3072;
};

// These functions make the networks of the table's rows.  Every field of `options` must be set, and
// the image must not be too small for the network.
std::shared_ptr<Network> make_resnet(const ResNetShape& shape, const NetworkOptions& options);
/// VGG-16: configuration D of Simonyan and Zisserman, ICLR 2015, arXiv:1409.1556.
std::shared_ptr<Network> make_vgg16(const NetworkOptions& options);
/// LeNet-5 (LeCun et al., Proc. IEEE 1998) with ReLU and max pooling, which keep integer values
/// integer.
std::shared_ptr<Network> make_lenet(const NetworkOptions& options);
/// One linear layer: a regression if it has one output, else a classifier.
std::shared_ptr<Network> make_linear(int channels, const NetworkOptions& options);

/// A perceptron with three hidden layers of `width` and ReLU, without batch norm.
std::shared_ptr<Network> make_mlp(int channels, int width, const NetworkOptions& options);
/// BERT with the heads of pre-training: masked words, with a decoder tied to the word embedding,
/// and next sentence.
std::shared_ptr<Network> make_bert(const BertShape& shape, const NetworkOptions& options);
/// The dense part of PyTorch's DDP and RPC benchmark, after embedding bags.
std::shared_ptr<Network> make_hybrid(const NetworkOptions& options);
/// DLRM (Naumov et al., arXiv:1906.00091) with the layers of its Kaggle configuration, but with two
/// classes (click or no click) instead of one output.
std::shared_ptr<Network> make_dlrm(int features, const NetworkOptions& options);

}  // namespace paceline::networks
