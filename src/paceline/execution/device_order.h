// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "paceline/execution/device.h"
#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// The ops that are enqueued in streams of a device, each with the event recorded after it.
///
/// An op is enqueued after the events of the ops that it waits for, and must wait for no other op.
/// Therefore kernels have their own streams, and a kernel is put only into a stream whose last op
/// is done or is one of the ops that the kernel waits for.
///
/// The caller must hold a lock during each call.
class EnqueuedOps {
 public:
  /// The largest number of streams for kernels; if all are taken, a kernel waits until one is free.
  static constexpr std::size_t kMostKernelStreams = 8;

  EnqueuedOps(Device& device, const plan::Frontier& frontier)
      : device_(device), frontier_(frontier) {}

  /// Reports that the op was enqueued in a stream at `began_ns` and that `event` follows it.
  /// `computes`: the stream is that of the training thread.
  void add(plan::OpRef ref, EventPtr event, std::int64_t began_ns, bool computes);

  /// Returns the events that the op must be enqueued after: those of the ops that it waits for and
  /// that are not known to be done.
  Events before(plan::OpRef ref) const;

  /// Whether the device has done all ops that the op waits for.
  bool is_ready(plan::OpRef ref) const { return before(ref).empty(); }

  /// Whether there is a stream in which a ready kernel need not wait for a kernel that it does not
  /// depend on.
  bool has_stream_for(plan::OpRef kernel) const;

  /// Returns the stream for a ready kernel, which becomes the last op of that stream.
  Device::Stream take_stream(plan::OpRef kernel);

  struct Done {
    plan::OpRef ref;
    std::int64_t began_ns = 0;
    bool computes = false;
  };
  /// Returns the ops that the device has finished since the last call.
  std::vector<Done> take_done();

  bool empty() const { return events_.empty(); }

 private:
  struct KernelStream {
    Device::Stream stream = 0;
    plan::OpRef last;
  };
  struct Entry {
    EventPtr event;
    std::int64_t began_ns = 0;
  };

  bool take_if_done(plan::OpRef ref, bool computes, std::vector<Done>& done);
  std::vector<KernelStream>::const_iterator find_stream(plan::OpRef kernel) const;

  Device& device_;
  const plan::Frontier& frontier_;
  std::map<plan::OpRef, Entry> events_;  // of ops that are not done
  std::deque<plan::OpRef> computing_;    // ops in the training thread's stream
  std::vector<plan::OpRef> others_;
  std::vector<KernelStream> streams_;
};

}  // namespace paceline::execution
