// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/channel_issuer.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <variant>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/engines/work_futures.h"
#include "paceline/runtime/ragged.h"

namespace paceline::runtime {

/// Receives the reports of an engine's threads and forwards them to the current listener. It
/// outlives the issuer and owns no thread: a late report finds no listener and is dropped, and any
/// thread may release the last reference to this object.
class ChannelIssuer::Reports {
 public:
  /// Replaces the listener. Returns when no report is calling the former listener any more.
  void set_listener(execution::IssueListener* listener) {
    std::unique_lock lock(mutex_);
    listener_ = listener;
    ended_.wait(lock, [&] { return active_reports_ == 0; });
  }

  /// The mutex is not held during the call, because reports may overlap, and a report may issue ops
  /// whose own reports come on the same thread.
  template <class Report>
  void report(Report&& call) {
    std::unique_lock lock(mutex_);
    if (listener_ == nullptr) {
      return;
    }
    ++active_reports_;
    struct End {
      Reports& self;
      ~End() {
        const std::lock_guard relock(self.mutex_);
        --self.active_reports_;
        self.ended_.notify_all();
      }
    } const end{*this};
    execution::IssueListener& listener = *listener_;
    lock.unlock();
    call(listener);
  }

  engines::WorkFutures futures;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  execution::IssueListener* listener_ = nullptr;
  int active_reports_ = 0;
};

ChannelIssuer::ChannelIssuer(Channels channels, const FlatMemory& memory,
                             std::shared_ptr<execution::Device> device,
                             const plan::EngineTraits& engine)
    : channels_(std::move(channels)),
      memory_(memory),
      device_(std::move(device)),
      orders_streams_(engine.orders_streams),
      reports_(std::make_shared<Reports>()),
      waiters_([its_device = device_] {
        if (its_device != nullptr) {
          its_device->enter_thread();
        }
      }) {
  for (std::size_t on = 0; device_ != nullptr && on < channels_.data.size(); ++on) {
    streams_.push_back(engine.one_issue_order && on > 0 ? streams_.front() : device_->add_stream());
  }
}

ChannelIssuer::~ChannelIssuer() { report_to(nullptr); }

void ChannelIssuer::report_to(execution::IssueListener* listener) {
  reports_->set_listener(listener);
}

void ChannelIssuer::open(plan::Step step, const plan::CommPlan& plan) {
  const std::lock_guard lock(tags_mutex_);
  tags_.open(step, plan);
}

void ChannelIssuer::start(plan::OpRef ref, const plan::Op& op, const execution::Events& before) {
  if (device_ == nullptr) {
    watch(ref, issue(ref, op));
    return;
  }
  const auto stream = streams_[plan::index_of(*plan::communicator_of(op))];
  execution::wait_all(*device_, stream, before);
  Works works;
  device_->on(stream, [&] { works = issue(ref, op); });
  watch_on_device(ref, works, stream);
}

ChannelIssuer::Works ChannelIssuer::issue(plan::OpRef ref, const plan::Op& op) {
  channel(*plan::communicator_of(op)).set_step(ref.step);
  if (const auto* collective = std::get_if<plan::Collective>(&op.work)) {
    return {issue(*collective)};
  }
  execution::MessageTags::OpTags tags;
  {
    const std::lock_guard lock(tags_mutex_);
    tags = tags_.take(ref);
  }
  return issue(std::get<plan::Exchange>(op.work), tags);
}

engines::Channel& ChannelIssuer::channel(plan::CommunicatorId on) const {
  engines::Channel* channel = channels_.data[plan::index_of(on)];
  PACELINE_CHECK(channel != nullptr);
  return *channel;
}

// Returns the index of `rank`, a rank of the world, among the members of a communicator.
int ChannelIssuer::member(plan::CommunicatorId on, plan::Rank rank) const {
  const auto place = memory_.setup().communicators[plan::index_of(on)].members.index_of_rank(rank);
  PACELINE_CHECK(place.has_value());
  return static_cast<int>(*place);
}

engines::Channel::Work ChannelIssuer::issue(const plan::Collective& c) const {
  const at::Tensor in = memory_.view(c.in);
  const at::Tensor out = memory_.view(c.out);
  switch (c.pattern) {
    case plan::Pattern::kAllReduce:
      PACELINE_CHECK(c.in == c.out);
      return channel(c.on).all_reduce(out, c.reduce);
    case plan::Pattern::kReduceScatter:
      return channel(c.on).reduce_scatter(in, out, c.reduce);
    case plan::Pattern::kAllGather:
      return channel(c.on).all_gather(in, out);
    case plan::Pattern::kBroadcast:
      PACELINE_CHECK(c.in == c.out);
      return channel(c.on).broadcast(out, member(c.on, c.root));
  }
  PACELINE_CHECK(false);
}

ChannelIssuer::Works ChannelIssuer::issue(const plan::Exchange& exchange,
                                          const execution::MessageTags::OpTags& tags) const {
  const auto messages = [&](const std::vector<plan::Message>& planned,
                            const std::vector<int>& numbers, bool sent) {
    std::vector<engines::Channel::Message> out;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const plan::Slice& slice = planned[i].slice;
      const at::Tensor room = memory_.view(slice);
      const bool ragged = memory_.setup().buffers[plan::index_of(slice.buffer)].typical.has_value();
      out.push_back({ragged && sent ? used_part(room) : room, member(exchange.on, planned[i].peer),
                     numbers[i]});
    }
    return out;
  };
  return channel(exchange.on)
      .exchange(messages(exchange.sends, tags.sends, true),
                messages(exchange.receives, tags.receives, false));
}

