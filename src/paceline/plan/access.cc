// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/access.h"

#include <algorithm>

namespace paceline::plan {
namespace {

/// Appends the ranges that an op reads and writes; each operator() handles one kind of op.  Empty
/// slices are left out.
struct AccessCollector {
  const std::vector<std::vector<Slice>>& values;
  const std::vector<Slice>& statistics;
  const std::vector<ParameterPlacement>& parameters;
  std::vector<AccessedRange>& accessed_ranges;

  void read(const Slice& slice, Step slack = 0) { add(slice, false, slack); }
  void write(const Slice& slice, Step slack = 0) { add(slice, true, slack); }
  void add(const Slice& slice, bool write, Step slack) {
    if (slice.count > 0) {
      accessed_ranges.push_back({slice, write, slack});
    }
  }

  void operator()(const Forward& forward) {
    const std::size_t module = index_of(forward.module);
    for (const Slice& value : values[module]) {
      read(value);
    }
    if (module < statistics.size()) {
      write(statistics[module]);
    }
  }
  void operator()(const Backward& backward) {
    const ParameterPlacement& parameter = parameters[index_of(backward.parameter)];
    read(parameter.value);
    if (backward.micro > 0) {
      read(parameter.gradient);
    }
    write(parameter.gradient);
  }
  void operator()(const Collective& collective) {
    read(collective.in);
    write(collective.out);
  }
  void operator()(const Exchange& exchange) {
    for (const Message& message : exchange.sends) {
      read(message.slice);
    }
    for (const Message& message : exchange.receives) {
      write(message.slice);
    }
  }
  void operator()(const Kernel& kernel) {
    for (const Access& access : kernel.reads) {
      read(access.slice, access.slack);
    }
    for (const Access& access : kernel.writes) {
      write(access.slice, access.slack);
    }
  }
};

}  // namespace

Accesses::Accesses(const ModelShape& model, const Setup& setup)
    : values_(model.modules.size()), statistics_(setup.statistics), parameters_(setup.parameters) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    values_[index_of(model.parameters[i].module)].push_back(parameters_[i].value);
  }
}

void Accesses::of(const Op& op, std::vector<AccessedRange>& accessed_ranges) const {
  accessed_ranges.clear();
  std::visit(AccessCollector{values_, statistics_, parameters_, accessed_ranges}, op.work);
}

std::vector<std::vector<Slice>> touched_ranges(
    const Planner& planner, const PlanInput& input, const Setup& setup,
    const std::function<bool(const Op&, const AccessedRange&)>& counts) {
  const Accesses accesses(input.model, setup);
  std::vector<std::vector<Slice>> ranges(setup.buffers.size());
  std::vector<AccessedRange> accessed_ranges;
  for (const Variant variant : variants_of(planner, input)) {
    for (const Op& op : planner.plan(input, setup, variant).ops) {
      accesses.of(op, accessed_ranges);
      for (const AccessedRange& touch : accessed_ranges) {
        if (!counts || counts(op, touch)) {
          ranges[index_of(touch.slice.buffer)].push_back(touch.slice);
        }
      }
    }
  }
  for (std::vector<Slice>& slices : ranges) {
    std::ranges::sort(slices, {}, &Slice::begin);
    std::vector<Slice> merged;
    for (const Slice& slice : slices) {
      if (merged.empty() || merged.back().begin + merged.back().count < slice.begin) {
        merged.push_back(slice);
      } else {
        Slice& last = merged.back();
        last.count = std::max(last.begin + last.count, slice.begin + slice.count) - last.begin;
      }
    }
    slices = std::move(merged);
  }
  return ranges;
}

Step largest_slack_steps(const CommPlan& plan) {
  Step largest = 0;
  for (const Op& op : plan.ops) {
    if (const auto* kernel = std::get_if<Kernel>(&op.work)) {
      for (const auto* accesses : {&kernel->reads, &kernel->writes}) {
        for (const Access& access : *accesses) {
          largest = std::max(largest, access.slack);
        }
      }
    }
  }
  return largest;
}

}  // namespace paceline::plan
