// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/engines/engine.h"

namespace paceline::testing {

/// A channel that hands every call on, for tests that change one of them.
class PassingChannel : public engines::Channel {
 public:
  explicit PassingChannel(engines::Channel& real) : real_(real) {}

  int rank() const override { return real_.rank(); }
  int world() const override { return real_.world(); }
  Work all_reduce(const at::Tensor& values, plan::Reduce reduce) override {
    return real_.all_reduce(values, reduce);
  }
  Work reduce_scatter(const at::Tensor& in, const at::Tensor& out, plan::Reduce reduce) override {
    return real_.reduce_scatter(in, out, reduce);
  }
  Work all_gather(const at::Tensor& in, const at::Tensor& out) override {
    return real_.all_gather(in, out);
  }
  Work broadcast(const at::Tensor& values, int root) override {
    return real_.broadcast(values, root);
  }
  std::vector<Work> exchange(const std::vector<Message>& sends,
                             const std::vector<Message>& receives) override {
    return real_.exchange(sends, receives);
  }
  Work barrier() override { return real_.barrier(); }
  engines::Ledger ledger() const override { return real_.ledger(); }
  c10::intrusive_ptr<c10d::ProcessGroup> process_group() override { return real_.process_group(); }

 private:
  engines::Channel& real_;
};

}  // namespace paceline::testing
