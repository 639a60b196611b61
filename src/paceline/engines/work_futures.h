// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>
#include <typeindex>
#include <typeinfo>

#include <torch/csrc/distributed/c10d/Work.hpp>

namespace paceline::engines {

/// The futures of works, where they have some; from any thread.
class WorkFutures {
 public:
  /// Null for works that have none; asking one costs an exception, so each
  /// class of works is asked once.
  c10::intrusive_ptr<c10::ivalue::Future> of(
      const c10::intrusive_ptr<c10d::Work>& work) {
    const c10d::Work& asked = *work;
    const std::type_index type(typeid(asked));
    const std::lock_guard lock(mutex_);
    if (without_.contains(type)) {
      return nullptr;
    }
    try {
      return work->getFuture();
    } catch (const c10::Error&) {
      without_.insert(type);
      return nullptr;
    }
  }

 private:
  std::mutex mutex_;
  std::set<std::type_index> without_;
};

}  // namespace paceline::engines
