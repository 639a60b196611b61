// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/operands.h"

#include <algorithm>
#include <variant>

#include "paceline/plan/kernel_traits.h"

namespace paceline::runtime {
namespace {

bool in_gradients(const plan::Setup& setup, const plan::Slice& slice) {
  return !setup.parameters.empty() &&
         slice.buffer == setup.parameters.front().gradient.buffer;
}

const plan::Slice* gradient_read(const plan::Setup& setup,
                                 const plan::Kernel& kernel) {
  for (const plan::Access& read : kernel.reads) {
    if (in_gradients(setup, read.slice)) {
      return &read.slice;
    }
  }
  return nullptr;
}

}  // namespace

Operands::Operands(const FlatMemory& memory, bool flat_gradients)
    : memory_(memory), flat_gradients_(flat_gradients) {}

Call Operands::resolve(const plan::Kernel& kernel) const {
  const plan::Slice* gradients =
      flat_gradients_ ? nullptr : gradient_read(memory_.setup(), kernel);
  const auto operands = [&](const std::vector<plan::Access>& accesses) {
    std::vector<Operand> out;
    for (const plan::Access& access : accesses) {
      const bool split =
          gradients != nullptr && access.slice.count == gradients->count;
      out.push_back(split ? per_parameter(access.slice, *gradients)
                          : Operand{memory_.view(access.slice)});
    }
    return out;
  };
  return {.reads = operands(kernel.reads),
          .writes = operands(kernel.writes),
          .numbers = kernel.numbers};
}

// The part of `slice` that corresponds to each parameter whose gradient lies
// in `gradients`, at the same offset.
Operand Operands::per_parameter(const plan::Slice& slice,
                                const plan::Slice& gradients) const {
  Operand out;
  const auto& placements = memory_.setup().parameters;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const plan::Slice& own = placements[i].gradient;
    if (own.begin < gradients.begin ||
        own.begin + own.count > gradients.begin + gradients.count) {
      continue;
    }
    const auto id = static_cast<plan::ParameterId>(i);
    const at::Tensor& gradient = memory_.parameter(id).grad();
    if (!gradient.defined()) {
      continue;  // unused in this step: it is not updated, as in PyTorch
    }
    if (slice == gradients) {
      out.push_back(gradient);
    } else {
      const plan::Elements begin = slice.begin + own.begin - gradients.begin;
      out.push_back(memory_.shaped(id, {slice.buffer, begin, own.count}));
    }
  }
  return out;
}

bool moves_gradients(const plan::Setup& setup, const plan::CommPlan& plan) {
  return std::any_of(plan.ops.begin(), plan.ops.end(), [&](const plan::Op& op) {
    if (!op.performer.empty()) {
      return false;
    }
    if (const auto* c = std::get_if<plan::Collective>(&op.work)) {
      return in_gradients(setup, c->in) || in_gradients(setup, c->out);
    }
    if (const auto* x = std::get_if<plan::Exchange>(&op.work)) {
      const auto moved = [&](const plan::Message& m) {
        return in_gradients(setup, m.slice);
      };
      return std::any_of(x->sends.begin(), x->sends.end(), moved) ||
             std::any_of(x->receives.begin(), x->receives.end(), moved);
    }
    if (const auto* k = std::get_if<plan::Kernel>(&op.work)) {
      const auto* traits = plan::find_kernel_traits(k->name);
      return gradient_read(setup, *k) != nullptr &&
             !(traits != nullptr && traits->takes_tensors);
    }
    return false;
  });
}

}  // namespace paceline::runtime
