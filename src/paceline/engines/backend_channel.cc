// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/backend_channel.h"

#include <exception>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/engines/ledger_backend.h"
#include "paceline/engines/link_backend.h"

namespace paceline::engines {
namespace {

c10d::ReduceOp reduce_op(plan::Reduce reduce, const at::Tensor& values) {
  switch (reduce) {
    case plan::Reduce::kSum:
      return c10d::ReduceOp::SUM;
    case plan::Reduce::kMax:
      return c10d::ReduceOp::MAX;
    case plan::Reduce::kMean:
      if (!values.is_floating_point()) {
        throw UsageError(
            fmt::format("the mean of {} values is not an integer; reduce with sum instead",
                        c10::toString(values.scalar_type())));
      }
      return c10d::ReduceOp::AVG;
    case plan::Reduce::kNone:
      break;
  }
  throw UsageError("a reducing collective needs sum, mean or max");
}

void require_shards(const at::Tensor& whole, const at::Tensor& shard, int world,
                    std::string_view operation) {
  if (whole.numel() != shard.numel() * world || whole.scalar_type() != shard.scalar_type()) {
    throw WorldError(fmt::format("{}: {} elements of {} are not {} shards of {} elements of {}",
                                 operation, whole.numel(), c10::toString(whole.scalar_type()),
                                 world, shard.numel(), c10::toString(shard.scalar_type())));
  }
}

class BackendChannel final : public Channel {
 public:
  BackendChannel(c10::intrusive_ptr<c10d::Backend> backend, const ChannelSpec& spec)
      : backend_(c10::make_intrusive<LedgerBackend>(std::move(backend))),
        group_(c10::make_intrusive<c10d::ProcessGroup>(spec.store, spec.rank, spec.world)),
        device_(spec.device) {
    // The type is not GLOO or NCCL, because c10d::Logger casts a backend of such a type to its
    // class, and this backend is a wrapper.
    constexpr auto kType = c10d::ProcessGroup::BackendType::CUSTOM;
    group_->setBackend(at::kCPU, kType, backend_);
    if (!spec.device.is_cpu()) {
      group_->setBackend(spec.device.type(), kType, backend_);
    }
    group_->setDefaultBackend(kType);
    group_->setGroupName(spec.name);
  }

  // NCCL's backend aborts if it is destroyed without a shutdown.  A backend's destructor waits for
  // its operations in flight: see Note [Leaving after an error] in engines/waiters.h.
  ~BackendChannel() override {
    if (std::uncaught_exceptions() > exceptions_before_) {
      backend_.release();
      group_.release();
      return;
    }
    try {
      backend_->shutdown();
    } catch (const std::exception&) {
      // The job has ended, so an error at the shutdown of a connection has no consequence.
    }
  }

  int rank() const override { return backend_->getRank(); }
  int world() const override { return backend_->getSize(); }

  Work all_reduce(const at::Tensor& values, plan::Reduce reduce) override {
    require_contiguous(values, "all-reduce");
    c10d::AllreduceOptions options;
    options.reduceOp = reduce_op(reduce, values);
    std::vector<at::Tensor> tensors{values};
    return backend_->allreduce(tensors, options);
  }

  Work reduce_scatter(const at::Tensor& in, const at::Tensor& out, plan::Reduce reduce) override {
    require_shards(in, out, world(), "reduce-scatter");
    c10d::ReduceScatterOptions options;
    options.reduceOp = reduce_op(reduce, in);
    at::Tensor whole = in, shard = out;
    return backend_->_reduce_scatter_base(shard, whole, options);
  }

  Work all_gather(const at::Tensor& in, const at::Tensor& out) override {
    require_shards(out, in, world(), "all-gather");
    at::Tensor shard = in, whole = out;
    return backend_->_allgather_base(whole, shard, {});
  }

  Work broadcast(const at::Tensor& values, int root) override {
    require_contiguous(values, "broadcast");
    c10d::BroadcastOptions options;
    options.rootRank = root;
    std::vector<at::Tensor> tensors{values};
    return backend_->broadcast(tensors, options);
  }

  // NCCL performs messages one after the other unless they form a group, so two ranks that send to
  // each other would deadlock.
  std::vector<Work> exchange(const std::vector<Message>& sends,
                             const std::vector<Message>& receives) override {
    const bool grouped = backend_->supportsCoalescing();
    if (grouped) {
      backend_->startCoalescing();
    }
    std::vector<Work> works;
    for (const Message& message : receives) {
      require_contiguous(message.values, "receive");
      std::vector<at::Tensor> tensors{message.values};
      works.push_back(backend_->recv(tensors, message.peer, message.tag));
    }
    for (const Message& message : sends) {
      require_contiguous(message.values, "send");
      std::vector<at::Tensor> tensors{message.values};
      works.push_back(backend_->send(tensors, message.peer, message.tag));
    }
    return grouped ? std::vector<Work>{backend_->endCoalescing()} : works;
  }

  Work barrier() override {
    c10d::BarrierOptions options;
    if (!device_.is_cpu()) {
      options.device = device_;
    }
    return backend_->barrier(options);
  }

  Ledger ledger() const override { return backend_->ledger(); }
  void set_step(plan::Step step) override { backend_->set_step(step); }
  void count_from(plan::Step first) override { backend_->count_from(first); }
  Ledger counted() const override { return backend_->counted(); }
  void record_transfers() override { backend_->record_transfers(); }
  std::vector<CollectiveSpan> take_transfers() override { return backend_->take_transfers(); }

  c10::intrusive_ptr<c10d::ProcessGroup> process_group() override { return group_; }

 private:
  c10::intrusive_ptr<LedgerBackend> backend_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  at::Device device_;
  int exceptions_before_ = std::uncaught_exceptions();
};

}  // namespace

std::unique_ptr<Channel> make_backend_channel(c10::intrusive_ptr<c10d::Backend> backend,
                                              const ChannelSpec& spec, int concurrent_collectives) {
  if (spec.link != nullptr) {
    if (!spec.device.is_cpu()) {
      throw UsageError("--link holds operations on the CPU alone; leave it out for cuda");
    }
    backend = c10::make_intrusive<LinkBackend>(std::move(backend), spec.link, spec.name,
                                               concurrent_collectives);
  }
  return std::make_unique<BackendChannel>(std::move(backend), spec);
}

}  // namespace paceline::engines
