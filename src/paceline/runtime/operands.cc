// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/operands.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "paceline/plan/kernel_traits.h"

namespace paceline::runtime {
namespace {

bool takes_tensors(const plan::Kernel& kernel) {
  const auto* traits = plan::find_kernel_traits(kernel.name);
  return traits != nullptr && traits->takes_tensors;
}

}  // namespace

Operands::Operands(const FlatMemory& memory, std::set<plan::BufferId> flat)
    : memory_(memory), gradients_(gradient_buffers(memory.setup())), flat_(std::move(flat)) {}

// Returns the slice of gradients that the kernel gets as one tensor per parameter; null if all
// gradients of the kernel are flat.
const plan::Slice* Operands::slice_to_split(const plan::Kernel& kernel) const {
  for (const plan::Access& read : kernel.reads) {
    const plan::BufferId buffer = read.slice.buffer;
    if (gradients_.contains(buffer) && !flat_.contains(buffer)) {
      return &read.slice;
    }
  }
  return nullptr;
}

Call Operands::resolve(const plan::Kernel& kernel) const {
  const plan::Slice* gradients = slice_to_split(kernel);
  const auto operands = [&](const std::vector<plan::Access>& accesses) {
    std::vector<Operand> out;
    for (const plan::Access& access : accesses) {
      const bool split = gradients != nullptr && access.slice.count == gradients->count;
      out.push_back(split ? per_parameter(access.slice, *gradients)
                          : Operand{memory_.view(access.slice)});
    }
    return out;
  };
  return {.reads = operands(kernel.reads),
          .writes = operands(kernel.writes),
          .numbers = kernel.numbers,
          .written = kernel.writes.empty() ? plan::Slice{} : kernel.writes.front().slice};
}

// Returns the part of `slice` for each parameter whose gradient lies in `gradients`, at the same
// offset.
Operand Operands::per_parameter(const plan::Slice& slice, const plan::Slice& gradients) const {
  Operand out;
  const auto& placements = memory_.setup().parameters;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const plan::Slice& own = placements[i].gradient;
    if (own.buffer != gradients.buffer || own.begin < gradients.begin ||
        own.begin + own.count > gradients.begin + gradients.count) {
      continue;
    }
    const auto id = static_cast<plan::ParameterId>(i);
    const at::Tensor& gradient = memory_.parameter(id).grad();
    if (!gradient.defined()) {
      continue;  // unused in this step: the parameter is not updated, as in PyTorch
    }
    if (slice == gradients) {
      out.push_back(gradient);
    } else {
      const plan::Elements begin = slice.begin + own.begin - gradients.begin;
      out.push_back(memory_.parameter_view(id, {slice.buffer, begin, own.count}));
    }
  }
  return out;
}

std::set<plan::BufferId> gradient_buffers(const plan::Setup& setup) {
  std::set<plan::BufferId> buffers;
  for (const plan::ParameterPlacement& placement : setup.parameters) {
    buffers.insert(placement.gradient.buffer);
  }
  return buffers;
}

std::set<plan::BufferId> moved_gradients(const plan::Setup& setup, const plan::CommPlan& plan) {
  const std::set<plan::BufferId> gradients = gradient_buffers(setup);
  std::set<plan::BufferId> moved;
  const auto add = [&](const plan::Slice& slice) {
    if (gradients.contains(slice.buffer)) {
      moved.insert(slice.buffer);
    }
  };
  for (const plan::Op& op : plan.ops) {
    if (!op.performer.empty()) {
      continue;
    }
    if (const auto* collective = std::get_if<plan::Collective>(&op.work)) {
      add(collective->in);
      add(collective->out);
    } else if (const auto* x = std::get_if<plan::Exchange>(&op.work)) {
      std::ranges::for_each(x->sends, add, &plan::Message::slice);
      std::ranges::for_each(x->receives, add, &plan::Message::slice);
    } else if (const auto* kernel = std::get_if<plan::Kernel>(&op.work);
               kernel != nullptr && !takes_tensors(*kernel)) {
      std::ranges::for_each(kernel->reads, add, &plan::Access::slice);
    }
  }
  return moved;
}

}  // namespace paceline::runtime
