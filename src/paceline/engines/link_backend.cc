// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/link_backend.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <ATen/Functions.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>

#include "paceline/base/hash.h"
#include "paceline/engines/future_work.h"
#include "paceline/engines/link.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::engines {
namespace {

/// Returns a number that identifies the monotonic clock: ranks with equal numbers share one clock.
std::int64_t monotonic_clock_id() {
  static const std::int64_t clock = [] {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    std::error_code none;
    boot += std::filesystem::read_symlink("/proc/self/ns/time", none).string();
    return static_cast<std::int64_t>(fnv1a_32(boot));
  }();
  return clock;
}

/// A small message that is sent before each message, with the times that the receiver's link needs.
struct Stamp {
  std::int64_t sent_ns = 0;
  std::int64_t link_end_ns = 0;  // when the sender's link will have ended the message
  std::int64_t bytes = 0;        // of the message; its receiver may have room for more
};

at::Tensor stamp_tensor_of(const Stamp& stamp) {
  at::Tensor tensor = at::empty({4}, at::kLong);
  auto* words = tensor.mutable_data_ptr<std::int64_t>();
  words[0] = stamp.sent_ns;
  words[1] = stamp.link_end_ns;
  words[2] = stamp.bytes;
  words[3] = monotonic_clock_id();
  return tensor;
}

/// Completes `arrival` with the contents of the stamp. A message begins when both sides have issued
/// it; before the call, `arrival` holds the time at which the receiver issued it. If the two ranks'
/// clocks differ, the message begins now.
void apply_stamp(const at::Tensor& tensor, std::int64_t now_ns, Link::IncomingMessage& arrival) {
  const auto* words = tensor.const_data_ptr<std::int64_t>();
  const Stamp stamp{words[0], words[1], words[2]};
  arrival.bytes = stamp.bytes;
  if (words[3] == monotonic_clock_id()) {
    arrival.began_ns = std::clamp(stamp.sent_ns, arrival.began_ns, now_ns);
    arrival.sender_end_ns = stamp.link_end_ns;
  } else {
    arrival.began_ns = now_ns;
    arrival.sender_end_ns = now_ns + stamp.link_end_ns - stamp.sent_ns;
  }
}

/// Completes `held` when the last of `works`, which must have futures, completes.
void end_with_all(const std::vector<c10::intrusive_ptr<c10d::Work>>& works,
                  const c10::intrusive_ptr<FutureWork>& held) {
  struct Left {
    std::atomic<std::size_t> works{0};
    std::atomic<bool> failed{false};
  };
  const auto left = std::make_shared<Left>();
  left->works = works.size() + 1;  // one more for this function, so that `held` is not completed
                                   // before all works are watched
  const auto end_one = [left, held](const std::exception_ptr& error) {
    if (error != nullptr && !left->failed.exchange(true)) {
      held->end(error);
    }
    if (left->works.fetch_sub(1) == 1 && !left->failed) {
      held->end(nullptr);
    }
  };
  for (const auto& work : works) {
    work->getFuture()->addCallback([end_one](c10::ivalue::Future& ended) {
      end_one(ended.hasError() ? ended.exception_ptr() : nullptr);
    });
  }
  end_one(nullptr);
}

}  // namespace

LinkBackend::LinkBackend(c10::intrusive_ptr<c10d::Backend> inner, std::shared_ptr<Link> link,
                         std::string name, int concurrent)
    : BackendWrapper(std::move(inner)),
      link_(std::move(link)),
      name_(std::move(name)),
      lane_(link_->add_lane(concurrent)) {}

LinkBackend::Work LinkBackend::perform(const Operation& operation, const Issue& issue) {
  if (operation.kind == Operation::Kind::kCollective) {
    return delay_by_link(operation, issue);
  }
  Work held = operation.kind == Operation::Kind::kSend ? delay_send(operation)
                                                       : delay_receive(operation, issue);
  if (grouping_) {
    works_.push_back(held);
  }
  return held;
}

VirtualLink::Lane LinkBackend::lane_of(const Operation& message) {
  const auto direction =
      message.kind == Operation::Kind::kSend ? Link::Direction::kOut : Link::Direction::kIn;
  const auto [at, fresh] =
      lanes_.try_emplace({direction, message.peer}, VirtualLink::kUnlimitedLane);
  if (fresh) {
    at->second = link_->add_lane(/*concurrent=*/1, direction);
  }
  return at->second;
}

LinkedOperationKey LinkBackend::name_of(const Operation& message) {
  const bool sends = message.kind == Operation::Kind::kSend;
  const int from = sends ? getRank() : message.peer;
  const int to = sends ? message.peer : getRank();
  return {.channel = fmt::format("{}/{}>{}/{}", name_, from, to, message.tag),
          .index = messages_[{from, to, message.tag}]++,
          .members = 2};
}

