// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>
#include <typeindex>
#include <typeinfo>
#include <utility>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "paceline/engines/waiters.h"

namespace paceline::engines {

/// Returns the future of a work, if the work has one. Any thread may call it.
class WorkFutures {
 public:
  /// Returns null if the work has no future.  Asking such a work costs an exception, so a class of
  /// works without futures is asked only once.
  c10::intrusive_ptr<c10::ivalue::Future> of(const c10::intrusive_ptr<c10d::Work>& work) {
    const c10d::Work& asked = *work;
    const std::type_index type(typeid(asked));
    const std::lock_guard lock(mutex_);
    if (types_without_future_.contains(type)) {
      return nullptr;
    }
    try {
      return work->getFuture();
    } catch (const c10::Error&) {
      types_without_future_.insert(type);
      return nullptr;
    }
  }

 private:
  std::mutex mutex_;
  std::set<std::type_index> types_without_future_;
};

/// Calls `done` when the work is done: by its future if it has one, else by a thread that waits.
inline void when_done(const c10::intrusive_ptr<c10d::Work>& work, WorkFutures& futures,
                      Waiters& waiters, Waiters::Done done) {
  if (const auto future = futures.of(work)) {
    future->addCallback([done = std::move(done)](c10::ivalue::Future& ended) {
      done(ended.hasError() ? ended.exception_ptr() : nullptr);
    });
  } else {
    waiters.watch([work] { work->wait(); }, std::move(done));
  }
}

}  // namespace paceline::engines
