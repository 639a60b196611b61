// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "paceline/bench/bulletin.h"
#include "paceline/launch/heartbeat.h"
#include "paceline/record/run_record.h"
#include "paceline/record/trace.h"
#include "paceline/train/trainer.h"

namespace paceline::bench {

/// What one rank brings back from a case.
struct RankResult {
  record::RankSamples samples;
  record::WireBytes wire;
  std::map<std::string, bool> verified;
  std::vector<record::Warning> warnings;
  std::int64_t lined_up_ns = 0;     // when all ranks were ready to begin
  std::vector<record::Span> spans;  // since then; with record_spans
};

struct CaseOptions {
  std::chrono::milliseconds timeout{60'000};
  bool record_spans = false;
  launch::Heartbeat* heart = nullptr;  // null: nobody listens
  std::function<void(int done, int total)> progress{};
};

/// Runs one case on one of its ranks: the measured window, then the same steps
/// without communication while all ranks compute at once, then the checks.
RankResult run_case(const record::Configuration& configuration,
                    const train::Team& team,
                    Bulletin& bulletin,
                    const CaseOptions& options);

}  // namespace paceline::bench
