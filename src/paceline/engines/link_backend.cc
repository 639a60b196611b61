// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/link_backend.h"

#include <optional>
#include <utility>

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <fmt/format.h>

#include "paceline/engines/engine.h"
#include "paceline/engines/link.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::engines {
namespace {

/// What the caller waits for: done when the link says so.
class HeldWork final : public c10d::Work {
 public:
  explicit HeldWork(std::vector<at::Tensor> outputs)
      : outputs_(std::move(outputs)),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {}

  void end(const std::exception_ptr& error) {
    finish(error);
    if (error != nullptr) {
      future_->setError(error);
    } else {
      future_->markCompleted(c10::IValue(outputs_));
    }
  }

  std::vector<at::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    return future_;
  }

 private:
  std::vector<at::Tensor> outputs_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace

LinkBackend::LinkBackend(c10::intrusive_ptr<c10d::Backend> inner,
                         std::shared_ptr<Link> link,
                         std::string name,
                         int concurrent)
    : BackendWrapper(std::move(inner)),
      link_(std::move(link)),
      name_(std::move(name)),
      lane_(link_->add_lane(concurrent)) {}

LinkBackend::Work LinkBackend::perform(const Operation& operation,
                                       const Issue& issue) {
  return operation.kind == Operation::Kind::kReceive
             ? hold_receive(operation, issue)
             : hold(operation, issue);
}

VirtualLink::Lane LinkBackend::lane_of(const Operation& message) {
  const auto direction = message.kind == Operation::Kind::kSend
                             ? Link::Direction::kOut
                             : Link::Direction::kIn;
  const auto [at, fresh] =
      lanes_.try_emplace({direction, message.peer}, VirtualLink::kOpen);
  if (fresh) {
    at->second = link_->add_lane(/*concurrent=*/1, direction);
  }
  return at->second;
}

LinkedName LinkBackend::name_of(const Operation& message) {
  const bool sends = message.kind == Operation::Kind::kSend;
  const int from = sends ? getRank() : message.peer;
  const int to = sends ? message.peer : getRank();
  return {.channel = fmt::format("{}/{}>{}/{}", name_, from, to, message.tag),
          .index = messages_[{from, to, message.tag}]++,
          .members = 2};
}

LinkBackend::Work LinkBackend::hold(const Operation& operation,
                                    const Issue& issue) {
  const bool message = operation.kind == Operation::Kind::kSend;
  const std::int64_t payload = operation.payload_bytes();
  auto held = c10::make_intrusive<HeldWork>(operation.outputs);
  const Link::Ticket ticket = link_->start(
      message ? payload
              : plan::wire_bytes(operation.pattern, payload, getSize()),
      message ? 1 : latencies_of(operation.pattern, getSize()),
      [held](const std::exception_ptr& error) { held->end(error); },
      message ? name_of(operation)
              : LinkedName{.channel = name_,
                           .index = issued_++,
                           .members = getSize()},
      message ? lane_of(operation) : lane_);
  Work work;
  try {
    work = issue();
  } catch (...) {
    link_->engine_done(ticket, std::current_exception());
    throw;
  }
  when_done(work,
            futures_,
            waiters_,
            [link = link_, ticket](const std::exception_ptr& error) {
              link->engine_done(ticket, error);
            });
  return held;
}

LinkBackend::Work LinkBackend::hold_receive(const Operation& operation,
                                            const Issue& issue) {
  auto held = c10::make_intrusive<HeldWork>(operation.outputs);
  const Link::Arrival arrival{.name = name_of(operation),
                              .bytes = operation.payload_bytes(),
                              .posted_ns = link_->now(),
                              .lane = lane_of(operation)};
  when_done(issue(),
            futures_,
            waiters_,
            [link = link_, held, arrival](const std::exception_ptr& error) {
              if (error != nullptr) {
                held->end(error);
                return;
              }
              link->arrived(arrival, [held](const std::exception_ptr& e) {
                held->end(e);
              });
            });
  return held;
}

namespace {

class LinkEngine final : public Engine {
 public:
  LinkEngine(std::unique_ptr<Engine> engine, std::shared_ptr<Link> link)
      : engine_(std::move(engine)), link_(std::move(link)) {}

  std::string_view name() const override { return engine_->name(); }

  std::unique_ptr<Channel> connect(const ChannelSpec& spec) override {
    ChannelSpec linked = spec;
    linked.link = link_;
    return engine_->connect(linked);
  }

 private:
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Link> link_;
};

}  // namespace

std::unique_ptr<Engine> behind_link(std::unique_ptr<Engine> engine,
                                    std::shared_ptr<Link> link) {
  if (link == nullptr) {
    return engine;
  }
  return std::make_unique<LinkEngine>(std::move(engine), std::move(link));
}

}  // namespace paceline::engines
