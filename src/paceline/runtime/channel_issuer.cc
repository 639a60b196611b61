// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/channel_issuer.h"

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
  const auto work = issue(std::get<plan::Collective>(op.work));
  if (streams_.asynchronous()) {
    return [this, work] { streams_.on_plan([&] { work->wait(); }); };
  }
  return [this, ref, work] { watch(ref, work); };
}

engines::Channel::Work ChannelIssuer::issue(const plan::Collective& c) {
  engines::Channel* channel = channels_.data[plan::index_of(c.on)];
  PACELINE_CHECK(channel != nullptr);
  const at::Tensor in = memory_.view(c.in);
  const at::Tensor out = memory_.view(c.out);
  streams_.plan_follows_compute();
  engines::Channel::Work work;
  streams_.on_plan([&] {
    switch (c.pattern) {
      case plan::Pattern::kAllReduce:
        PACELINE_CHECK(c.in == c.out);
        work = channel->all_reduce(out, c.reduce);
        break;
      case plan::Pattern::kReduceScatter:
        work = channel->reduce_scatter(in, out, c.reduce);
        break;
      case plan::Pattern::kAllGather:
        work = channel->all_gather(in, out);
        break;
      case plan::Pattern::kBroadcast:
        PACELINE_CHECK(c.in == c.out);
        work = channel->broadcast(out, c.root);
        break;
    }
  });
  return work;
}

void ChannelIssuer::watch(plan::OpRef ref, const engines::Channel::Work& work) {
  const auto report = [ref, reports = reports_](const std::exception_ptr& e) {
    reports->report(
        [&](execution::IssueListener& listener) { listener.op_ended(ref, e); });
  };
  const auto future = reports_->futures.of(work);
  if (future != nullptr) {
    future->addCallback([report](c10::ivalue::Future& done) {
      report(done.hasError() ? done.exception_ptr() : nullptr);
    });
  } else {
    waiters_.watch([work] { work->wait(); }, report);
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
