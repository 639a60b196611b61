// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/link_backend.h"

#include <utility>

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include "paceline/engines/engine.h"
#include "paceline/engines/link.h"
#include "paceline/engines/link_engine.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::engines {
namespace {

using plan::Pattern;

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

std::int64_t bytes_of(const std::vector<at::Tensor>& tensors) {
  std::int64_t total = 0;
  for (const at::Tensor& tensor : tensors) {
    total += tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
  }
  return total;
}

}  // namespace

LinkBackend::LinkBackend(c10::intrusive_ptr<c10d::Backend> inner,
                         std::shared_ptr<Link> link,
                         std::string name,
                         int side_by_side)
    : BackendWrapper(std::move(inner)),
      link_(std::move(link)),
      name_(std::move(name)),
      lane_(link_->add_lane(side_by_side)) {}

void LinkBackend::when_done(const Work& work, Waiters::Done done) {
  if (const auto future = futures_.of(work)) {
    future->addCallback([done = std::move(done)](c10::ivalue::Future& f) {
      done(f.hasError() ? f.exception_ptr() : nullptr);
    });
  } else {
    waiters_.watch([work] { work->wait(); }, std::move(done));
  }
}

template <class Issue>
LinkBackend::Work LinkBackend::hold(std::int64_t wire_bytes,
                                    int latencies,
                                    std::vector<at::Tensor> outputs,
                                    std::optional<LinkedName> name,
                                    LinkModel::Lane lane,
                                    const Issue& issue) {
  auto held = c10::make_intrusive<HeldWork>(std::move(outputs));
  const Link::Ticket ticket = link_->start(
      wire_bytes,
      latencies,
      [held](const std::exception_ptr& error) { held->end(error); },
      std::move(name),
      lane);
  Work work;
  try {
    work = issue();
  } catch (...) {
    link_->engine_done(ticket, std::current_exception());
    throw;
  }
  when_done(work, [link = link_, ticket](const std::exception_ptr& error) {
    link->engine_done(ticket, error);
  });
  return held;
}

template <class Issue>
LinkBackend::Work LinkBackend::hold_collective(Pattern pattern,
                                               std::int64_t payload,
                                               std::vector<at::Tensor> outputs,
                                               const Issue& issue) {
  return hold(
      plan::wire_bytes(pattern, payload, getSize()),
      latencies_of(pattern, getSize()),
      std::move(outputs),
      LinkedName{.channel = name_, .index = issued_++, .members = getSize()},
      lane_,
      issue);
}

LinkBackend::Work LinkBackend::allreduce(
    std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& options) {
  return hold_collective(Pattern::kAllReduce, bytes_of(tensors), tensors, [&] {
    return inner_->allreduce(tensors, options);
  });
}

LinkBackend::Work LinkBackend::broadcast(
    std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions& options) {
  return hold_collective(Pattern::kBroadcast, bytes_of(tensors), tensors, [&] {
    return inner_->broadcast(tensors, options);
  });
}

LinkBackend::Work LinkBackend::allgather(
    std::vector<std::vector<at::Tensor>>& outputs,
    std::vector<at::Tensor>& inputs,
    const c10d::AllgatherOptions& options) {
  std::int64_t payload = 0;
  std::vector<at::Tensor> all;
  for (const auto& list : outputs) {
    payload += bytes_of(list);
    all.insert(all.end(), list.begin(), list.end());
  }
  return hold_collective(Pattern::kAllGather, payload, std::move(all), [&] {
    return inner_->allgather(outputs, inputs, options);
  });
}

LinkBackend::Work LinkBackend::_allgather_base(
    at::Tensor& output,
    at::Tensor& input,
    const c10d::AllgatherOptions& options) {
  return hold_collective(
      Pattern::kAllGather, bytes_of({output}), {output}, [&] {
        return inner_->_allgather_base(output, input, options);
      });
}

LinkBackend::Work LinkBackend::_reduce_scatter_base(
    at::Tensor& output,
    at::Tensor& input,
    const c10d::ReduceScatterOptions& options) {
  return hold_collective(
      Pattern::kReduceScatter, bytes_of({input}), {output}, [&] {
        return inner_->_reduce_scatter_base(output, input, options);
      });
}

LinkBackend::Work LinkBackend::send(std::vector<at::Tensor>& tensors,
                                    int to,
                                    int tag) {
  return hold(
      bytes_of(tensors), 1, tensors, std::nullopt, LinkModel::kOpen, [&] {
        return inner_->send(tensors, to, tag);
      });
}

LinkBackend::Work LinkBackend::recv(std::vector<at::Tensor>& tensors,
                                    int from,
                                    int tag) {
  auto held = c10::make_intrusive<HeldWork>(tensors);
  when_done(inner_->recv(tensors, from, tag),
            [link = link_, held, bytes = bytes_of(tensors)](
                const std::exception_ptr& error) {
              if (error != nullptr) {
                held->end(error);
                return;
              }
              link->arrived(
                  bytes, [held](const std::exception_ptr& e) { held->end(e); });
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
  return std::make_unique<LinkEngine>(std::move(engine), std::move(link));
}

}  // namespace paceline::engines
