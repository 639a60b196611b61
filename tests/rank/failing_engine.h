// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "paceline/engines/engine.h"

namespace paceline::testing {

/// A channel that can start a given number of all-reduces and no more.
class FailingChannel final : public engines::Channel {
 public:
  FailingChannel(std::unique_ptr<engines::Channel> real, int good_all_reduces)
      : real_(std::move(real)), left_(good_all_reduces) {}

  int rank() const override { return real_->rank(); }
  int world() const override { return real_->world(); }
  Work all_reduce(const at::Tensor& values, plan::Reduce reduce) override {
    if (left_-- <= 0) {
      throw std::runtime_error("no more");
    }
    return real_->all_reduce(values, reduce);
  }
  Work reduce_scatter(const at::Tensor& in, const at::Tensor& out, plan::Reduce reduce) override {
    return real_->reduce_scatter(in, out, reduce);
  }
  Work all_gather(const at::Tensor& in, const at::Tensor& out) override {
    return real_->all_gather(in, out);
  }
  Work broadcast(const at::Tensor& values, int root) override {
    return real_->broadcast(values, root);
  }
  std::vector<Work> exchange(const std::vector<Message>& sends,
                             const std::vector<Message>& receives) override {
    return real_->exchange(sends, receives);
  }
  Work barrier() override { return real_->barrier(); }
  engines::Ledger ledger() const override { return real_->ledger(); }
  c10::intrusive_ptr<c10d::ProcessGroup> process_group() override { return real_->process_group(); }

 private:
  std::unique_ptr<engines::Channel> real_;
  int left_;
};

class FailingEngine final : public engines::Engine {
 public:
  FailingEngine(engines::Engine& real, int good_all_reduces)
      : real_(real), good_all_reduces_(good_all_reduces) {}

  std::string_view name() const override { return real_.name(); }
  std::unique_ptr<engines::Channel> connect(const engines::ChannelSpec& spec) override {
    return std::make_unique<FailingChannel>(real_.connect(spec), good_all_reduces_);
  }

 private:
  engines::Engine& real_;
  int good_all_reduces_;
};

}  // namespace paceline::testing
