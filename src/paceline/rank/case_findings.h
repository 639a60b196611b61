// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/rank/case_run.h"
#include "paceline/rank/trainer.h"
#include "paceline/records/run_record.h"

// Records facts about a case on one rank after the measured steps, in addition to the samples.

namespace paceline::rank {

/// Returns two values per step: the codec's time, which is `ns` divided by the number of measured
/// steps, and the bytes that the plan would send without a codec.  Returns nothing without a codec,
/// and on a GPU, where a kernel's time on the host is only that of its launch.
std::optional<records::CodingCost> codec_costs_of(const Trainer& trainer, std::int64_t ns);

/// Returns the last loss.  Null if nothing is trained or the loss is not finite, which JSON cannot
/// hold.
std::optional<records::Training> final_loss_of(const Trainer& trainer);

/// Returns an error text if the loss of the last step is not finite, so that the training is
/// useless.  Returns nothing otherwise.
std::optional<std::string> loss_failure_of(const Trainer& trainer);

/// Notes the layer and collective times by which the plan was made, if any.  On rank 0 also adds
/// the warnings about the plan, for example that it exchanges between hosts but there is only one.
void note_plan(const Trainer& trainer, RankResult& result);

/// Adds the durations of the embedding phases (the phases that kernels begin) in those measured
/// steps that have samples.  Adds nothing if there are no embedding tables.
void add_phases(Trainer& trainer, const std::vector<execution::OpSpan>& ops,
                records::RankSamples& samples);

/// Stores the size of the trained network in the record, under the same keys as adapters do.
void note_network(const Trainer& trainer, RankResult& result);

/// Divides all times by `stretch`, the factor by which a replay's clock was slowed down.
void divide_times_by_stretch(double stretch, RankResult& result);

/// After step `done`, notes the loss if this is the first or fifth step, under the keys that
/// adapters use.  On a GPU only warm-up steps are noted, because reading a loss waits for the
/// device.
void note_loss(const Trainer& trainer, int done, RankResult& result);

}  // namespace paceline::rank
