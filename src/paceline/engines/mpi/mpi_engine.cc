// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/mpi_engine.h"

#include <algorithm>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/engines/backend_channel.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/failure.h"
#include "paceline/engines/mpi/mpi_backend.h"
#include "paceline/engines/mpi/process.h"

namespace paceline::engines {
namespace {

std::vector<int> members_of(const ChannelSpec& spec) {
  const auto members = spec.members.empty() ? plan::Members::spaced(0, spec.world) : spec.members;
  return {members.begin(), members.end()};
}

void check_world(const mpi::Process& process, const std::vector<int>& members, int place) {
  const int rank = members.at(static_cast<std::size_t>(place));
  if (process.rank() != rank || *std::ranges::max_element(members) >= process.world()) {
    throw UsageError(fmt::format(
        "engine mpi: MPI takes this process for rank {} of {}, and the job for rank {}; start the "
        "job by MPI's own mpirun, by srun --mpi=pmix, or, with Open MPI, by `paceline run`",
        process.rank(), process.world(), rank));
  }
}

class MpiEngine final : public Engine {
 public:
  std::string_view name() const override { return "mpi"; }

  void start(std::chrono::milliseconds timeout, const std::function<void()>& idle) override {
    mpi::Process::start(timeout, idle);
  }

  std::unique_ptr<Channel> connect(const ChannelSpec& spec) override {
    if (!spec.device.is_cpu()) {
      throw UsageError("engine mpi: moves data of CPUs only; give --device cpu");
    }
    try {
      mpi::Process& process = mpi::Process::start(spec.timeout, spec.idle);
      const std::vector<int> members = members_of(spec);
      check_world(process, members, spec.rank);
      auto communicator = process.connect(members, spec.name, spec.timeout, spec.idle);
      auto backend = c10::make_intrusive<mpi::MpiBackend>(
          process, std::move(communicator), spec.rank, spec.world,
          mpi::MpiBackend::Limits{.timeout = spec.operation_timeout});
      return make_backend_channel(std::move(backend), spec,
                                  plan::find_engine_traits("mpi")->concurrent_collectives);
    } catch (...) {
      rethrow_as_world_error(
          fmt::format("connecting {} ranks by mpi as '{}'", spec.world, spec.name));
    }
  }
};

}  // namespace

std::unique_ptr<Engine> make_mpi_engine() { return std::make_unique<MpiEngine>(); }

bool mpi_is_built() { return true; }

void leave_mpi() { mpi::Process::instance().finish(); }

std::string_view mpirun_program() {
#ifdef OPEN_MPI
  return PACELINE_MPIRUN_PROGRAM;
#else
  return {};
#endif
}

}  // namespace paceline::engines
