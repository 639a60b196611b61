// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/memory.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/runtime/operands.h"

namespace paceline::runtime {
at::ScalarType scalar_type(plan::DType dtype) {
  switch (dtype) {
    case plan::DType::kF32:
      return at::kFloat;
    case plan::DType::kF64:
      return at::kDouble;
    case plan::DType::kF16:
      return at::kHalf;
    case plan::DType::kBF16:
      return at::kBFloat16;
    case plan::DType::kI8:
      return at::kChar;
    case plan::DType::kI32:
      return at::kInt;
    case plan::DType::kI64:
      return at::kLong;
  }
  PACELINE_CHECK(false);
}

plan::DType plan_dtype(at::ScalarType type) {
  for (const auto dtype : {plan::DType::kF32,
                           plan::DType::kF64,
                           plan::DType::kF16,
                           plan::DType::kBF16,
                           plan::DType::kI8,
                           plan::DType::kI32,
                           plan::DType::kI64}) {
    if (scalar_type(dtype) == type) {
      return dtype;
    }
  }
  throw UsageError(fmt::format(
      "Parameters of type {} cannot be trained; allowed: fp64, fp32, bf16.",
      at::toString(type)));
}

FlatMemory::FlatMemory(const plan::Setup& setup, at::Device device)
    : setup_(setup) {
  buffers_.reserve(setup.buffers.size());
  for (const plan::Buffer& buffer : setup.buffers) {
    if (!buffer.performer.empty()) {
      buffers_.emplace_back();  // the performer's own memory
      continue;
    }
    buffers_.push_back(at::full(
        {buffer.elements},
        buffer.initial == plan::Initial::kOne ? 1 : 0,
        at::TensorOptions().dtype(scalar_type(buffer.dtype)).device(device)));
  }
}

void FlatMemory::adopt(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  PACELINE_CHECK_EQ(parameters.size(), setup_.parameters.size());
  parameters_ = parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto id = static_cast<plan::ParameterId>(i);
    PACELINE_CHECK(parameters[i].is_non_overlapping_and_dense());
    const at::Tensor value = shaped(id, setup_.parameters[i].value);
    value.copy_(parameters[i]);
    parameters_[i].set_data(value);
    gradients_.push_back(shaped(id, setup_.parameters[i].gradient));
  }
  for (std::size_t b = 0; b < setup_.buffers.size(); ++b) {
    const plan::Buffer& buffer = setup_.buffers[b];
    if (buffer.initial != plan::Initial::kParameters ||
        setup_.parameters.empty()) {
      continue;
    }
    const plan::BufferId values = setup_.parameters[0].value.buffer;
    if (static_cast<plan::BufferId>(b) != values) {
      const plan::Slice from =
          buffer.stands_for.value_or(plan::Slice{values, 0, buffer.elements});
      buffers_[b].copy_(view(from));
    }
  }
}

at::Tensor FlatMemory::view(const plan::Slice& slice) const {
  return buffers_[plan::index_of(slice.buffer)].narrow(
      0, slice.begin, slice.count);
}

at::Tensor FlatMemory::shaped(plan::ParameterId id,
                              const plan::Slice& slice) const {
  const at::Tensor& parameter = parameters_[plan::index_of(id)];
  PACELINE_CHECK_EQ(parameter.numel(), slice.count);
  return buffers_[plan::index_of(slice.buffer)].as_strided(
      parameter.sizes(), parameter.strides(), slice.begin);
}

const at::Tensor& FlatMemory::gradient(plan::ParameterId id) const {
  return gradients_[plan::index_of(id)];
}

const at::Tensor* FlatMemory::scalar(std::string_view name) const {
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (setup_.buffers[b].name == name && setup_.buffers[b].elements == 1) {
      return &buffers_[b];
    }
  }
  return nullptr;
}

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

runtime::Call Operands::resolve(const plan::Kernel& kernel) const {
  const plan::Slice* gradients =
      flat_gradients_ ? nullptr : gradient_read(memory_.setup(), kernel);
  const auto operands = [&](const std::vector<plan::Access>& accesses) {
    std::vector<runtime::Operand> out;
    for (const plan::Access& access : accesses) {
      const bool split =
          gradients != nullptr && access.slice.count == gradients->count;
      out.push_back(split ? per_parameter(access.slice, *gradients)
                          : runtime::Operand{memory_.view(access.slice)});
    }
    return out;
  };
  return {.reads = operands(kernel.reads),
          .writes = operands(kernel.writes),
          .numbers = kernel.numbers};
}

// The part of `slice` that corresponds to each parameter whose gradient lies
// in `gradients`, at the same offset.
runtime::Operand Operands::per_parameter(const plan::Slice& slice,
                                         const plan::Slice& gradients) const {
  runtime::Operand out;
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
      // Those two take the gradients tensor by tensor as well.
      return k->name != "update" && k->name != "check" &&
             gradient_read(setup, *k) != nullptr;
    }
    return false;
  });
}

}  // namespace paceline::runtime
