// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/gloo/host_staging.h"

#include <memory>
#include <utility>

#include <ATen/Functions.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "paceline/engines/background.h"
#include "paceline/engines/thread_device.h"

namespace paceline::engines {
namespace {

// The memory is pinned, so that a copy between it and a GPU does not block the host.
at::Tensor pinned_like(const at::Tensor& tensor) {
  return at::empty(tensor.sizes(), tensor.options().device(at::kCPU).pinned_memory(true));
}

class StagedSend final : public c10d::Work {
 public:
  explicit StagedSend(std::shared_future<BackendWrapper::Work> sent) : sent_(std::move(sent)) {}

  bool wait(std::chrono::milliseconds timeout) override { return sent_.get()->wait(timeout); }

 private:
  std::shared_future<BackendWrapper::Work> sent_;
};

class StagedReceive final : public c10d::Work {
 public:
  StagedReceive(BackendWrapper::Work received, at::Tensor host, at::Tensor device)
      : received_(std::move(received)), host_(std::move(host)), device_(std::move(device)) {}

  bool wait(std::chrono::milliseconds timeout) override {
    const bool done = received_->wait(timeout);
    if (done) {
      device_.copy_(host_, /*non_blocking=*/true);
    }
    return done;
  }

 private:
  BackendWrapper::Work received_;
  at::Tensor host_, device_;
};

}  // namespace

HostStaging::Work HostStaging::perform(const Operation& operation, const Issue& issue) {
  if (operation.kind == Operation::Kind::kCollective || operation.payload.front().is_cpu()) {
    return issue();
  }
  return operation.kind == Operation::Kind::kSend ? send_staged(operation)
                                                  : receive_staged(operation);
}

HostStaging::Work HostStaging::send_staged(const Operation& operation) {
  const at::Tensor& from = operation.payload.front();
  const at::Tensor host = pinned_like(from);
  host.copy_(from, /*non_blocking=*/true);
  const c10::impl::VirtualGuardImpl guard(from.device().type());
  const auto copied = std::make_shared<c10::Event>(from.device().type());
  copied->record(guard.getStream(from.device()));
  last_sent_ =
      run_in_background([inner = inner_, before = std::move(last_sent_), copied, host,
                         device = from.device(), to = operation.peer, tag = operation.tag] {
        set_thread_device(device);
        if (before.valid()) {
          before.wait();
        }
        copied->synchronize();
        std::vector<at::Tensor> tensors{host};
        return inner->send(tensors, to, tag);
      }).share();
  return c10::make_intrusive<StagedSend>(last_sent_);
}

HostStaging::Work HostStaging::receive_staged(const Operation& operation) {
  const at::Tensor& to = operation.payload.front();
  at::Tensor host = pinned_like(to);
  std::vector<at::Tensor> tensors{host};
  Work received = inner_->recv(tensors, operation.peer, operation.tag);
  return c10::make_intrusive<StagedReceive>(std::move(received), std::move(host), to);
}

}  // namespace paceline::engines
