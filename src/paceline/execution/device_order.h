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

/// The ops that stand in streams of a device: each with the event behind it.
///
/// An op is put behind the events of the ops that it waits for, and behind nothing else.  So
/// kernels have streams of their own, and a kernel is put only into a stream whose last op is done,
/// or is one that the kernel waits for.
///
/// Calls need a lock around them.
class DeviceOrder {
 public:
  /// Streams of kernels; where all are taken, a kernel waits for one.
  static constexpr std::size_t kMostKernelStreams = 8;

  DeviceOrder(Device& device, const plan::Frontier& frontier)
      : device_(device), frontier_(frontier) {}

  /// The op stands in a stream in front of `event`, put there at `began_ns`.
  /// `computes`: in the stream of the training thread.
  void add(plan::OpRef ref, EventPtr event, std::int64_t began_ns, bool computes);

  /// What the op must be put behind: the events of the ops that it waits for and that are not known
  /// to be done.
  Events before(plan::OpRef ref) const;

  /// The device has done all that the op waits for.
  bool is_ready(plan::OpRef ref) const { return before(ref).empty(); }

  /// Whether there is a stream for a kernel that is ready, in which it need not wait for a kernel
  /// that it does not depend on.
  bool has_stream_for(plan::OpRef kernel) const;

  /// The stream for a ready kernel, which is the stream's last op from now on.
  Device::Stream take_stream(plan::OpRef kernel);

  struct Done {
    plan::OpRef ref;
    std::int64_t began_ns = 0;
    bool computes = false;
  };
  /// The ops that the device has done since the last call.
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
  std::deque<plan::OpRef> computing_;    // those of the training thread
  std::vector<plan::OpRef> others_;
  std::vector<KernelStream> streams_;
};

}  // namespace paceline::execution
