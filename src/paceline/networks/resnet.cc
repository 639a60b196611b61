// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/base/error.h"
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

/// The parameters that a block derives from its place in the network.
struct Place {
  int in = 0;
  int planes = 0;
  int stride = 1;
  int groups = 1;
  int width_per_group = 64;
};

/// Returns the projection of the identity branch if that branch changes its shape; else an empty
/// module.
nn::Sequential projection(const Place& place, int out) {
  if (place.stride == 1 && place.in == out) {
    return nn::Sequential{nullptr};
  }
  return nn::Sequential(square_conv(place.in, out, 1, place.stride), BatchNorm2d(out));
}

/// The common part of both kinds of block: out = relu(residual(x) + identity(x)).
class ResidualImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& input) {
    // The projection runs last, as in torchvision: its gradients are ready first.
    const at::Tensor hidden = residual(input);
    return hidden.add_(downsample_.is_empty() ? input : downsample_->forward(input)).relu_();
  }

 protected:
  explicit ResidualImpl(nn::Sequential downsample) : downsample_(std::move(downsample)) {}

  /// Registers the projection last, where torchvision's state dict has it.
  void register_downsample() {
    if (!downsample_.is_empty()) {
      register_module("downsample", downsample_);
    }
  }

 private:
  virtual at::Tensor residual(const at::Tensor& input) = 0;

  nn::Sequential downsample_;
};

class BasicImpl final : public ResidualImpl {
 public:
  static constexpr int kExpansion = 1;

  explicit BasicImpl(const Place& place)
      : ResidualImpl(projection(place, place.planes)),
        conv1_(square_conv(place.in, place.planes, 3, place.stride)),
        bn1_(place.planes),
        conv2_(square_conv(place.planes, place.planes, 3, 1)),
        bn2_(place.planes) {
    register_module("conv1", conv1_);
    register_module("bn1", bn1_);
    register_module("conv2", conv2_);
    register_module("bn2", bn2_);
    register_downsample();
  }

 private:
  at::Tensor residual(const at::Tensor& input) override {
    const at::Tensor hidden = bn1_(conv1_(input)).relu_();
    return bn2_(conv2_(hidden));
  }

  Conv2d conv1_;
  BatchNorm2d bn1_;
  Conv2d conv2_;
  BatchNorm2d bn2_;
};
TORCH_MODULE(Basic);

class BottleneckImpl final : public ResidualImpl {
 public:
  static constexpr int kExpansion = 4;

  explicit BottleneckImpl(const Place& place)
      : BottleneckImpl(place, place.planes * place.width_per_group / 64 * place.groups,
                       place.planes * kExpansion) {}

 private:
  BottleneckImpl(const Place& place, int width, int out)
      : ResidualImpl(projection(place, out)),
        conv1_(square_conv(place.in, width, 1, 1)),
        bn1_(width),
        conv2_(square_conv(width, width, 3, place.stride, place.groups)),
        bn2_(width),
        conv3_(square_conv(width, out, 1, 1)),
        bn3_(out) {
    register_module("conv1", conv1_);
    register_module("bn1", bn1_);
    register_module("conv2", conv2_);
    register_module("bn2", bn2_);
    register_module("conv3", conv3_);
    register_module("bn3", bn3_);
    register_downsample();
  }

  at::Tensor residual(const at::Tensor& input) override {
    at::Tensor hidden = bn1_(conv1_(input)).relu_();
    hidden = bn2_(conv2_(hidden)).relu_();
    return bn3_(conv3_(hidden));
  }

  Conv2d conv1_;
  BatchNorm2d bn1_;
  Conv2d conv2_;
  BatchNorm2d bn2_;
  Conv2d conv3_;
  BatchNorm2d bn3_;
};
TORCH_MODULE(Bottleneck);

/// Makes stage `index`.  Its first block widens and, except in stage 0, halves the image.
template <class Block>
nn::Sequential make_stage(const ResNetShape& shape, std::size_t index, int& in) {
  const int planes = 64 << index;
  nn::Sequential stage;
  for (int i = 0; i < shape.depths[index]; ++i) {
    stage->push_back(Block(Place{.in = in,
                                 .planes = planes,
                                 .stride = i == 0 && index > 0 ? 2 : 1,
                                 .groups = shape.groups,
                                 .width_per_group = shape.width_per_group}));
    in = planes * Block::Impl::kExpansion;
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
      stages_[i] = shape.block == Block::kBasic ? make_stage<Basic>(shape, i, width)
                                                : make_stage<Bottleneck>(shape, i, width);
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
  /// Initializes as He et al., ICCV 2015, arXiv:1502.01852, by fan out.  Batch norm, at (1, 0), and
  /// the last layer keep libtorch's defaults.
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
  if (options.image_size < 32) {
    throw UsageError(fmt::format("image size {} is too small for a ResNet: 32 or more is needed",
                                 options.image_size));
  }
  return std::make_shared<ResNet>(shape, options.classes);
}

}  // namespace paceline::networks
