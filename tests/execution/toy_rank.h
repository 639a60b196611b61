// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "execution/fake_device.h"
#include "execution/toy_network.h"
#include "paceline/execution/dispatcher.h"
#include "paceline/execution/message_tags.h"
#include "paceline/execution/model_gates.h"
#include "plan/toy_math.h"

// A rank that consists of the runtime's classes, on threads of its own, with toy numbers for
// tensors and a toy network for an engine.

namespace paceline::testing {

/// How the ranks of a test run.
struct ToyRun {
  plan::Step steps = 3;
  std::uint32_t seed = 1;
  /// An op ends before its data has moved, as if nobody waited for the engine.
  bool reports_early = false;
  /// Every rank has a device that runs behind it.
  bool on_device = false;
  FakeDevice::Faults faults{};
  /// As the traits of an engine.  One that orders streams (NCCL) has works in the stream of their
  /// communicator, so ranks must issue them in one order; others (Gloo) have works beside each
  /// other.
  bool one_issue_order = false;
  bool orders_streams = false;
};

/// Starts ops on the network.
class ToyIssuer final : public execution::Issuer {
 public:
  ToyIssuer(ToyNetwork& network, plan::Rank rank, std::size_t communicators, FakeDevice* device,
            const ToyRun& run)
      : network_(network), rank_(rank), device_(device), run_(run) {
    for (std::size_t on = 0; device != nullptr && on < communicators; ++on) {
      streams_.push_back(run.one_issue_order && on > 0 ? streams_.front() : device->add_stream());
    }
  }

  void open(plan::Step step, const plan::CommPlan& plan) override {
    const std::lock_guard lock(mutex_);
    tags_.open(step, plan);
  }

  void start(plan::OpRef ref, const plan::Op& op, const execution::Events& before) override {
    const ItemRef place = take_place(ref, op);
    if (device_ == nullptr) {
      send(op, place, [this, ref] {
        if (!run_.reports_early) {
          listener->op_ended(ref, nullptr);
        }
      });
      if (run_.reports_early) {
        listener->op_ended(ref, nullptr);
      }
      return;
    }
    const auto stream = streams_[plan::index_of(*plan::communicator_of(op))];
    execution::wait_all(*device_, stream, before);
    if (run_.orders_streams) {
      put(stream, op, place, [] {});
      listener->op_enqueued(ref, device_->record(stream));
      return;
    }
    // The communicator's stream waits for a work only once it has ended.
    const auto own = device_->add_stream();
    device_->wait(own, *device_->record(stream));
    put(own, op, place, [this, ref, own, stream] {
      device_->wait(stream, *device_->record(own));
      listener->op_enqueued(ref, device_->record(stream));
    });
  }

  void send_pick(std::size_t on, execution::IssueQueue::Pick pick) override {
    network_.pick(static_cast<plan::CommunicatorId>(on), rank_, pick);
  }
  void receive_pick(std::size_t on) override {
    network_.ask(static_cast<plan::CommunicatorId>(on), rank_,
                 [this, on](execution::IssueQueue::Pick pick) {
                   listener->pick_arrived(on, pick, nullptr);
                 });
  }

  execution::IssueListener* listener = nullptr;

 private:
  /// What the peers know an op by, as of its issue.
  struct ItemRef {
    std::size_t turn = 0;  // of a collective
    execution::MessageTags::OpTags tags;
  };

  /// A work in `stream`; calls `ended` when its data has moved.
  void put(execution::Device::Stream stream, const plan::Op& op, const ItemRef& place,
           const ToyNetwork::Done& ended) {
    device_->on(stream, [&] {
      device_->put_async(FakeDevice::Kind::kCommunication,
                         [this, &op, place, ended](const FakeDevice::Done& done) {
                           send(op, place, [done, ended] {
                             done();
                             ended();
                           });
                         });
    });
  }

