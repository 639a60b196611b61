// SPDX-License-Identifier: Apache-2.0
#include "collectives.h"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/ranks_per_host.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/strategies/topology.h"

namespace paceline::extension {
namespace {

plan::Reduce reduce_of(const std::string& op) {
  constexpr std::array<std::pair<const char*, plan::Reduce>, 3> kAll{
      {{"mean", plan::Reduce::kMean}, {"sum", plan::Reduce::kSum}, {"max", plan::Reduce::kMax}}};
  for (const auto& [name, reduce] : kAll) {
    if (op == name) {
      return reduce;
    }
  }
  throw UsageError(fmt::format("op='{}': allowed are mean, sum, max.", op));
}

// Returns a dense copy without gradient graph, so that the caller's tensor stays unchanged.
at::Tensor copy_of(const at::Tensor& tensor) {
  return tensor.detach().clone(at::MemoryFormat::Contiguous);
}

}  // namespace

at::Tensor all_reduce(Job& job, const at::Tensor& tensor, const std::string& op) {
  const plan::Reduce reduce = reduce_of(op);
  at::Tensor out = copy_of(tensor);
  if (job.size() > 1) {
    job.without_gil([&] {
      engines::Channel& channel = job.channel(tensor.device());
      job.peers(tensor.device()).wait_for(channel.all_reduce(out, reduce));
    });
  }
  return out;
}

at::Tensor broadcast(Job& job, const at::Tensor& tensor, int root) {
  if (root < 0 || root >= job.size()) {
    throw UsageError(fmt::format("root={}: must be a rank, 0 to {}.", root, job.size() - 1));
  }
  at::Tensor out = copy_of(tensor);
  if (job.size() > 1) {
    job.without_gil([&] {
      engines::Channel& channel = job.channel(tensor.device());
      job.peers(tensor.device()).wait_for(channel.broadcast(out, root));
    });
  }
  return out;
}

at::Tensor neighbor_allreduce(Job& job, const at::Tensor& tensor, const std::string& topology,
                              std::int64_t step) {
  const std::vector<int> hosts = ranks_per_host<std::string>(job.world().hosts);
  const auto graph =
      strategies::TopologyChoice(topology).on({.count = job.size(), .local = hosts.front()});
  const strategies::MixingRow mixing = graph->mixing(job.rank(), step);
  if (!tensor.is_floating_point()) {
    throw UsageError(fmt::format("neighbor_allreduce() of {} values: its weights are fractions.",
                                 std::string(at::toString(tensor.scalar_type()))));
  }
  const at::Tensor own = copy_of(tensor);
  at::Tensor out = at::empty_like(own);
  std::vector<double> weights{mixing.self};
  runtime::Call call;
  call.reads = {{own.view(-1)}};
  call.writes = {{out.view(-1)}};
  std::vector<engines::Channel::Message> sends, receives;
  for (const auto to : mixing.to) {
    sends.push_back({own, to, 0});
  }
  for (const strategies::Neighbor& from : mixing.from) {
    const at::Tensor theirs = at::empty_like(own);
    receives.push_back({theirs, from.rank, 0});
    call.reads.push_back({theirs.view(-1)});
    weights.push_back(from.weight);
  }
  call.numbers = weights;
  job.without_gil([&] {
    if (!sends.empty() || !receives.empty()) {
      const engines::PeerWait peers = job.peers(tensor.device());
      for (const auto& work : job.channel(tensor.device()).exchange(sends, receives)) {
        peers.wait_for(work);
      }
    }
    runtime::find_kernel("linear").run({}, call);
  });
  return out;
}

}  // namespace paceline::extension
