// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <stdexcept>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace paceline::testing {

/// Ends when it is told to; with a future, as Gloo's collectives, or without one, as its messages,
/// which may be waited for once.
class ControlledWork final : public c10d::Work {
 public:
  explicit ControlledWork(bool has_future)
      : future_(has_future ? c10::make_intrusive<c10::ivalue::Future>(
                                 c10::ListType::create(c10::TensorType::get()))
                           : nullptr) {}

  void end(const std::exception_ptr& error = nullptr) {
    finish(error);
    if (future_ != nullptr && error != nullptr) {
      future_->setError(error);
    } else if (future_ != nullptr) {
      future_->markCompleted(c10::IValue(std::vector<at::Tensor>()));
    }
  }

  bool wait(std::chrono::milliseconds timeout) override {
    if (future_ == nullptr && waited_++ > 0) {
      throw std::logic_error("waited for a message twice");
    }
    return Work::wait(timeout);
  }

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    TORCH_CHECK(future_ != nullptr, "no future");
    return future_;
  }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  int waited_ = 0;
};

}  // namespace paceline::testing
