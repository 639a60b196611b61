// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/device_order.h"

#include <algorithm>
#include <utility>

namespace paceline::execution {

void EnqueuedOps::add(plan::OpRef ref, EventPtr event, std::int64_t began_ns, bool computes) {
  events_.emplace(ref, Entry{std::move(event), began_ns});
  if (computes) {
    computing_.push_back(ref);
  } else {
    others_.push_back(ref);
  }
}

Events EnqueuedOps::before(plan::OpRef ref) const {
  Events events;
  for (const plan::OpRef op : frontier_.incomplete_waits_of(ref)) {
    events.push_back(events_.at(op).event);
  }
  return events;
}

// Returns a stream whose last op is one that the kernel waits for, else an idle one; end() if there
// is none.
std::vector<EnqueuedOps::KernelStream>::const_iterator EnqueuedOps::find_stream(
    plan::OpRef kernel) const {
  const std::vector<plan::OpRef> before = frontier_.incomplete_waits_of(kernel);
  const auto behind_own = [&](const KernelStream& stream) {
    return std::ranges::find(before, stream.last) != before.end();
  };
  const auto idle = [&](const KernelStream& stream) { return frontier_.is_complete(stream.last); };
  const auto found = std::ranges::find_if(streams_, behind_own);
  return found != streams_.end() ? found : std::ranges::find_if(streams_, idle);
}

bool EnqueuedOps::has_stream_for(plan::OpRef kernel) const {
  return streams_.size() < kMostKernelStreams || find_stream(kernel) != streams_.end();
}

Device::Stream EnqueuedOps::take_stream(plan::OpRef kernel) {
  const auto found = find_stream(kernel);
  if (found == streams_.end()) {
    streams_.push_back({.stream = device_.add_stream(), .last = kernel});
    return streams_.back().stream;
  }
  streams_[static_cast<std::size_t>(found - streams_.begin())].last = kernel;
  return found->stream;
}

bool EnqueuedOps::take_if_done(plan::OpRef ref, bool computes, std::vector<Done>& done) {
  const auto entry = events_.find(ref);
  if (!entry->second.event->is_done()) {
    return false;
  }
  done.push_back({ref, entry->second.began_ns, computes});
  events_.erase(entry);
  return true;
}

// The training thread's stream finishes its ops in order, so polling stops at the first unfinished
// op.
std::vector<EnqueuedOps::Done> EnqueuedOps::take_done() {
  std::vector<Done> done;
  while (!computing_.empty() && take_if_done(computing_.front(), true, done)) {
    computing_.pop_front();
  }
  std::erase_if(others_, [&](plan::OpRef ref) { return take_if_done(ref, false, done); });
  return done;
}

}  // namespace paceline::execution
