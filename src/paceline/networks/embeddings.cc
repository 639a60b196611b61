// SPDX-License-Identifier: Apache-2.0
// Networks whose first layer pools rows of embedding tables into bags.  Kernels of the plan compute
// the bags.
#include <string>
#include <vector>

#include "paceline/networks/families.h"
#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"

namespace paceline::networks {
namespace {

namespace nn = torch::nn;

/// The concatenated bags of all tables as a parameter. The plan's kernels write the bags into it
/// before the forward pass, and send its gradient to the tables.
class EmbeddingBagsImpl final : public nn::Module, public Gated {
 public:
  EmbeddingBagsImpl(int bags, int width) {
    pooled_ = register_parameter("pooled", torch::zeros({bags, width}));
  }

  /// Returns the first `bags` bags: [bags, width].
  at::Tensor forward(std::int64_t bags) {
    return run_through_gates([&] { return pooled_.narrow(0, 0, bags); });
  }

 private:
  at::Tensor pooled_;
};
TORCH_MODULE(EmbeddingBags);

/// The dense part of PyTorch's DDP and RPC benchmark: linear layers of 256, 128, 64 and 32 units
/// before the classes.  The original has 512 inputs and one ReLU, after the second layer; here
/// there is a ReLU after each layer except the last, unless `has_one_relu` is set.
class HybridEmbeddingNetwork final : public Classifier {
 public:
  explicit HybridEmbeddingNetwork(const NetworkOptions& options)
      : one_relu_(options.has_one_relu),
        layers_(linear_layers(*this, options.bag_width, {256, 128, 64, 32, options.classes})),
        bags_(register_module("embedding_bags", EmbeddingBags(options.bags, options.bag_width))) {}

  /// The bags' parameter, which the plan treats separately, is registered last.
  bool numbers_parameters_by_registration() const override { return true; }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor hidden = bags_->forward(input.size(0));
    if (!one_relu_) {
      return with_relu(layers_, hidden);
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      hidden = layers_[i](hidden);
      hidden = i == 1 ? hidden.relu_() : hidden;
    }
    return hidden;
  }

 private:
  bool one_relu_;
  std::vector<Linear> layers_;
  EmbeddingBags bags_;
};

/// Linear layers with a ReLU after each, or after each except the last.
class DenseLayersImpl final : public nn::Module {
 public:
  DenseLayersImpl(int inputs, const std::vector<int>& units, bool last_relu)
      : last_relu_(last_relu), layers_(linear_layers(*this, inputs, units)) {}

  at::Tensor forward(const at::Tensor& hidden) { return with_relu(layers_, hidden, last_relu_); }

 private:
  bool last_relu_;
  std::vector<Linear> layers_;
};
TORCH_MODULE(DenseLayers);

class Dlrm final : public Classifier {
 public:
  Dlrm(int features, const NetworkOptions& options)
      : tables_(options.bag_tables),
        dim_(options.bag_width / options.bag_tables),
        bottom_(features, std::vector<int>{512, 256, 64, dim_}, true),
        bags_(options.bags, options.bag_width),
        top_(dim_ + (tables_ + 1) * tables_ / 2, std::vector<int>{512, 256, options.classes},
             false) {
    register_module("bottom", bottom_);
    register_module("top", top_);
    register_module("embedding_bags", bags_);
  }

  /// The bags' parameter, which the plan treats separately, is registered last.
  bool numbers_parameters_by_registration() const override { return true; }

  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor dense = bottom_->forward(input);
    const at::Tensor rows = bags_->forward(input.size(0));
    const at::Tensor all = at::cat({dense, rows}, 1).view({input.size(0), tables_ + 1, dim_});
    const at::Tensor dots = at::bmm(all, all.transpose(1, 2));
    const at::Tensor below = at::tril_indices(tables_ + 1, tables_ + 1, -1);
    return top_->forward(at::cat({dense, dots.index({every_sample(), below[0], below[1]})}, 1));
  }

 private:
  static at::indexing::TensorIndex every_sample() { return at::indexing::Slice(); }

  int tables_, dim_;
  DenseLayers bottom_;
  EmbeddingBags bags_;
  DenseLayers top_;
};

}  // namespace

std::shared_ptr<Network> make_hybrid(const NetworkOptions& options) {
  return std::make_shared<HybridEmbeddingNetwork>(options);
}

std::shared_ptr<Network> make_dlrm(int features, const NetworkOptions& options) {
  return std::make_shared<Dlrm>(features, options);
}

}  // namespace paceline::networks
