// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "paceline/execution/device.h"

namespace paceline::testing {

/// A device that runs behind the host, as a GPU does: streams are queues, and a thread takes from
/// them at random moments what may begin or end.  So two works run at once unless an event or their
/// stream keeps them apart.
class FakeDevice final : public execution::Device {
 public:
  enum class Kind : std::uint8_t { kForward, kBackward, kKernel, kCommunication };
  /// What is wrong with it, for tests that must fail.
  struct Faults {
    bool drops_waits = false;  // no stream waits for an event
    bool one_stream = false;   // all streams are one
  };
  using Done = std::function<void()>;

  FakeDevice(std::uint32_t seed, const Faults& faults)
      : faults_(faults), random_(seed), streams_(1) {
    thread_ = std::thread([this] { run(); });
  }
  ~FakeDevice() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  void enter_thread() override {}
  Stream add_stream() override {
    const std::lock_guard lock(mutex_);
    if (faults_.one_stream) {
      return 0;
    }
    streams_.emplace_back();
    return static_cast<Stream>(streams_.size()) - 1;
  }
  void wait(Stream stream, const execution::Event& event) override {
    if (!faults_.drops_waits) {
      push(stream, {.what = Item::What::kWait, .done = static_cast<const FakeEvent&>(event).done});
    }
  }
  void on(Stream stream, const std::function<void()>& put) override {
    const Stream before = std::exchange(current(), stream);
    put();
    current() = before;
  }
  execution::EventPtr record(Stream stream) override {
    const auto event = std::make_shared<FakeEvent>();
    push(stream, {.what = Item::What::kRecord, .done = event->done});
    return event;
  }

  /// A work of the stream that `on` names, else of the training thread's.
  void put(Kind kind, std::function<void()> begin, std::function<void()> end) {
    push(current(), {.kind = kind,
                     .begin =
                         [begin = std::move(begin)](const Done& done) {
                           begin();
                           done();
                         },
                     .end = std::move(end)});
  }
  /// A work that may end once the function that `begin` gets was called.
  void put_async(Kind kind, std::function<void(Done)> begin) {
    push(current(), {.kind = kind, .begin = std::move(begin)});
  }

  /// Whether some work of kind `a` ran at the same time as one of kind `b`.
  bool overlapped(Kind a, Kind b) const {
    const std::lock_guard lock(mutex_);
    for (const Span& one : spans_) {
      for (const Span& other : spans_) {
        if (&one != &other && one.kind == a && other.kind == b && one.begin < other.end &&
            other.begin < one.end) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  using Flag = std::shared_ptr<std::atomic<bool>>;
  struct FakeEvent final : execution::Event {
    bool is_done() const override { return *done; }
    Flag done = std::make_shared<std::atomic<bool>>(false);
  };
  struct Item {
    enum class What : std::uint8_t { kWork, kWait, kRecord };
    enum class State : std::uint8_t { kQueued, kRunning, kMayEnd };
    What what = What::kWork;
    Flag done{};  // of the event
    Kind kind{};
    std::function<void(Done)> begin{};
    std::function<void()> end{};
    State state = State::kQueued;
    std::int64_t began = 0;
  };
  struct Span {
    Kind kind{};
    std::int64_t begin = 0, end = 0;
  };

  static Stream& current() {
    thread_local Stream stream = kCompute;
    return stream;
  }

  void push(Stream stream, Item item) {
    {
      const std::lock_guard lock(mutex_);
      streams_[static_cast<std::size_t>(stream == kCompute ? 0 : stream)].push_back(
          std::move(item));
    }
    wake_.notify_one();
  }

  static bool passes(const Item& item) {
    if (item.what == Item::What::kRecord) {
      *item.done = true;
      return true;
    }
    return item.what == Item::What::kWait && *item.done;
  }

  // Takes waits that are over and records away; what then may begin or end.
  std::vector<std::deque<Item>*> runnable() {
    std::vector<std::deque<Item>*> found;
    for (bool moved = true; moved;) {
      moved = false;
      for (auto& stream : streams_) {
        while (!stream.empty() && passes(stream.front())) {
          stream.pop_front();
          moved = true;
        }
      }
    }
    for (auto& stream : streams_) {
      if (!stream.empty() && stream.front().what == Item::What::kWork &&
          stream.front().state != Item::State::kRunning) {
        found.push_back(&stream);
      }
    }
    return found;
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      const auto streams = runnable();
      if (streams.empty()) {
        wake_.wait(lock);
        continue;
      }
      if (random_() % 8 == 0) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        lock.lock();
        continue;
      }
      std::deque<Item>& stream = *streams[random_() % streams.size()];
      Item& item = stream.front();
      if (item.state == Item::State::kQueued) {
        begin(item, lock);
      } else {
        end(item, lock);
        stream.pop_front();
      }
    }
  }

  void begin(Item& item, std::unique_lock<std::mutex>& lock) {
    item.state = Item::State::kRunning;
    item.began = ++now_;
    lock.unlock();
    item.begin([this, &item] {
      const std::lock_guard end_lock(mutex_);
      item.state = Item::State::kMayEnd;
      wake_.notify_one();
    });
    lock.lock();
  }

  void end(const Item& item, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    if (item.end) {
      item.end();
    }
    lock.lock();
    spans_.push_back({item.kind, item.began, ++now_});
  }

  const Faults faults_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::mt19937 random_;
  /// The first is the training thread's.  A deque: streams stay where they are when one is added
  /// while the lock is open.
  std::deque<std::deque<Item>> streams_;
  std::vector<Span> spans_;
  std::int64_t now_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace paceline::testing
