// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/progress.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/prctl.h>

namespace paceline::engines::mpi {
namespace {

using Clock = std::chrono::steady_clock;

struct EndedOperation {
  std::list<Operation> operation;  // has one element
  std::exception_ptr error;
};

// Returns whether all requests have ended; frees those that have.
bool test_requests(Operation& operation) {
  bool all = true;
  for (MPI_Request& request : operation.requests) {
    int ended = 1;
    if (request != MPI_REQUEST_NULL) {
      check(MPI_Test(&request, &ended, MPI_STATUS_IGNORE), operation.what);
    }
    all = all && ended != 0;
  }
  return all;
}

std::exception_ptr timed_out(const Operation& operation) {
  return std::make_exception_ptr(std::runtime_error(
      fmt::format("{}: timed out, a peer did not take part within {:g} s", operation.what,
                  std::chrono::duration<double>(operation.limit).count())));
}

}  // namespace

void check(int result, const std::string& what) {
  if (result == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw std::runtime_error(
      fmt::format("{}: connection to a peer lost (MPI: {})", what,
                  std::string_view(text.data(), static_cast<std::size_t>(std::max(length, 0)))));
}

std::exception_ptr failed_communicator_error(const std::string& what) {
  return std::make_exception_ptr(
      std::runtime_error(what + ": connection to a peer lost (an earlier operation failed)"));
}

void Backoff::wait() {
  constexpr int kLooksAtOnce = 8;
  constexpr int kLongestUs = 50;
  const int doublings = std::min(idle_tests_ - kLooksAtOnce, 6);
  ++idle_tests_;
  if (doublings >= 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(1 << doublings, kLongestUs)));
  }
}

void Progress::add(Operation operation) {
  {
    const std::lock_guard lock(mutex_);
    // The communicator may have failed, in `abort`, between the start of the requests and this
    // call.
    const bool failed = operation.failed != nullptr && *operation.failed;
    if (!failed) {
      in_flight_.push_back(std::move(operation));
      wake_.notify_one();
      return;
    }
    abandoned_.push_back(operation);
  }
  operation.done(failed_communicator_error(operation.what));
}

bool Progress::poll() {
  std::vector<EndedOperation> ended;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
      return false;
    }
    const auto now = Clock::now();
    for (auto it = in_flight_.begin(); it != in_flight_.end();) {
      const auto next = std::next(it);
      EndedOperation end;
      bool over = true;
      try {
        over = test_requests(*it);
      } catch (...) {
        end.error = std::current_exception();
      }
      const bool late = !over && now - it->begun > it->limit;
      if (late) {
        end.error = timed_out(*it);
      }
      if (end.error) {
        abandoned_.push_back(*it);
      }
      if (over || late) {
        end.operation.splice(end.operation.end(), in_flight_, it);
        ended.push_back(std::move(end));
      }
      it = next;
    }
  }
  for (const EndedOperation& end : ended) {
    end.operation.front().done(end.error);
  }
  return !ended.empty();
}

void Progress::abort(const std::atomic<bool>& failed, const std::exception_ptr& error) {
  std::list<Operation> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = in_flight_.begin(); it != in_flight_.end();) {
      const auto next = std::next(it);
      if (it->failed == &failed) {
        abandoned_.push_back(*it);
        ended.splice(ended.end(), in_flight_, it);
      }
      it = next;
    }
  }
  for (const Operation& operation : ended) {
    operation.done(error);
  }
}

void Progress::run() {
  // By default the kernel may lengthen a thread's sleep by 50 us.
  prctl(PR_SET_TIMERSLACK, 1UL);
  Backoff backoff;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (in_flight_.empty()) {
        wake_.wait(lock, [this] { return stop_ || !in_flight_.empty(); });
        backoff.reset();
      }
      if (stop_) {
        return;
      }
    }
    if (poll()) {
      backoff.reset();
    } else {
      backoff.wait();
    }
  }
}

void Progress::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
}

bool Progress::holds_memory() const {
  const std::lock_guard lock(mutex_);
  return !in_flight_.empty() || !abandoned_.empty();
}

}  // namespace paceline::engines::mpi