  /// Calls `ended` once, after the last part.
  void send(const plan::Op& op, const ItemRef& place, ToyNetwork::Done ended) {
    const auto* exchange = std::get_if<plan::Exchange>(&op.work);
    const std::size_t messages =
        exchange == nullptr ? 1 : exchange->sends.size() + exchange->receives.size();
    struct Parts {
      std::atomic<std::size_t> left;  // the parts, and the start
    };
    const auto parts = std::make_shared<Parts>(messages + 1);
    const auto end = [parts, ended = std::move(ended)] {
      if (parts->left.fetch_sub(1) == 1) {
        ended();
      }
    };
    if (exchange == nullptr) {
      const auto& collective = std::get<plan::Collective>(op.work);
      network_.start(rank_, collective, place.turn, end);
    } else {
      const auto& tags = place.tags;
      for (std::size_t i = 0; i < exchange->sends.size(); ++i) {
        const auto& [peer, slice] = exchange->sends[i];
        network_.start(true, exchange->on, rank_, peer, tags.sends[i], slice, end);
      }
      for (std::size_t i = 0; i < exchange->receives.size(); ++i) {
        const auto& [peer, slice] = exchange->receives[i];
        network_.start(false, exchange->on, peer, rank_, tags.receives[i], slice, end);
      }
    }
    end();
  }

  ItemRef take_place(plan::OpRef ref, const plan::Op& op) {
    if (const auto* collective = std::get_if<plan::Collective>(&op.work)) {
      return {.turn = network_.take_turn(rank_, collective->on), .tags = {}};
    }
    const std::lock_guard lock(mutex_);
    return {.turn = 0, .tags = tags_.take(ref)};
  }

  ToyNetwork& network_;
  plan::Rank rank_;
  FakeDevice* device_;
  const ToyRun run_;
  std::vector<execution::Device::Stream> streams_;  // by CommunicatorId
  std::mutex mutex_;
  execution::MessageTags tags_;
};

/// One rank: a dispatcher, and the model work of the training thread.
class ToyRank {
 public:
  ToyRank(const plan::Planner& planner, const plan::PlanWorld& world, plan::Rank rank,
          SharedMemory& memory, ToyNetwork& network, const ToyRun& run = {})
      : world_(world),
        rank_(rank),
        memory_(memory),
        run_(run),
        trains_(rank < planner.training_ranks(world.input(rank))),
        device_(run.on_device ? std::make_unique<FakeDevice>(
                                    run.seed * 64 + static_cast<std::uint32_t>(rank), run.faults)
                              : nullptr),
        issuer_(network, rank, world.setup(rank).communicators.size(), device_.get(), run),
        programs_(planner, world.input(rank), world.setup(rank)),
        dispatcher_(world.input(rank), world.setup(rank), issuer_,
                    [this](plan::OpRef ref, const plan::Kernel& kernel) {
                      if (around_kernel) {
                        around_kernel(ref, kernel, [&] { this->kernel(kernel); });
                      } else {
                        this->kernel(kernel);
                      }
                    },
                    {.timeout = std::chrono::seconds(30),
                     .device = device_.get(),
                     .one_issue_order = run.one_issue_order}),
        gates_(dispatcher_, world.input(rank)) {
    issuer_.listener = &dispatcher_;
  }

  void run_steps() {
    for (plan::Step step = 0; step < run_.steps; ++step) {
      if (before_step) {
        before_step(step);
      }
      if (!trains_) {
        dispatcher_.wait_steps(1);
      }
      gates_.begin_step(step, programs_.at(step));
      for (int micro = 0; trains_ && micro < input().micro_batches; ++micro) {
        compute(step, micro);
      }
      dispatcher_.end_step();
    }
    dispatcher_.wait_all();
  }

  const FakeDevice& device() const { return *device_; }

  std::map<plan::Step, std::int64_t> take_staleness() { return dispatcher_.take_staleness(); }

  /// Runs a kernel's work; empty: it just runs.
  std::function<void(plan::OpRef, const plan::Kernel&, const std::function<void()>& work)>
      around_kernel;
  std::function<void(plan::Step)> before_step;  // may take its time

 private:
  using Kind = FakeDevice::Kind;
  struct Operation {
    std::vector<plan::Slice> reads, writes;
    std::function<std::vector<plan::Values>(const std::vector<plan::Values>&)> compute;
  };

  const plan::PlanInput& input() const { return world_.input(rank_); }

  void compute(plan::Step step, int micro) {
    gates_.begin_forward(micro);
    for (std::size_t m = 0; m < input().model.modules.size(); ++m) {
      gates_.enter(static_cast<plan::ModuleId>(m));
      perform(Kind::kForward, {.reads = {}, .writes = {}, .compute = [](const auto&) {
                                 return std::vector<plan::Values>();
                               }});
      gates_.leave(static_cast<plan::ModuleId>(m));
    }
    gates_.begin_backward();
    for (const plan::ParameterId p : input().model.ready_order) {
      gates_.enter_gradient(p);
      backward(p, step, micro);
      gates_.leave_gradient(p);
    }
    gates_.end_backward();
  }

