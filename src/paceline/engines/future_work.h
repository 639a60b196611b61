// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace paceline::engines {

/// A work with a future, which end() completes.
class FutureWork : public c10d::Work {
 public:
  explicit FutureWork(std::vector<at::Tensor> outputs, c10d::OpType type = c10d::OpType::UNKNOWN)
      : c10d::Work(-1, type),
        outputs_(std::move(outputs)),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {}

  /// Must be called once; the future's callbacks run in this thread.
  void end(const std::exception_ptr& error) {
    finish(error);
    if (error != nullptr) {
      future_->setError(error);
    } else {
      future_->markCompleted(c10::IValue(outputs_));
    }
  }

  std::vector<at::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  std::vector<at::Tensor> outputs_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace paceline::engines