LinkBackend::Work LinkBackend::delay_by_link(const Operation& operation, const Issue& issue) {
  auto held = c10::make_intrusive<FutureWork>(operation.outputs);
  const Link::Ticket ticket = link_->start(
      plan::wire_bytes(operation.pattern, operation.payload_bytes(), getSize()),
      latency_count(operation.pattern, getSize()),
      [held](const std::exception_ptr& error) { held->end(error); },
      LinkedOperationKey{.channel = name_, .index = issued_++, .members = getSize()}, lane_);
  Work work;
  try {
    work = issue();
  } catch (...) {
    link_->engine_done(ticket, std::current_exception());
    throw;
  }
  when_done(work, futures_, waiters_, [link = link_, ticket](const std::exception_ptr& error) {
    link->engine_done(ticket, error);
  });
  return held;
}

LinkBackend::Work LinkBackend::delay_send(const Operation& message) {
  auto held = c10::make_intrusive<FutureWork>(message.outputs);
  const std::int64_t sent_ns = link_->now();
  const Link::Ticket ticket = link_->start(
      message.payload_bytes(),
      /*latencies=*/1, [held](const std::exception_ptr& error) { held->end(error); },
      name_of(message), lane_of(message));
  Send send{message.payload, message.peer, message.tag, sent_ns, ticket};
  if (grouping_) {
    sends_.push_back(std::move(send));
  } else {
    issue_all({std::move(send)});
  }
  return held;
}

void LinkBackend::issue_all(std::vector<Send> sends) {
  std::vector<Link::Ticket> tickets;
  for (const Send& send : sends) {
    tickets.push_back(send.ticket);
  }
  const auto ends = link_->delivery_times_of(tickets);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    issue(sends[i], ends[i]);
  }
}

void LinkBackend::issue(Send& send, std::int64_t link_end_ns) {
  std::int64_t bytes = 0;
  for (const at::Tensor& values : send.values) {
    bytes += static_cast<std::int64_t>(values.nbytes());
  }
  std::vector<at::Tensor> stamp{stamp_tensor_of({send.sent_ns, link_end_ns, bytes})};
  Work stamped, work;
  try {
    stamped = inner_->send(stamp, send.peer, send.tag);
    work = inner_->send(send.values, send.peer, send.tag);
  } catch (...) {
    link_->engine_done(send.ticket, std::current_exception());
    throw;
  }
  watch_message(
      stamped, work, [stamp] {},  // keeps the stamp alive until it is sent
      [link = link_, ticket = send.ticket](const std::exception_ptr& error) {
        link->engine_done(ticket, error);
      });
}

LinkBackend::Work LinkBackend::endCoalescing() {
  grouping_ = false;
  issue_all(std::exchange(sends_, {}));
  auto held = c10::make_intrusive<FutureWork>(std::vector<at::Tensor>());
  end_with_all(std::exchange(works_, {}), held);
  return held;
}

LinkBackend::Work LinkBackend::delay_receive(const Operation& message, const Issue& issue) {
  auto held = c10::make_intrusive<FutureWork>(message.outputs);
  std::vector<at::Tensor> stamp{stamp_tensor_of({.bytes = message.payload_bytes()})};
  const Link::IncomingMessage arrival{.name = name_of(message),
                                      .bytes = message.payload_bytes(),
                                      .began_ns = link_->now(),
                                      .lane = lane_of(message)};
  const Work stamped = inner_->recv(stamp, message.peer, message.tag);
  const Work work = issue();
  const auto ticket = std::make_shared<std::optional<Link::Ticket>>();
  watch_message(
      stamped, work,
      [link = link_, held, arrival, stamp, ticket] {
        Link::IncomingMessage begun = arrival;
        apply_stamp(stamp.front(), link->now(), begun);
        *ticket = link->receive(std::move(begun),
                                [held](const std::exception_ptr& error) { held->end(error); });
      },
      [link = link_, held, ticket](const std::exception_ptr& error) {
        if (ticket->has_value()) {
          link->engine_done(**ticket, error);
        } else {
          held->end(error);
        }
      });
  return held;
}

// Messages with equal tags arrive in order, so the stamp arrives before the message.
void LinkBackend::watch_message(const Work& stamp, const Work& message,
                                const std::function<void()>& stamped, const Waiters::Done& done) {
  const auto first = futures_.of(stamp), second = futures_.of(message);
  if (first == nullptr || second == nullptr) {
    waiters_.watch(
        [stamp, message, stamped] {
          stamp->wait();
          stamped();
          message->wait();
        },
        done);
    return;
  }
  first->addCallback([second, stamped, done](c10::ivalue::Future& ended) {
    if (ended.hasError()) {
      done(ended.exception_ptr());
      return;
    }
    stamped();
    second->addCallback(
        [done](c10::ivalue::Future& all) { done(all.hasError() ? all.exception_ptr() : nullptr); });
  });
}

}  // namespace paceline::engines
