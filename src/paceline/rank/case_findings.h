// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/rank/case_run.h"
#include "paceline/rank/trainer.h"
#include "paceline/records/configuration.h"
#include "paceline/records/run_record.h"

// What a rank knows of a case when its window has ended, beside its samples.

namespace paceline::rank {

/// What the codec took, of `ns` in all measured steps, and what the plan would send without one.
/// Null without a codec, and on a device, where a kernel's time on the host is its launch.
std::optional<records::Coding> coding_of(Trainer& trainer,
                                         const records::Configuration& configuration,
                                         std::int64_t ns);

/// Null where nothing is trained.  A loss that is not finite is none; JSON has no word for it.
std::optional<records::Training> training_of(const Trainer& trainer);

/// Why training that ran to its end is worth nothing; null where it is not.
std::optional<std::string> failure_of(const Trainer& trainer,
                                      const records::Configuration& configuration);

/// Notes by which times the plan was made, where it was made by any; on rank 0 also where it
/// exchanges between hosts and there is one alone.
void note_plan(const Trainer& trainer, RankResult& result);

/// Adds the phases that kernels begin, of the measured steps that are there; none where there are
/// no embedding tables.
void add_phases(Trainer& trainer, const std::vector<execution::OpSpan>& ops,
                records::RankSamples& samples);

/// Notes the size of what is trained, as adapters say it.
void note_network(const Trainer& trainer, RankResult& result);

/// Divides all times by `stretch`, by which the clock of a replay was slower.
void unstretch(double stretch, RankResult& result);

/// After step `done`, the loss of the first and the fifth, as adapters say them; on a GPU of the
/// warm-up alone, because there the step that is read waits for the device.
void note_loss(const Trainer& trainer, const records::Configuration& configuration, int done,
               RankResult& result);

}  // namespace paceline::rank
