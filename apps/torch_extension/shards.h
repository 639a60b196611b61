// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <torch/extension.h>

#include "job.h"
#include "model.h"

// Gathers and scatters the optimizer's state if each rank has a shard of it.

namespace paceline::extension {

using NamedTensors = std::map<std::string, at::Tensor>;

/// Returns the state called `name` of all parameters, by parameter name, gathered from the shards
/// of all ranks.  Collective over the job.
NamedTensors gathered_state(Job& job, const Model& model, const std::string& name);

/// Copies this rank's shard from a state that gathered_state() returned.
void scatter_state(const Model& model, const std::string& name, const NamedTensors& state);

}  // namespace paceline::extension
