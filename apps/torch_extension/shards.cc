// SPDX-License-Identifier: Apache-2.0
#include "shards.h"

#include <variant>
#include <vector>

#include "collectives.h"
#include "paceline/plan/program.h"

namespace paceline::extension {
namespace {

/// A slice of the parameter values, and the slice of memory that holds its state on this rank.
struct Shard {
  plan::Slice values, state;
};

// Returns this rank's shards of the state `name`, from the update kernels of the first step.  Such
// a kernel reads the values first, then each state.
std::vector<Shard> shards_of(const Model& model, const std::string& name) {
  const plan::BufferId buffer = plan::buffer_named(model.trainer().setup(), name);
  std::vector<Shard> shards;
  for (const plan::Op& op : model.trainer().plan_of(0).ops) {
    const auto* kernel = std::get_if<plan::Kernel>(&op.work);
    if (kernel == nullptr || kernel->name != "update") {
      continue;
    }
    for (const plan::Access& read : kernel->reads) {
      if (read.slice.buffer == buffer) {
        shards.push_back({kernel->reads.front().slice, read.slice});
      }
    }
  }
  return shards;
}

at::Tensor part_of(const at::Tensor& flat, const plan::Slice& slice) {
  return flat.narrow(0, slice.begin, slice.count);
}

// Returns a view of `flat` for each parameter.  `flat` has the layout of the buffer of values.
NamedTensors views_by_parameter(const Model& model, const at::Tensor& flat) {
  const rank::Trainer& trainer = model.trainer();
  const auto& shapes = trainer.input().model.parameters;
  NamedTensors views;
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    const at::Tensor& parameter = trainer.memory().parameters()[p];
    const at::Tensor own = part_of(flat, trainer.setup().parameters[p].value);
    views[shapes[p].name] = own.as_strided(parameter.sizes(), parameter.strides());
  }
  return views;
}

at::Tensor zeros_as_values(const Model& model) {
  const plan::Setup& setup = model.trainer().setup();
  const auto& values = setup.buffers[plan::index_of(plan::buffer_named(setup, plan::kValues))];
  const at::Tensor& rate = *model.trainer().memory().scalar(plan::kLearningRate);
  return at::zeros({values.elements}, rate.options().dtype(runtime::scalar_type(values.dtype)));
}

}  // namespace

NamedTensors gathered_state(Job& job, const Model& model, const std::string& name) {
  const at::NoGradGuard no_grad;
  const at::Tensor whole = zeros_as_values(model);
  const at::Tensor rank = at::zeros_like(whole, at::kInt);  // 1 on the last rank, most on rank 0
  for (const Shard& shard : shards_of(model, name)) {
    part_of(whole, shard.values).copy_(model.trainer().memory().view(shard.state));
    part_of(rank, shard.values).fill_(job.size() - job.rank());
  }
  // If several ranks have the same shard, only the values of the lowest such rank are kept.
  whole.mul_(rank.eq(all_reduce(job, rank, "max")));
  return views_by_parameter(model, all_reduce(job, whole, "sum"));
}

void scatter_state(const Model& model, const std::string& name, const NamedTensors& state) {
  const at::NoGradGuard no_grad;
  const at::Tensor whole = zeros_as_values(model);
  for (const auto& [parameter, view] : views_by_parameter(model, whole)) {
    view.copy_(state.at(parameter));
  }
  for (const Shard& shard : shards_of(model, name)) {
    model.trainer().memory().view(shard.state).copy_(part_of(whole, shard.values));
  }
}

}  // namespace paceline::extension
