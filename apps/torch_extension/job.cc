// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>

#include "paceline/base/process.h"
#include "paceline/engines/channel_spec.h"
#include "paceline/engines/thread_device.h"
#include "paceline/launch/detect_launch.h"

namespace paceline::extension {
namespace {

std::chrono::milliseconds milliseconds_of(double seconds) {
  if (!(seconds > 0) || seconds > 1e6) {
    throw UsageError(
        fmt::format("timeout={:g}: must be above 0 and at most 1e6 seconds.", seconds));
  }
  return std::chrono::milliseconds(std::llround(seconds * 1e3));
}

// Flushes Python's output, which would be lost because the process ends without destructors.
void flush_python() {
  const py::gil_scoped_acquire python;
  for (const char* stream : {"stdout", "stderr"}) {
    try {
      py::module_::import("sys").attr(stream).attr("flush")();
    } catch (py::error_already_set&) {
      continue;  // it is closed
    }
  }
}

}  // namespace

Job::Job(const Options& options)
    : timeout_(milliseconds_of(options.timeout_s)),
      interface_(options.interface),
      engine_(engines::make_engine(options.engine)) {
  keep_freed_memory();
  const launch::Launch launch = launch::detect_launch(options.rendezvous);
  const py::gil_scoped_release released;
  joined_ =
      std::make_unique<engines::JoinedRank>(launch, timeout_, [this](launch::FailureNotice& cause) {
        if (cause.rank == rank()) {
          std::fputs(traceback_.c_str(), stderr);
        }
      });
  try {
    engine_->start(timeout_, peers(at::kCPU).idle);
  } catch (const WorldError& error) {
    if (joined_->is_watched()) {
      end(error);
    }
    throw;
  }
}

engines::PeerWait Job::peers(at::Device device) {
  return {.idle =
              [this] {
                heartbeat().note_progress();
                const py::gil_scoped_acquire python;
                if (PyErr_CheckSignals() != 0) {
                  throw py::error_already_set();
                }
              },
          .timeout = timeout_,
          .device = device};
}

rank::RankGroup Job::make_group(at::Device device) {
  rank::RankGroup group{
      engines::channel_spec(world(), fmt::format("group{}", groups_++), size(), interface_),
      engine_.get(), peers(device)};
  engines::set_thread_device(device);
  group.device = device;
  return group;
}

engines::Channel& Job::channel(at::Device device) {
  if (channel_ == nullptr || channel_device_ != device) {
    channel_ = engine_->connect(make_group(device).channel_named("all"));
    channel_device_ = device;
  }
  return *channel_;
}

void Job::end(const std::exception& error) {
  flush_python();
  joined_->fail(error);
}

void Job::fail(const std::string& what, const std::string& traceback) {
  if (!joined_->is_watched()) {
    return;
  }
  if (world().self.launcher == "paceline") {
    std::fputs(traceback.c_str(), stderr);
  } else {
    traceback_ = traceback;
  }
  const py::gil_scoped_release released;
  end(std::runtime_error(what));
}

void Job::leave() {
  const py::gil_scoped_release released;
  channel_.reset();
  joined_->leave(0);
  joined_.reset();
}

}  // namespace paceline::extension
