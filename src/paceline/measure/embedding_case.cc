// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/embedding_case.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "paceline/base/error.h"
#include "paceline/measure/shape_of.h"
#include "paceline/plan/program.h"
#include "paceline/runtime/ragged.h"
#include "paceline/strategies/sharded_embeddings.h"

namespace paceline::measure {

using strategies::EmbeddingJob;

std::unique_ptr<plan::Planner> planner_of(
    const records::Configuration& configuration,
    const strategies::StrategySpec& strategy,
    bool integers) {
  auto planner = strategies::make_planner(strategy);
  auto job = embedding_job_of(configuration);
  if (!job) {
    return planner;
  }
  job->integers = integers;
  const bool alone =
      strategy.whole.row != nullptr && strategy.whole.row->name == "none";
  return strategies::make_sharded_embeddings(
      *job,
      std::move(planner),
      alone ? strategies::Rows::kAbsent : strategies::Rows::kServed);
}

void add_lookups(const EmbeddingJob& job,
                 const runtime::FlatMemory& memory,
                 records::Lookups& lookups) {
  const plan::Setup& setup = memory.setup();
  const auto all = [&](std::string_view name) {
    return memory.view(plan::whole(setup, plan::buffer_named(setup, name)));
  };
  const at::Tensor ids = all(strategies::kLookupIds);
  const auto row_bytes =
      job.dim *
      static_cast<std::int64_t>(all(strategies::kLookupRows).element_size());
  const auto gradient_bytes =
      job.dim * static_cast<std::int64_t>(
                    all(strategies::kLookupGradients).element_size());
  const int told =
      strategies::is_served(setup)
          ? (job.placement == strategies::TablePlacement::kReplicated
                 ? job.servers
                 : 1)
          : 0;
  const strategies::TableMap map(job);
  lookups.rows += runtime::length_of(all(strategies::kLookupIndex));
  lookups.distinct.resize(static_cast<std::size_t>(job.servers));
  for (plan::Rank server = 0; server < job.servers; ++server) {
    const auto part = ids.numel() / job.servers;
    const auto rows = runtime::length_of(ids.narrow(0, server * part, part));
    lookups.distinct[static_cast<std::size_t>(server)] += rows;
    const bool asked =
        map.rows_of(server) > 0 &&
        (job.placement != strategies::TablePlacement::kReplicated || rows > 0);
    if (asked && told > 0) {
      lookups.id_bytes += told * (plan::kLengthBytes + 8 * rows);
      lookups.row_bytes += plan::kLengthBytes + rows * row_bytes;
      lookups.gradient_bytes +=
          told * (plan::kLengthBytes + rows * gradient_bytes);
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

// A trainer's first messages are its lookups.
plan::CommunicatorId lookups_on(const plan::CommPlan& plan) {
  for (const plan::Op& op : plan.ops) {
    if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
      return exchange->on;
    }
  }
  PACELINE_CHECK(false);
}

}  // namespace

std::map<std::string, std::vector<std::int64_t>> table_phases(
    const std::vector<execution::OpSpan>& spans,
    const std::function<const plan::CommPlan&(plan::Step)>& plan_of,
    plan::Step first,
    int steps) {
  struct Phase {
    std::int64_t begin = 0, end = 0;
  };
  const auto count = static_cast<std::size_t>(steps);
  std::vector<Phase> lookups(count), pushes(count);
  for (const execution::OpSpan& span : spans) {
    const plan::Step step = span.ref.step - first;
    if (step < 0 || step >= steps ||
        span.kind != execution::OpSpan::Kind::kWork) {
      continue;
    }
    const plan::Op& op =
        plan_of(span.ref.step).ops[static_cast<std::size_t>(span.ref.op)];
    Phase& lookup = lookups[static_cast<std::size_t>(step)];
    Phase& push = pushes[static_cast<std::size_t>(step)];
    if (const auto* kernel = std::get_if<plan::Kernel>(&op.work)) {
      if (kernel->name == "deduplicate") {
        lookup.begin = span.start_ns;
      } else if (kernel->name == "pool") {
        lookup.end = span.end_ns;
      } else if (kernel->name == "pool_gradient") {
        push.begin = span.start_ns;
        push.end = std::max(push.end, span.end_ns);
      }
    } else if (const auto* exchange = std::get_if<plan::Exchange>(&op.work);
               exchange != nullptr && push.begin > 0 &&
               !exchange->sends.empty() &&
               exchange->on == lookups_on(plan_of(span.ref.step))) {
      push.end = std::max(push.end, span.end_ns);
    }
  }
  std::map<std::string, std::vector<std::int64_t>> phases;
  for (std::size_t i = 0; i < count; ++i) {
    phases["lookup"].push_back(lookups[i].end - lookups[i].begin);
    phases["gradient_push"].push_back(pushes[i].end - pushes[i].begin);
  }
  return phases;
}

networks::NetworkOptions network_options(const records::Configuration& c) {
  networks::NetworkOptions options{.image_size = c.image_size,
                                   .classes = c.classes,
                                   .sequence_length = c.sequence_length,
                                   .compat_zeros = c.compat_zeros};
  if (c.start == "formula") {
    options.dropout = 0;  // random numbers are the framework's own
  }
  if (const auto job = embedding_job_of(c)) {
    strategies::check_job(*job);
    options.bags =
        static_cast<int>(std::max(plan::Elements{2}, job->bags.most_bags()));
    options.bag_width = static_cast<int>(job->width());
    options.bag_tables = job->tables;
    options.one_relu = c.compat_relu;
  }
  return options;
}

}  // namespace paceline::measure
