// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/memory.h"

#include <algorithm>
#include <iterator>
#include <new>

#include <fmt/format.h>
#include <sys/mman.h>
#include <torch/types.h>

#include "paceline/base/error.h"

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
    case plan::DType::kF8:
      break;  // is not performed
  }
  PACELINE_CHECK(false);
}

plan::DType plan_dtype(at::ScalarType type) {
  for (const auto dtype :
       {plan::DType::kF32, plan::DType::kF64, plan::DType::kF16, plan::DType::kBF16,
        plan::DType::kI8, plan::DType::kI32, plan::DType::kI64}) {
    if (scalar_type(dtype) == type) {
      return dtype;
    }
  }
  throw UsageError(fmt::format(
      "Parameters of type {} cannot be trained; allowed: fp64, fp32, bf16.", at::toString(type)));
}

namespace {

std::vector<std::vector<plan::Slice>> whole_buffers(const plan::Setup& setup) {
  std::vector<std::vector<plan::Slice>> ranges;
  for (std::size_t b = 0; b < setup.buffers.size(); ++b) {
    ranges.push_back({{static_cast<plan::BufferId>(b), 0, setup.buffers[b].elements}});
  }
  return ranges;
}

// Returns zeros on the CPU that take no physical memory until they are written.
at::Tensor unwritten_zeros(plan::Elements count, const at::TensorOptions& options) {
  const auto bytes = static_cast<std::size_t>(count) *
                     c10::elementSize(c10::typeMetaToScalarType(options.dtype()));
  if (bytes == 0) {
    return at::zeros({count}, options);
  }
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return at::from_blob(
      pages, {count}, [bytes](void* all) { munmap(all, bytes); }, options);
}

}  // namespace

FlatMemory::FlatMemory(const plan::Setup& setup, at::Device device, Start start)
    : FlatMemory(setup, whole_buffers(setup), device, start) {}

FlatMemory::FlatMemory(const plan::Setup& setup,
                       const std::vector<std::vector<plan::Slice>>& ranges, at::Device device,
                       Start start)
    : setup_(setup), start_(start), buffers_(setup.buffers.size()) {
  for (std::size_t b = 0; b < setup.buffers.size(); ++b) {
    const plan::Buffer& buffer = setup.buffers[b];
    if (!buffer.performer.empty()) {
      continue;  // the owner of the ops allocates this memory itself
    }
    const auto options = at::TensorOptions().dtype(scalar_type(buffer.dtype)).device(device);
    const int initial = buffer.initial == plan::InitialValue::kOne ? 1 : 0;
    const bool unwritten = start == Start::kZeros && device.is_cpu() && initial == 0;
    for (const plan::Slice& range : ranges[b]) {
      buffers_[b].push_back({range.begin, unwritten ? unwritten_zeros(range.count, options)
                                                    : at::full({range.count}, initial, options)});
    }
  }
}

void FlatMemory::adopt(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  PACELINE_CHECK_EQ(parameters.size(), setup_.parameters.size());
  parameters_ = parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto id = static_cast<plan::ParameterId>(i);
    PACELINE_CHECK(parameters[i].is_non_overlapping_and_dense());
    const at::Tensor value = parameter_view(id, setup_.parameters[i].value);
    if (start_ == Start::kParameters) {
      value.copy_(parameters[i]);
    }
    parameters_[i].set_data(value);
    gradients_.push_back(parameter_view(id, setup_.parameters[i].gradient));
  }
  start_from_parameters();
}

void FlatMemory::start_from_parameters() {
  if (start_ == Start::kZeros) {
    return;
  }
  const at::NoGradGuard no_grad;
  for (std::size_t b = 0; b < setup_.buffers.size(); ++b) {
    const plan::Buffer& buffer = setup_.buffers[b];
    if (buffer.initial != plan::InitialValue::kParameters || setup_.parameters.empty()) {
      continue;
    }
    const plan::BufferId values = setup_.parameters[0].value.buffer;
    if (static_cast<plan::BufferId>(b) != values) {
      const plan::Slice from =
          buffer.layout_source.value_or(plan::Slice{values, 0, buffer.elements});
      view({static_cast<plan::BufferId>(b), 0, buffer.elements}).copy_(view(from));
    }
  }
}

const FlatMemory::Range& FlatMemory::range_of(const plan::Slice& slice) const {
  const auto& ranges = buffers_[plan::index_of(slice.buffer)];
  const auto behind = std::ranges::upper_bound(ranges, slice.begin, {}, &Range::begin);
  PACELINE_CHECK(behind != ranges.begin());
  return *std::prev(behind);
}

at::Tensor FlatMemory::view(const plan::Slice& slice) const {
  const Range& range = range_of(slice);
  return range.values.narrow(0, slice.begin - range.begin, slice.count);
}

at::Tensor FlatMemory::parameter_view(plan::ParameterId id, const plan::Slice& slice) const {
  const at::Tensor& parameter = parameters_[plan::index_of(id)];
  PACELINE_CHECK_EQ(parameter.numel(), slice.count);
  const Range& range = range_of(slice);
  return range.values.as_strided(parameter.sizes(), parameter.strides(), slice.begin - range.begin);
}

const at::Tensor& FlatMemory::gradient(plan::ParameterId id) const {
  return gradients_[plan::index_of(id)];
}

const at::Tensor* FlatMemory::scalar(std::string_view name) const {
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    if (setup_.buffers[b].name == name && setup_.buffers[b].elements == 1 && !buffers_[b].empty()) {
      return &buffers_[b].front().values;
    }
  }
  return nullptr;
}

}  // namespace paceline::runtime