  void backward(plan::ParameterId p, plan::Step step, int micro) {
    const auto& [value, gradient] = world_.setup(rank_).parameters[plan::index_of(p)];
    Operation operation{.reads = {value}, .writes = {gradient}, .compute = {}};
    if (micro > 0) {
      operation.reads.push_back(gradient);
    }
    operation.compute = [this, p, step, micro](const auto& reads) {
      plan::Values out = plan::toy_gradient(rank_, step, {p, micro}, reads.front());
      for (std::size_t i = 0; micro > 0 && i < out.size(); ++i) {
        out[i] += reads.back()[i];
      }
      return std::vector<plan::Values>{out};
    };
    perform(Kind::kBackward, std::move(operation));
  }

  void kernel(const plan::Kernel& kernel) {
    Operation operation;
    for (const plan::Access& access : kernel.reads) {
      operation.reads.push_back(access.slice);
    }
    for (const plan::Access& access : kernel.writes) {
      operation.writes.push_back(access.slice);
    }
    operation.compute = [&kernel](const auto& reads) { return plan::toy_kernel(kernel, reads); };
    perform(Kind::kKernel, std::move(operation));
  }

  /// Reads when it begins, or only when it ends; what it writes holds NaN meanwhile.
  void perform(Kind kind, Operation operation) {
    const auto work = std::make_shared<Operation>(std::move(operation));
    const auto early = std::make_shared<std::vector<plan::Values>>();
    const bool reads_early = operations_++ % 2 == 0;
    const auto read = [this, work] {
      std::vector<plan::Values> values;
      for (const plan::Slice& slice : work->reads) {
        values.push_back(memory_.read(rank_, slice));
      }
      return values;
    };
    const auto begin = [this, work, early, read, reads_early] {
      if (reads_early) {
        *early = read();
      }
      for (const plan::Slice& out : work->writes) {
        const auto touches = [&](const plan::Slice& in) { return plan::overlap(in, out); };
        if (reads_early || std::ranges::none_of(work->reads, touches)) {
          memory_.poison(rank_, out);
        }
      }
    };
    const auto end = [this, work, early, read, reads_early] {
      const auto out = work->compute(reads_early ? *early : read());
      for (std::size_t w = 0; w < out.size(); ++w) {
        memory_.write(rank_, work->writes[w], out[w]);
      }
    };
    if (device_ != nullptr) {
      device_->put(kind, begin, end);
    } else {
      begin();
      end();
    }
  }

  const plan::PlanWorld& world_;
  plan::Rank rank_;
  SharedMemory& memory_;
  const ToyRun run_;
  bool trains_;
  std::atomic<std::uint32_t> operations_ = 0;
  std::unique_ptr<FakeDevice> device_;
  ToyIssuer issuer_;
  execution::StepPrograms programs_;
  execution::Dispatcher dispatcher_;
  execution::ModelGates gates_;
};

/// The memory after all steps of all ranks.  `look` is called with each rank at its end.
template <class Look>
plan::ToyMemory run_ranks(const plan::Planner& planner, const plan::PlanWorld& world,
                          const ToyRun& run, const Look& look) {
  SharedMemory memory(world);
  std::vector<std::unique_ptr<ToyRank>> ranks;
  {
    ToyNetwork network(world, memory, run.seed);
    for (plan::Rank rank = 0; rank < world.ranks(); ++rank) {
      ranks.push_back(std::make_unique<ToyRank>(planner, world, rank, memory, network, run));
    }
    std::vector<std::thread> threads;
    for (const auto& rank : ranks) {
      threads.emplace_back([&] {
        try {
          rank->run_steps();
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }  // what the network still moves arrives here
  for (const auto& rank : ranks) {
    look(*rank);
  }
  return memory.whole();
}

inline plan::ToyMemory run_ranks(const plan::Planner& planner, const plan::PlanWorld& world,
                                 const ToyRun& run) {
  return run_ranks(planner, world, run, [](const ToyRank&) {});
}

}  // namespace paceline::testing
