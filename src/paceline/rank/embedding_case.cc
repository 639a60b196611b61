// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/embedding_case.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "paceline/plan/kernel_traits.h"
#include "paceline/plan/program.h"
#include "paceline/rank/planner_input.h"
#include "paceline/runtime/ragged.h"
#include "paceline/strategies/sharded_embeddings.h"

namespace paceline::rank {

using strategies::EmbeddingJob;

std::unique_ptr<plan::Planner> planner_of(const cases::Case& configuration,
                                          const strategies::StrategySpec& strategy, bool integers) {
  auto job = embedding_job_of(configuration);
  if (!job) {
    return strategies::make_planner(strategy);
  }
  job->integers = integers;
  return cases::planner_of(*job, strategy);
}

void add_lookups(const EmbeddingJob& job, const plan::CommPlan& plan,
                 const runtime::FlatMemory& memory, records::LookupCounts& lookups) {
  const plan::Setup& setup = memory.setup();
  const auto all = [&](std::string_view name) {
    return memory.view(plan::whole(setup, plan::buffer_named(setup, name)));
  };
  lookups.rows += runtime::ragged_length(all(strategies::kLookupIndex));
  const at::Tensor ids = all(strategies::kLookupIds);
  std::vector<std::int64_t> distinct;  // by server
  lookups.distinct.resize(static_cast<std::size_t>(job.servers));
  for (std::int64_t& sum : lookups.distinct) {
    const auto part = ids.numel() / job.servers;
    distinct.push_back(runtime::ragged_length(ids.narrow(0, std::ssize(distinct) * part, part)));
    sum += distinct.back();
  }
  const auto add = [&](const plan::Message& message) {
    const plan::Slice& slice = message.slice;
    const plan::Buffer& buffer = setup.buffers[static_cast<std::size_t>(slice.buffer)];
    const auto bytes = [&](plan::Elements width) {
      const auto server = static_cast<std::size_t>(slice.begin / slice.count);
      return plan::kLengthBytes + distinct[server] * width * plan::size_of(buffer.dtype);
    };
    if (buffer.name == strategies::kLookupIds) {
      lookups.id_bytes += bytes(1);
    } else if (buffer.name == strategies::kLookupRows) {
      lookups.row_bytes += bytes(job.dim);
    } else if (buffer.name == strategies::kLookupGradients) {
      lookups.gradient_bytes += bytes(job.dim);
    }
  };
  for (const plan::Op& op : plan.ops) {
    if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
      std::ranges::for_each(exchange->sends, add);
      std::ranges::for_each(exchange->receives, add);
    }
  }
}

std::map<plan::Step, std::int64_t> lookups_by_steps_missed(
    const std::map<plan::Step, std::int64_t>& kernels) {
  std::map<plan::Step, std::int64_t> lookups;
  for (const auto& [missed, count] : kernels) {
    lookups[std::max(plan::Step{0}, missed - 1)] += count;
  }
  return lookups;
}

namespace {

// The time span of a phase in one step.
struct Phase {
  std::int64_t begin = 0, end = 0;
  std::set<plan::BufferId> written;  // buffers that the phase's first kernel writes
};

using Phases = std::map<std::string, Phase>;  // keys: names of phases

void add_kernel(const plan::Kernel& kernel, const execution::OpSpan& span, Phases& phases) {
  const plan::KernelTraits* traits = plan::find_kernel_traits(kernel.name);
  if (traits == nullptr) {
    return;
  }
  if (!traits->begins.empty()) {
    Phase& phase = phases[std::string(traits->begins)];
    phase.begin = span.start_ns;
    phase.end = std::max(phase.end, span.end_ns);
    for (const plan::Access& access : kernel.writes) {
      phase.written.insert(access.slice.buffer);
    }
  }
  if (!traits->ends.empty()) {
    Phase& phase = phases[std::string(traits->ends)];
    phase.end = std::max(phase.end, span.end_ns);
    phase.written.clear();
  }
}

void add_messages(const plan::Exchange& exchange, const execution::OpSpan& span, Phases& phases) {
  for (auto& [name, phase] : phases) {
    for (const plan::Message& message : exchange.sends) {
      if (phase.written.contains(message.slice.buffer)) {
        phase.end = std::max(phase.end, span.end_ns);
      }
    }
  }
}

}  // namespace

std::map<std::string, std::vector<std::int64_t>> kernel_phase_times(
    const std::vector<execution::OpSpan>& spans,
    const std::function<const plan::CommPlan&(plan::Step)>& plan_of, plan::Step first, int steps) {
  std::vector<Phases> of_steps(static_cast<std::size_t>(steps));
  for (const execution::OpSpan& span : spans) {
    const plan::Step step = span.ref.step - first;
    if (step < 0 || step >= steps || span.kind != execution::OpSpan::Kind::kWork) {
      continue;
    }
    Phases& phases = of_steps[static_cast<std::size_t>(step)];
    const plan::Op& op = plan_of(span.ref.step).ops[static_cast<std::size_t>(span.ref.op)];
    if (const auto* kernel = std::get_if<plan::Kernel>(&op.work)) {
      add_kernel(*kernel, span, phases);
    } else if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
      add_messages(*exchange, span, phases);
    }
  }
  std::map<std::string, std::vector<std::int64_t>> all;
  for (const Phases& phases : of_steps) {
    for (const auto& [name, phase] : phases) {
      all[name].push_back(phase.end - phase.begin);
    }
  }
  return all;
}

networks::NetworkOptions network_options(const cases::Case& c) {
  networks::NetworkOptions options{.image_size = c.image_size,
                                   .classes = c.classes,
                                   .sequence_length = c.sequence_length,
                                   .zeros = c.as_original};
  if (c.start == "formula") {
    options.dropout = 0;  // dropout is off because frameworks draw different masks
  }
  if (const auto job = embedding_job_of(c)) {
    strategies::check_job(*job);
    options.bags = static_cast<int>(std::max(plan::Elements{2}, job->bags.most_bags()));
    options.bag_width = static_cast<int>(job->width());
    options.bag_tables = job->tables;
    options.has_one_relu = c.as_original;
  }
  return options;
}

bool keeps_gradients(const cases::Network& network) {
  return network.as_original && !network.has_tables() && !networks::reads_text(network.model);
}

}  // namespace paceline::rank
