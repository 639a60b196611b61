// SPDX-License-Identifier: Apache-2.0
// Networks whose first layer are bags of embedding rows, which a plan looks up.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/networks/families.h"
#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"

namespace paceline::networks {
namespace {

namespace nn = torch::nn;

/// The bags of all tables, side by side: a parameter in which the plan puts
/// what was looked up, and whose gradient the plan takes to the tables.
class EmbeddingBagsImpl final : public nn::Module, public Gated {
 public:
  EmbeddingBagsImpl(int bags, int width) {
    pooled_ = register_parameter("pooled", torch::zeros({bags, width}));
  }

  /// The first `bags` bags: [bags, width].
  at::Tensor forward(std::int64_t bags) {
    return through([&] { return pooled_.narrow(0, 0, bags); });
  }

 private:
  at::Tensor pooled_;
};

class EmbeddingBags final : public nn::ModuleHolder<EmbeddingBagsImpl> {
 public:
  using nn::ModuleHolder<EmbeddingBagsImpl>::ModuleHolder;
};

/// The dense part of PyTorch's DDP and RPC benchmark: linear layers of 256,
/// 128, 64 and 32 units in front of the classes.  The original has 512 inputs
/// and one ReLU, behind the second layer; here there is one behind each layer
/// but the last, unless `one_relu`.
class Hybrid final : public Classifier {
 public:
  explicit Hybrid(const NetworkOptions& options)
      : one_relu_(options.one_relu), bags_(options.bags, options.bag_width) {
    int inputs = options.bag_width;
    for (const int units : {256, 128, 64, 32, options.classes}) {
      layers_.emplace_back(inputs, units);
      register_module(fmt::format("fc{}", layers_.size()), layers_.back());
      inputs = units;
    }
    register_module("embedding_bags", bags_);
  }

  /// The parameter of the bags, which the plan takes apart, is the last.
  bool numbers_as_registered() const override { return true; }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor hidden = bags_->forward(input.size(0));
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      hidden = layers_[i](hidden);
      if (one_relu_ ? i == 1 : i + 1 < layers_.size()) {
        hidden = hidden.relu_();
      }
    }
    return hidden;
  }

 private:
  bool one_relu_;
  EmbeddingBags bags_;
  std::vector<Linear> layers_;
};

}  // namespace

std::shared_ptr<Network> make_hybrid(const NetworkOptions& options) {
  return std::make_shared<Hybrid>(options);
}

}  // namespace paceline::networks
