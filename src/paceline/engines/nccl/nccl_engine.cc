// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/nccl/nccl_engine.h"

#include <vector>

#include <ATen/Functions.h>
#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>
#include <torch/csrc/cuda/nccl.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "paceline/base/error.h"
#include "paceline/engines/backend_channel.h"
#include "paceline/engines/background.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/failure.h"

namespace paceline::engines {
namespace {

using NcclGroup = c10::intrusive_ptr<c10d::ProcessGroupNCCL>;

/// NCCL connects at its first collective.  This function runs that collective before step 0, so
/// that its time is not measured as part of a step and its failure is not reported as a failure of
/// a step.
NcclGroup connected_group(const ChannelSpec& spec) {
  const c10::DeviceGuard guard(spec.device);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = spec.timeout;
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(
      c10::make_intrusive<c10d::PrefixStore>("nccl/" + spec.name, spec.store), spec.rank,
      spec.world, options);
  std::vector<at::Tensor> one{at::ones({1}, at::TensorOptions().device(spec.device))};
  backend->allreduce(one)->wait();
  PACELINE_CHECK_EQ(one[0].item<float>(), static_cast<float>(spec.world));
  return backend;
}

class NcclEngine final : public Engine {
 public:
  std::string_view name() const override { return "nccl"; }

  std::unique_ptr<Channel> connect(const ChannelSpec& spec) override {
    if (!spec.device.is_cuda()) {
      throw UsageError("--engine nccl: moves data of GPUs only; give --device cuda");
    }
    const auto what = fmt::format("connecting {} ranks by nccl as '{}'", spec.world, spec.name);
    try {
      NcclGroup backend = get_within(run_in_background([spec] { return connected_group(spec); }),
                                     spec.timeout, spec.idle);
      backend->setTimeout(spec.operation_timeout);
      return make_backend_channel(std::move(backend), spec);
    } catch (...) {
      rethrow_as_world_error(what);
    }
  }
};

}  // namespace

std::unique_ptr<Engine> make_nccl_engine() { return std::make_unique<NcclEngine>(); }

bool nccl_is_built() { return true; }

std::string nccl_version() {
  const std::uint64_t packed = torch::cuda::nccl::version();
  return fmt::format("{}.{}.{}", packed >> 32U, packed >> 16U & 0xFFFFU, packed & 0xFFFFU);
}

}  // namespace paceline::engines
