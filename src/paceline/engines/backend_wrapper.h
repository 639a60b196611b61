// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace paceline::engines {

/// A c10d backend that wraps another one, which does the work.  Names, time
/// limits, sequence numbers, groups and barriers, which carry no data, are
/// forwarded; every other operation that a subclass does not override throws
/// c10d's "does not support".
///
/// Single-tensor collectives have their old names: PyTorch 2.11 to 2.14 all
/// have them, and forward to the new ones where those exist.
class BackendWrapper : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;

  explicit BackendWrapper(c10::intrusive_ptr<c10d::Backend> inner)
      : c10d::Backend(inner->getRank(), inner->getSize()),
        inner_(std::move(inner)) {}

  const std::string getBackendName() const override {
    return inner_->getBackendName();
  }
  void setTimeout(std::chrono::milliseconds timeout) override {
    inner_->setTimeout(timeout);
  }
  void setSequenceNumberForGroup() override {
    inner_->setSequenceNumberForGroup();
  }
  std::uint64_t getSequenceNumberForGroup() override {
    return inner_->getSequenceNumberForGroup();
  }
  bool supportsCoalescing() const override {
    return inner_->supportsCoalescing();
  }
  void startCoalescing() override { inner_->startCoalescing(); }
  Work endCoalescing() override { return inner_->endCoalescing(); }
  Work barrier(const c10d::BarrierOptions& options) override {
    return inner_->barrier(options);
  }

 protected:
  const c10::intrusive_ptr<c10d::Backend> inner_;
};

}  // namespace paceline::engines
