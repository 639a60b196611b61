// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/gloo/gloo_engine.h"

#include <memory>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "paceline/base/scheduling.h"
#include "paceline/engines/backend_channel.h"
#include "paceline/engines/background.h"
#include "paceline/engines/failure.h"
#include "paceline/engines/gloo/host_staging.h"
#include "paceline/launch/network_interface.h"

namespace paceline::engines {
namespace {

// The number of threads, each of which performs one collective at a time.
constexpr int kThreads = plan::find_engine_traits("gloo")->concurrent_collectives;

// Note [The thread that a device of Gloo starts]
// This thread waits for events of all connections.  While a sending thread holds the lock of a
// connection, this thread cannot read what has arrived there, and epoll returns the event again at
// once (`Pair::handleEvents` in gloo/transport/tcp/pair.cc).  If both threads share a core, this
// thread would poll the event until the scheduler's next tick, while the sender, which holds the
// lock, cannot run.  With SCHED_BATCH this thread waits for the sender.  But it then waits for
// computing threads, too; so kLargestScheduledBytes limits its use.

std::shared_ptr<gloo::transport::Device> make_device(const ChannelSpec& spec) {
  const ScopedScheduling of_its_thread(scheduling_of(spec.largest_operation, Scheduling::kBatch));
  return spec.interface.empty() ? c10d::ProcessGroupGloo::createDefaultDevice()
                                : c10d::ProcessGroupGloo::createDeviceForInterface(spec.interface);
}

class GlooEngine final : public Engine {
 public:
  std::string_view name() const override { return "gloo"; }

  std::unique_ptr<Channel> connect(const ChannelSpec& spec) override {
    const auto what = fmt::format("connecting {} ranks by gloo as '{}'", spec.world, spec.name);
    if (!spec.interface.empty()) {
      launch::require_interface(spec.interface);
    }
    try {
      auto options = c10d::ProcessGroupGloo::Options::create(spec.timeout);
      options->threads = kThreads;
      options->devices.push_back(make_device(spec));
      auto store = c10::make_intrusive<c10d::PrefixStore>("gloo/" + spec.name, spec.store);
      c10::intrusive_ptr<c10d::Backend> backend = get_within(
          run_in_background([store, options, rank = spec.rank, world = spec.world] {
            return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, world, options);
          }),
          spec.timeout, spec.idle);
      backend->setTimeout(spec.operation_timeout);
      if (!spec.device.is_cpu()) {
        backend = c10::make_intrusive<HostStaging>(std::move(backend));
      }
      return make_backend_channel(std::move(backend), spec, kThreads);
    } catch (...) {
      rethrow_as_world_error(what);
    }
  }
};

}  // namespace

std::unique_ptr<Engine> make_gloo_engine() { return std::make_unique<GlooEngine>(); }

}  // namespace paceline::engines
