// SPDX-License-Identifier: Apache-2.0
// Networks without batch norm: every rank's gradient is a plain sum over its examples, so that
// reduced values can be checked exactly.
#include <vector>

#include "paceline/networks/families.h"
#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"

namespace paceline::networks {
namespace {

namespace nn = torch::nn;

class Mlp final : public Classifier {
 public:
  Mlp(int features, int width, int classes)
      : layers_(linear_layers(*this, features, {width, width, width, classes})) {}

  at::Tensor forward(const at::Tensor& input) override {
    return with_relu(layers_, input.flatten(1));
  }

 private:
  std::vector<Linear> layers_;
};

/// Returns the side of LeNet's last feature map, after twice a 5x5 convolution and a halving.
constexpr int lenet_side(int image_size) { return ((image_size - 4) / 2 - 4) / 2; }

class LeNet final : public Classifier {
 public:
  LeNet(int side, int classes)
      : conv1_(register_module("conv1", Conv2d(nn::Conv2dOptions(1, 6, 5)))),
        conv2_(register_module("conv2", Conv2d(nn::Conv2dOptions(6, 16, 5)))),
        layers_(linear_layers(*this, 16 * side * side, {120, 84, classes})) {}

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor hidden = at::max_pool2d(conv1_(input).relu_(), 2);
    hidden = at::max_pool2d(conv2_(hidden).relu_(), 2).flatten(1);
    return with_relu(layers_, hidden);
  }

 private:
  Conv2d conv1_, conv2_;
  std::vector<Linear> layers_;
};

class LinearModel final : public Classifier {
 public:
  LinearModel(int features, int outputs) : fc_(features, outputs) { register_module("fc", fc_); }

  at::Tensor forward(const at::Tensor& input) override { return fc_(input.flatten(1)); }

 private:
  Linear fc_;
};

}  // namespace

std::shared_ptr<Network> make_linear(int channels, const NetworkOptions& options) {
  return std::make_shared<LinearModel>(channels * options.image_size * options.image_size,
                                       options.classes);
}

std::shared_ptr<Network> make_mlp(int channels, int width, const NetworkOptions& options) {
  const int side = options.image_size;
  return std::make_shared<Mlp>(channels * side * side, width, options.classes);
}

std::shared_ptr<Network> make_lenet(const NetworkOptions& options) {
  return std::make_shared<LeNet>(lenet_side(options.image_size), options.classes);
}

}  // namespace paceline::networks
