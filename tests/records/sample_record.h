// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::records {

/// A record in which every field is known and every container holds something.
inline RunRecord full_record() {
  RunRecord r;
  r.source = Source::kReplayed;
  r.experiment = "ddp";
  r.started_at = "2024-05-06T07:08:09Z";
  r.run = 2;
  cases::Case& c = r.configuration;
  c.label = "1M/2G";
  c.model = "resnet18";
  c.batch_size = 8;
  c.image_size = 64;
  c.classes = 10;
  c.ranks = 2;
  c.ranks_per_host = {1, 1};
  c.strategy = "fusion+all-reduce";
  c.bucket_mb = 0.1;
  c.threads = 1;
  c.warmup = 1;
  c.steps = 3;
  c.seed = 18446744073709551615u;
  c.learning_rate = 0.1 + 0.2;
  r.environment.paceline_version = "0.1.0";
  r.environment.git_hash = "abc";
  r.environment.compiler = "gcc 12.2";
  r.environment.build_type = "Release";
  r.environment.torch_version = "2.13.0+cpu";
  r.environment.torch_git = "def";
  r.environment.cuda_version = "12.6";
  r.environment.nccl_version = "2.27.3";
  r.environment.variables = {{"OMP_NUM_THREADS", "1"}};
  r.environment.hosts = {{"a", {{"cores", "2"}}, "Machine (8 GB)\n  Core \"0\"\n"},
                         {"b", {{"cores", "4"}}, "Machine"}};
  for (int rank = 0; rank < 2; ++rank) {
    RankSamples s;
    s.rank = rank;
    s.host = rank == 0 ? "a" : "b";
    s.local_rank = rank;
    s.device = "cpu";
    s.step_ns = {100'000'000 + rank, 110'000'000, 9'007'199'254'740'993};
    s.phase_ns = {{"forward", {1, 2, 3}}, {"backward", {4, 5, 6}}};
    s.window_ns = 330'000'000;
    s.flush_ns = 0;
    s.peak_memory_bytes = 1 << 20;
    s.compute_only_step_ns = {90'000'000, 91'000'000};
    r.ranks.push_back(s);
  }
  r.wire = {.measured_per_step = 1000,
            .planned_per_step = 1000,
            .by_pattern = {{"all-reduce", 1000}},
            .calls_per_step = 3};
  r.verified = {{"reduced-values", true}};
  r.warnings = {{"shared-cores", "4 ranks on 2 cores", "they take turns", "use fewer ranks"}};
  return r;
}

/// The same as a prediction that says all it can of its step.
inline RunRecord predicted_record() {
  RunRecord r = full_record();
  r.source = Source::kPredicted;
  r.predicted = PredictionDetails{.training_ranks = 4,
                                  .bound = {.step_ns = 251'638'001,
                                            .compute_ns = 251'638'001,
                                            .wire_ns = 158'150'002,
                                            .sharper_ns = 9'007'199'254'740'993,
                                            .crosses_step = true,
                                            .algorithm = "ring"},
                                  .error_bar = ErrorBar{.share = 0.1 + 0.2,
                                                        .low_ns = 70'000'003,
                                                        .high_ns = 130'000'004,
                                                        .level = 0.9,
                                                        .validated = true,
                                                        .of = "merged",
                                                        .how = "BSP on a ring",
                                                        .cells = 57,
                                                        .why = "engine gloo"}};
  return r;
}

/// What is left of a case that failed before its first step.
inline RunRecord failed_record() {
  RunRecord r;
  r.experiment = "command line";
  r.error = "rank 1 on b: killed by signal 9 during all-reduce";
  return r;
}

}  // namespace paceline::records
