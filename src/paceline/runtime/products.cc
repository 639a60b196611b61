// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/products.h"

#include <memory>
#include <string_view>

#include <ATen/core/Tensor.h>

namespace paceline::runtime {
namespace {

// Returns the number of multiplications per element of the output of a matrix product, convolution
// or attention; 0 for any other function.
double multiplications(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  const auto tensor = [&](std::size_t i) -> const at::Tensor& {
    return function.inputs()[i].toTensor();
  };
  if (name == "aten::mm" || name == "aten::bmm") {
    return static_cast<double>(tensor(0).size(-1));
  }
  if (name == "aten::addmm" || name == "aten::baddbmm") {
    return static_cast<double>(tensor(1).size(-1));
  }
  if (name == "aten::convolution") {
    const std::int64_t of_one_output = tensor(1).numel() / tensor(1).size(0);
    return static_cast<double>(of_one_output);
  }
  if (name == "aten::scaled_dot_product_attention") {
    // The first product is queries by keys, the second scores by values.
    return static_cast<double>(2 * tensor(1).size(-2));
  }
  return 0;
}

}  // namespace

struct FlopCounter::Product final : at::ObserverContext {
  double multiplications = 0;
};

thread_local FlopCounter* FlopCounter::active_ = nullptr;

FlopCounter::FlopCounter() {
  active_ = this;
  callback_ =
      at::addThreadLocalCallback(at::RecordFunctionCallback(&FlopCounter::begin, &FlopCounter::end)
                                     .needsInputs(true)
                                     .needsOutputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
}

FlopCounter::~FlopCounter() {
  at::removeCallback(callback_);
  active_ = nullptr;
}

std::unique_ptr<at::ObserverContext> FlopCounter::begin(const at::RecordFunction& function) {
  const double each = active_->in_product_ ? 0 : multiplications(function);
  if (each == 0) {
    return nullptr;
  }
  active_->in_product_ = true;
  auto product = std::make_unique<Product>();
  product->multiplications = each;
  return product;
}

void FlopCounter::end(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr) {
    return;
  }
  active_->in_product_ = false;
  active_->flops_ += 2 * static_cast<const Product*>(context)->multiplications *
                     static_cast<double>(function.outputs().at(0).toTensor().numel());
}

}  // namespace paceline::runtime
