// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "paceline/networks/families.h"
#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"

namespace paceline::networks {
namespace {

namespace nn = torch::nn;

Conv2d square_conv(int in, int out, int kernel, int stride, int groups = 1) {
  return Conv2d(nn::Conv2dOptions(in, out, kernel)
                    .stride(stride)
                    .padding(kernel / 2)
                    .groups(groups)
                    .bias(false));
}

/// The numbers of channels and the stride of a block, which follow from its position in the
/// network.
struct BlockShape {
  int in = 0;
  int planes = 0;
  int stride = 1;
  int groups = 1;
  int width_per_group = 64;
};

int expansion_of(BlockKind kind) { return kind == BlockKind::kBasic ? 1 : 4; }

/// Returns the projection of the identity branch if that branch changes its shape; else an empty
/// module.
nn::Sequential projection(const BlockShape& place, int out) {
  if (place.stride == 1 && place.in == out) {
    return nn::Sequential{nullptr};
  }
  return nn::Sequential(square_conv(place.in, out, 1, place.stride), BatchNorm2d(out));
}

/// out = relu(residual(x) + identity(x)), where the residual branch is convolutions, each followed
/// by a batch norm, with relu between them.
class BlockImpl final : public nn::Module {
 public:
  BlockImpl(const BlockShape& place, BlockKind kind)
      : downsample_(projection(place, place.planes * expansion_of(kind))) {
    if (kind == BlockKind::kBasic) {
      add(place.planes, square_conv(place.in, place.planes, 3, place.stride));
      add(place.planes, square_conv(place.planes, place.planes, 3, 1));
    } else {
      const int width = place.planes * place.width_per_group / 64 * place.groups;
      const int out = place.planes * expansion_of(kind);
      add(width, square_conv(place.in, width, 1, 1));
      add(width, square_conv(width, width, 3, place.stride, place.groups));
      add(out, square_conv(width, out, 1, 1));
    }
    if (!downsample_.is_empty()) {
      register_module("downsample", downsample_);  // last, as in torchvision's state dict
    }
  }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor hidden = norms_[0](convs_[0](input));
    for (std::size_t i = 1; i < convs_.size(); ++i) {
      hidden = norms_[i](convs_[i](hidden.relu_()));
    }
    // The projection runs last, as in torchvision: its gradients are ready first.
    return hidden.add_(downsample_.is_empty() ? input : downsample_->forward(input)).relu_();
  }

 private:
  void add(int planes, const Conv2d& conv) {
    convs_.emplace_back(register_module(fmt::format("conv{}", convs_.size() + 1), conv));
    norms_.emplace_back(register_module(fmt::format("bn{}", convs_.size()), BatchNorm2d(planes)));
  }

  nn::Sequential downsample_;
  std::vector<Conv2d> convs_;
  std::vector<BatchNorm2d> norms_;
};

class ResidualBlock final : public nn::ModuleHolder<BlockImpl> {
 public:
  using nn::ModuleHolder<BlockImpl>::ModuleHolder;
};

/// Makes stage `index`.  Its first block sets the stage's number of channels and, except in stage
/// 0, halves the image.
nn::Sequential make_stage(const ResNetShape& shape, std::size_t index, int& in) {
  const int planes = 64 << index;
  nn::Sequential stage;
  for (int i = 0; i < shape.depths[index]; ++i) {
    stage->push_back(ResidualBlock(BlockShape{.in = in,
                                              .planes = planes,
                                              .stride = i == 0 && index > 0 ? 2 : 1,
                                              .groups = shape.groups,
                                              .width_per_group = shape.width_per_group},
                                   shape.block));
    in = planes * expansion_of(shape.block);
  }
  return stage;
}

class ResNet final : public Classifier {
 public:
  ResNet(const ResNetShape& shape, int classes) : conv1_(square_conv(3, 64, 7, 2)), bn1_(64) {
    register_module("conv1", conv1_);
    register_module("bn1", bn1_);
    int width = 64;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      stages_[i] = make_stage(shape, i, width);
      register_module(fmt::format("layer{}", i + 1), stages_[i]);
    }
    fc_ = register_module("fc", Linear(width, classes));
    initialize();
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor hidden = bn1_(conv1_(input)).relu_();
    hidden = at::max_pool2d(hidden, 3, 2, 1);
    for (nn::Sequential& stage : stages_) {
      hidden = stage->forward(hidden);
    }
    return fc_(at::adaptive_avg_pool2d(hidden, {1, 1}).flatten(1));
  }

 private:
  /// Initializes convolutions by fan-out, as He et al., ICCV 2015, arXiv:1502.01852.  Batch norms
  /// (weight 1, bias 0) and the last layer keep libtorch's defaults.
  void initialize() {
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2dImpl>()) {
        nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
      }
    }
  }

  Conv2d conv1_;
  BatchNorm2d bn1_;
  std::array<nn::Sequential, 4> stages_{nullptr, nullptr, nullptr, nullptr};
  Linear fc_{nullptr};
};

}  // namespace

std::shared_ptr<Network> make_resnet(const ResNetShape& shape, const NetworkOptions& options) {
  return std::make_shared<ResNet>(shape, options.classes);
}

}  // namespace paceline::networks
