// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paceline/cluster/codec_times.h"
#include "paceline/plan/plan_input.h"

namespace paceline::rank {

/// Times every codec of the strategy table on one core of this machine: the kernels of its plan for
/// two ranks, on the model's gradients as one bucket.  Each time comes right after that of a memcpy
/// of as many bytes.  Each repetition codes new random gradients; one uncounted repetition comes
/// first.  Leaves out codecs that reject the model.  Calls `begun` with each codec's name.
std::vector<cluster::CodecTime> profile_codecs(
    const plan::ModelShape& model, int repetitions,
    const std::function<void(const std::string&)>& begun);

}  // namespace paceline::rank
