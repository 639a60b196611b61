// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>

#include "paceline/base/error.h"
#include "paceline/engines/engine.h"

namespace paceline::testing {

/// A work that ends when the test says so.
class FakeWork final : public c10d::Work {
 public:
  /// Works without a future can only be waited for, as Gloo's receives.
  explicit FakeWork(bool has_future) : has_future_(has_future) {}

  void end(const std::string& error = "") {
    const auto thrown = std::make_exception_ptr(std::runtime_error(error));
    if (error.empty()) {
      ended_.set_value();
      future_->markCompleted(c10::IValue(std::vector<at::Tensor>{}));
    } else {
      ended_.set_exception(thrown);
      future_->setError(thrown);
    }
  }

  bool wait(std::chrono::milliseconds /*timeout*/) override {
    wait_.get();
    return true;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    TORCH_CHECK(has_future_, "no future");
    return future_;
  }

 private:
  bool has_future_;
  std::promise<void> ended_;
  std::shared_future<void> wait_ = ended_.get_future().share();
  c10::intrusive_ptr<c10::ivalue::Future> future_ =
      c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
};

/// Writes down what it is asked for, and moves nothing.
class FakeChannel final : public engines::Channel {
 public:
  explicit FakeChannel(bool works_have_futures) : works_have_futures_(works_have_futures) {}

  int rank() const override { return 0; }
  int world() const override { return 2; }
  Work all_reduce(const at::Tensor& values, plan::Reduce /*reduce*/) override {
    return make_work("all-reduce", values);
  }
  Work reduce_scatter(const at::Tensor& /*in*/, const at::Tensor& out,
                      plan::Reduce /*reduce*/) override {
    return make_work("reduce-scatter", out);
  }
  Work all_gather(const at::Tensor& /*in*/, const at::Tensor& out) override {
    return make_work("all-gather", out);
  }
  Work broadcast(const at::Tensor& values, int root) override {
    return make_work("broadcast from " + std::to_string(root), values);
  }
  std::vector<Work> exchange(const std::vector<Message>& sends,
                             const std::vector<Message>& receives) override {
    std::vector<Work> started;
    for (const auto& [from, word] :
         {std::pair(receives, "receive from "), std::pair(sends, "send to ")}) {
      for (const Message& message : from) {
        started.push_back(
            make_work(word + std::to_string(message.peer) + " tag " + std::to_string(message.tag),
                      message.values));
      }
    }
    return started;
  }
  Work barrier() override { PACELINE_CHECK(false); }
  engines::Ledger ledger() const override { return {}; }
  c10::intrusive_ptr<c10d::ProcessGroup> process_group() override { return {}; }

  bool ends_at_once = false;
  std::vector<std::string> calls;
  std::vector<at::Tensor> tensors;  // of the calls
  std::vector<c10::intrusive_ptr<FakeWork>> works;

 private:
  Work make_work(std::string call, const at::Tensor& tensor) {
    calls.push_back(std::move(call));
    tensors.push_back(tensor);
    works.push_back(c10::make_intrusive<FakeWork>(works_have_futures_));
    if (ends_at_once) {
      works.back()->end();
    }
    return works.back();
  }

  bool works_have_futures_;
};

}  // namespace paceline::testing
