// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/channel_issuer.h"

#include <atomic>
#include <mutex>
#include <utility>
#include <variant>

#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/engines/work_futures.h"

namespace paceline::runtime {

/// Where an engine's threads report.  It outlives the issuer, and owns no
/// thread: a late report finds no listener, and any thread may be the last one
/// that holds it.
struct ChannelIssuer::Reports {
  // A report may issue ops whose own reports come on the same thread.
  std::recursive_mutex mutex;
  execution::IssueListener* listener = nullptr;

  template <class Report>
  void report(Report&& call) {
    const std::lock_guard lock(mutex);
    if (listener != nullptr) {
      call(*listener);
    }
  }

  engines::WorkFutures futures;
};

ChannelIssuer::ChannelIssuer(Channels channels,
                             const FlatMemory& memory,
                             const Streams& streams)
    : channels_(std::move(channels)),
      memory_(memory),
      streams_(streams),
      reports_(std::make_shared<Reports>()) {}

ChannelIssuer::~ChannelIssuer() {
  report_to(nullptr);
}

void ChannelIssuer::report_to(execution::IssueListener* listener) {
  const std::lock_guard lock(reports_->mutex);
  reports_->listener = listener;
}

ChannelIssuer::Watch ChannelIssuer::start(plan::OpRef ref, const plan::Op& op) {
  streams_.plan_follows_compute();
  Works works;
  streams_.on_plan([&] {
    if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
      works = issue(*exchange, tags_.take(ref));
    } else {
      works = {issue(std::get<plan::Collective>(op.work))};
    }
  });
  if (streams_.asynchronous()) {
    return [this, works] {
      streams_.on_plan([&] {
        for (const auto& work : works) {
          work->wait();
        }
      });
    };
  }
  return [this, ref, works] { watch(ref, works); };
}

engines::Channel& ChannelIssuer::channel(plan::CommunicatorId on) const {
  engines::Channel* channel = channels_.data[plan::index_of(on)];
  PACELINE_CHECK(channel != nullptr);
  return *channel;
}

// A rank of the world as a member of the communicator.
int ChannelIssuer::member(plan::CommunicatorId on, plan::Rank rank) const {
  const auto place =
      memory_.setup().communicators[plan::index_of(on)].members.place_of(rank);
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

ChannelIssuer::Works ChannelIssuer::issue(
    const plan::Exchange& exchange,
    const execution::MessageTags::OfOp& tags) const {
  const auto messages = [&](const std::vector<plan::Message>& planned,
                            const std::vector<int>& numbers) {
    std::vector<engines::Channel::Message> out;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      out.push_back({memory_.view(planned[i].slice),
                     member(exchange.on, planned[i].peer),
                     numbers[i]});
    }
    return out;
  };
  return channel(exchange.on)
      .exchange(messages(exchange.sends, tags.sends),
                messages(exchange.receives, tags.receives));
}

// The op ends with the last of its works, or with the first that fails.
void ChannelIssuer::watch(plan::OpRef ref, const Works& works) {
  struct Pending {
    std::atomic<std::size_t> works;
    std::atomic<bool> failed = false;
  };
  const auto pending = std::make_shared<Pending>(works.size());
  const auto report = [ref, reports = reports_](const std::exception_ptr& e) {
    reports->report(
        [&](execution::IssueListener& listener) { listener.op_ended(ref, e); });
  };
  if (works.empty()) {
    report(nullptr);
  }
  for (const auto& work : works) {
    watch(work, [pending, report](const std::exception_ptr& error) {
      if (error != nullptr) {
        if (!pending->failed.exchange(true)) {
          report(error);
        }
      } else if (pending->works.fetch_sub(1) == 1) {
        report(nullptr);
      }
    });
  }
}

void ChannelIssuer::watch(const engines::Channel::Work& work,
                          engines::Waiters::Done done) {
  const auto future = reports_->futures.of(work);
  if (future != nullptr) {
    future->addCallback([done = std::move(done)](c10::ivalue::Future& ended) {
      done(ended.hasError() ? ended.exception_ptr() : nullptr);
    });
  } else {
    waiters_.watch([work] { work->wait(); }, std::move(done));
  }
}

// A pick is [step, op].  What watches its work keeps the tensor alive.
void ChannelIssuer::send_pick(std::size_t on, plan::OpRef pick) {
  const at::Tensor numbers =
      at::tensor({pick.step, plan::Step{pick.op}}, at::kLong);
  const auto work = channels_.picks.at(on)->broadcast(numbers, 0);
  // A member that does not get the pick is seen where the op waits for it.
  waiters_.watch([work, numbers] { work->wait(); },
                 [](const std::exception_ptr&) {});
}

void ChannelIssuer::receive_pick(std::size_t on) {
  const at::Tensor numbers = at::empty({2}, at::kLong);
  const auto work = channels_.picks.at(on)->broadcast(numbers, 0);
  waiters_.watch(
      [work] { work->wait(); },
      [on, numbers, reports = reports_](const std::exception_ptr& error) {
        const auto* pick = numbers.const_data_ptr<std::int64_t>();
        reports->report([&](execution::IssueListener& listener) {
          listener.pick_arrived(
              on, {pick[0], static_cast<plan::OpIndex>(pick[1])}, error);
        });
      });
}

}  // namespace paceline::runtime
