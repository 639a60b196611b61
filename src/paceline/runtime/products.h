// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <ATen/record_function.h>

namespace paceline::runtime {

/// As long as it lives, counts the floating-point operations of the convolutions, matrix products
/// and attention scores that this thread calls.  A multiplication and an addition count as two
/// operations.  A thread may have only one counter at a time.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;

  double flops() const { return flops_; }

 private:
  struct Product;
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function);
  static void end(const at::RecordFunction& function, at::ObserverContext* context);

  static thread_local FlopCounter* active_;
  at::CallbackHandle callback_ = 0;
  bool in_product_ = false;  // inside a product: the operations that it calls are part of it
  double flops_ = 0;
};

}  // namespace paceline::runtime
