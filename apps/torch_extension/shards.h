// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <torch/extension.h>

#include "job.h"
#include "model.h"

// The optimizer's state where each rank has a shard of it.

namespace paceline::extension {

using NamedTensors = std::map<std::string, at::Tensor>;

/// The state called `name` of all parameters, by name, put together from the shards of all ranks.
/// Collective over the job.
NamedTensors gathered_state(Job& job, const Model& model, const std::string& name);

/// Writes this rank's shard of what gathered_state() returned.
void scatter_state(const Model& model, const std::string& name, const NamedTensors& state);

}  // namespace paceline::extension
