// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>
#include <typeindex>
#include <typeinfo>

#include "paceline/runtime/executor.h"

namespace paceline::runtime {

/// Where an engine's threads report.  It outlives the executor: a report that
/// comes late finds no owner.  It owns no thread, so the last to let go of it
/// may be any of them.
struct Executor::Mailbox {
  std::recursive_mutex mutex;
  Executor* owner = nullptr;

  /// Null for works that have none; asking one costs an exception, so each
  /// class of works is asked once.
  c10::intrusive_ptr<c10::ivalue::Future> future_of(
      const comm::Channel::Work& work) {
    const c10d::Work& asked = *work;
    const std::type_index type(typeid(asked));
    const std::lock_guard mail(mutex);
    if (without_future_.contains(type)) {
      return nullptr;
    }
    try {
      return work->getFuture();
    } catch (const c10::Error&) {
      without_future_.insert(type);
      return nullptr;
    }
  }

 private:
  std::set<std::type_index> without_future_;
};

}  // namespace paceline::runtime