/// Calls `done` once: after the last of several works, or with the first error.
class ChannelIssuer::CompletionCounter {
 public:
  CompletionCounter(std::size_t works, engines::Waiters::Done done)
      : left_(works), done_(std::move(done)) {}

  void end(const std::exception_ptr& error) {
    if (error != nullptr) {
      if (!failed_.exchange(true)) {
        done_(error);
      }
    } else if (left_.fetch_sub(1) == 1) {
      done_(nullptr);
    }
  }

 private:
  std::atomic<std::size_t> left_;
  std::atomic<bool> failed_ = false;
  engines::Waiters::Done done_;
};

void ChannelIssuer::watch(plan::OpRef ref, const Works& works) {
  const auto report = [ref, reports = reports_](const std::exception_ptr& e) {
    reports->report([&](execution::IssueListener& listener) { listener.op_ended(ref, e); });
  };
  if (works.empty()) {
    report(nullptr);
  }
  const auto last = std::make_shared<CompletionCounter>(works.size(), report);
  for (const auto& work : works) {
    engines::when_done(work, reports_->futures, waiters_,
                       [last](const std::exception_ptr& error) { last->end(error); });
  }
}

void ChannelIssuer::watch_on_device(plan::OpRef ref, const Works& works,
                                    execution::Device::Stream stream) {
  const auto report = [ref, stream, device = device_,
                       reports = reports_](const std::exception_ptr& error) {
    const auto event = error == nullptr ? device->record(stream) : nullptr;
    reports->report([&](execution::IssueListener& listener) {
      if (error != nullptr) {
        listener.op_ended(ref, error);
      } else {
        listener.op_enqueued(ref, event);
      }
    });
  };
  if (orders_streams_ || works.empty()) {
    device_->on(stream, [&] {
      for (const auto& work : works) {
        work->wait();
      }
    });
    report(nullptr);
    return;
  }
  const auto last = std::make_shared<CompletionCounter>(works.size(), report);
  for (const auto& work : works) {
    waiters_.watch([work, stream, device = device_] { device->on(stream, [&] { work->wait(); }); },
                   [last](const std::exception_ptr& error) { last->end(error); });
  }
}

// The lambda keeps the tensor with the pick alive until the broadcast has ended.
void ChannelIssuer::send_pick(std::size_t on, execution::IssueQueue::Pick pick) {
  const at::Tensor number = at::full({1}, pick, at::kLong);
  const auto work = channels_.picks.at(on)->broadcast(number, 0);
  // An error is ignored here: a member that gets no pick does not join the collective, and the wait
  // for that collective reports it.
  waiters_.watch([work, number] { work->wait(); }, [](const std::exception_ptr&) {});
}

void ChannelIssuer::receive_pick(std::size_t on) {
  const at::Tensor number = at::empty({1}, at::kLong);
  const auto work = channels_.picks.at(on)->broadcast(number, 0);
  waiters_.watch([work] { work->wait(); },
                 [on, number, reports = reports_](const std::exception_ptr& error) {
                   reports->report([&](execution::IssueListener& listener) {
                     listener.pick_arrived(on, *number.const_data_ptr<std::int64_t>(), error);
                   });
                 });
}

}  // namespace paceline::runtime
