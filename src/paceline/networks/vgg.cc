// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/networks/families.h"
#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"

namespace paceline::networks {
namespace {

namespace nn = torch::nn;

constexpr double kVggDropout = 0.5;
constexpr int kPoolingMark = 0;
// Output channels of the 13 convolutions, with kPoolingMark where a stage ends.
constexpr auto kVgg16 =
    std::to_array<int>({64, 64, kPoolingMark, 128, 128, kPoolingMark, 256, 256, 256, kPoolingMark,
                        512, 512, 512, kPoolingMark, 512, 512, 512, kPoolingMark});

nn::Sequential make_features() {
  nn::Sequential features;
  int in = 3;
  for (const int out : kVgg16) {
    if (out == kPoolingMark) {
      features->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)));
      continue;
    }
    features->push_back(Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)));
    features->push_back(nn::ReLU(nn::ReLUOptions(/*inplace=*/true)));
    in = out;
  }
  return features;
}

nn::Sequential make_classifier(int classes, double dropout) {
  const nn::ReLUOptions in_place(true);
  return nn::Sequential(Linear(512 * 7 * 7, 4096), nn::ReLU(in_place), nn::Dropout(dropout),
                        Linear(4096, 4096), nn::ReLU(in_place), nn::Dropout(dropout),
                        Linear(4096, classes));
}

class Vgg final : public Classifier {
 public:
  explicit Vgg(const NetworkOptions& options)
      : features_(make_features()),
        classifier_(make_classifier(options.classes, options.dropout.value_or(kVggDropout))) {
    register_module("features", features_);
    register_module("classifier", classifier_);
    initialize();
  }

  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor hidden = features_->forward(input);
    return classifier_->forward(at::adaptive_avg_pool2d(hidden, {7, 7}).flatten(1));
  }

 private:
  void initialize() {
    const torch::NoGradGuard no_grad;
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2dImpl>()) {
        nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
        conv->bias.zero_();
      } else if (auto* linear = module->as<nn::LinearImpl>()) {
        linear->weight.normal_(0, 0.01);
        linear->bias.zero_();
      }
    }
  }

  nn::Sequential features_;
  nn::Sequential classifier_;
};

}  // namespace

std::shared_ptr<Network> make_vgg16(const NetworkOptions& options) {
  return std::make_shared<Vgg>(options);
}

}  // namespace paceline::networks
