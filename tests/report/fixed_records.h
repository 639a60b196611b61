// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// How one case of the fixed sweep comes out.
struct FixedCase {
  std::string label;
  std::string strategy;
  int ranks = 1;
  double step_ms = 0;  // of a step without any noise
};

/// A record whose step times follow from the arguments alone: rank r is
/// 0.1 r ms slower, and the steps swing by 0.2 ms about `step_ms`.
inline records::RunRecord fixed_record(const FixedCase& one, int run = 0) {
  constexpr int kSteps = 10;
  records::RunRecord r;
  r.experiment = "ddp";
  r.started_at = "2024-05-06T07:08:09Z";
  r.run = run;
  r.configuration.label = one.label;
  r.configuration.strategy = one.strategy;
  r.configuration.ranks = one.ranks;
  r.configuration.steps = kSteps;
  r.configuration.threads = 1;
  r.environment.torch_version = "2.13.0+cpu";
  r.environment.hosts = {{"a", {}, "Machine\n  Core 0\n  Core 1\n"}};
  for (int rank = 0; rank < one.ranks; ++rank) {
    records::RankSamples s;
    s.rank = rank;
    s.local_rank = rank;
    s.host = "a";
    s.device = "cpu";
    for (int step = 0; step < kSteps; ++step) {
      const int swing = (step * 7 + rank * 3 + run) % 5 - 2;
      s.step_ns.push_back(static_cast<std::int64_t>(one.step_ms * 1e6) + 100'000 * swing +
                          100'000 * rank);
      s.window_ns += s.step_ns.back();
      if (one.ranks > 1) {
        s.compute_only_step_ns.push_back(97'000'000 + 50'000 * swing);
      }
    }
    s.flush_ns = 0;
    s.peak_memory_bytes = 1'000'000'000;
    r.ranks.push_back(s);
  }
  r.wire.measured_per_step = one.ranks == 1 ? 0 : 102'228'128;
  r.wire.planned_per_step = r.wire.measured_per_step;
  r.wire.calls_per_step = one.ranks == 1 ? 0 : 5;
  return r;
}

/// A sweep like the original's on two models, with a discarded warm-up case,
/// a warning and a case that failed.
inline std::vector<records::RunRecord> fixed_records() {
  std::vector<records::RunRecord> records;
  records.push_back(fixed_record({"warmup", "none", 1, 97.2}));
  records.back().configuration.discard = true;
  for (const FixedCase& one :
       {FixedCase{"no ddp", "none", 1, 97.2}, FixedCase{"1M/1G", "ddp", 1, 100.3},
        FixedCase{"1M/2G", "ddp", 2, 103.2}, FixedCase{"1M/4G", "ddp", 4, 103.1}}) {
    records.push_back(fixed_record(one));
  }
  records.back().warnings = {{"shared-cores", "4 ranks on 2 cores",
                              "ranks wait for each other's cores",
                              "use at most 2 ranks to see scaling"}};
  records.push_back(fixed_record({"1M/8G", "ddp", 8, 104}));
  records.back().ranks.clear();
  records.back().wire = {};
  records.back().error = "rank 5 on a: killed by signal 9 while it waited for all-reduce 3";
  for (const FixedCase& one :
       {FixedCase{"no ddp", "none", 1, 162.4}, FixedCase{"1M/1G", "ddp", 1, 171.0}}) {
    records.push_back(fixed_record(one));
    records.back().configuration.model = "resnet101";
  }
  return records;
}

/// The same two cases in four repetitions each.
inline std::vector<records::RunRecord> fixed_repetitions() {
  std::vector<records::RunRecord> records;
  for (int run = 0; run < 4; ++run) {
    records.push_back(fixed_record({"no ddp", "none", 1, 97.2}, run));
    records.push_back(fixed_record({"1M/2G", "ddp", 2, 103.2 + 0.1 * run}, run));
  }
  return records;
}

/// The baseline and one case in four repetitions, another case in one only.
inline std::vector<records::RunRecord> fixed_mixed_repetitions() {
  std::vector<records::RunRecord> records = fixed_repetitions();
  records.push_back(fixed_record({"1M/4G", "ddp", 4, 103.1}));
  return records;
}

/// Two measured cases, and predictions: of a validated kind, of one that was not, of a device
/// without a measured rate, and of records' own error.
inline std::vector<records::RunRecord> fixed_predictions() {
  std::vector<records::RunRecord> records{fixed_record({"no ddp", "none", 1, 97.2}),
                                          fixed_record({"1M/2G", "ddp", 2, 103.2})};
  const auto add = [&records](int ranks, const records::ErrorBar& bar) {
    records.push_back(fixed_record({"", "ddp", ranks, 100.0 + ranks}));
    records::RunRecord& r = records.back();
    r.source = records::Source::kPredicted;
    r.predicted = records::PredictionDetails{.training_ranks = ranks,
                                             .bound = {.step_ns = 90'000'000,
                                                       .compute_ns = 90'000'000,
                                                       .wire_ns = 40'000'000,
                                                       .algorithm = "ring"},
                                             .error_bar = bar};
  };
  records::ErrorBar bar{.share = 0.075,
                        .low_ns = 96'200'000,
                        .high_ns = 111'800'000,
                        .level = 0.9,
                        .validated = true,
                        .of = "merged",
                        .how = "BSP on a ring",
                        .cells = 57};
  add(4, bar);
  bar.validated = false;
  bar.share = 0.261;
  bar.why = "more than 32 ranks";
  add(8, bar);
  records.back().predicted->bound.sharper_ns = 95'000'000;
  add(16, {.why = "layer times are a data sheet's"});
  add(32, {.low_ns = 130'000'000,
           .high_ns = 140'000'000,
           .level = 0.95,
           .validated = true,
           .of = "the records",
           .how = "resampled runs"});
  return records;
}

/// Replays behind three links, a factor of ten apart; what the engine of one case left of its
/// link's time is negative.  Noise is the same in all of
/// them, so medians differ by what `step_ms` differ.
inline std::vector<records::RunRecord> fixed_link_records() {
  struct Line {
    const char* strategy;
    double step_ms[3];
  };
  constexpr const char* kLinks[]{"1Gbit,50us", "10Gbit,50us", "100Gbit,50us"};
  std::vector<records::RunRecord> records;
  for (const Line& line :
       {Line{"bsp", {100, 60, 50}}, Line{"dear:bucket-mb=25", {80, 62, 58}},
        Line{"fusion:bucket-mb=25", {90, 60.5, 49}}, Line{"wfbp", {95, 61, 54}}}) {
    for (int i = 0; i < 3; ++i) {
      records.push_back(fixed_record({"", line.strategy, 4, line.step_ms[i]}));
      records::RunRecord& r = records.back();
      r.source = records::Source::kReplayed;
      r.configuration.link = kLinks[i];
      r.configuration.replay = "resnet50.profile.json";
      r.configuration.stretch = i == 2 ? 10 : 1;
      const bool late = r.configuration.strategy == "wfbp" && i == 1;
      r.link_check =
          records::LinkCheck{.operations = 40, .late = late ? 3 : 0, .slack_ns = late ? -9000 : 80};
    }
  }
  return records;
}

/// A case that reads its data, one rank of it more slowly, and one that does not.
inline std::vector<records::RunRecord> fixed_readers() {
  std::vector<records::RunRecord> records{fixed_record({"synthetic", "ddp", 2, 103.2}),
                                          fixed_record({"read", "ddp", 2, 105.4})};
  records::RunRecord& read = records.back();
  read.configuration.data = "mmap:images";
  for (records::RankSamples& rank : read.ranks) {
    rank.phase_ns["data"].assign(rank.step_ns.size(), 1'250'000 * (1 + rank.rank));
  }
  return records;
}

/// Three runs of two frameworks on one and two devices, of a third on two devices alone, of a
/// fourth with another loss; a fifth is not installed and a sixth fails.
inline std::vector<records::RunRecord> fixed_frameworks() {
  std::vector<records::RunRecord> records;
  const auto add = [&records](const char* framework, int ranks, int run) {
    records.push_back(fixed_record({framework, "external", ranks, 90.0 + ranks}, run));
    records::RunRecord& r = records.back();
    r.source = records::Source::kExternal;
    r.configuration.framework = framework;
    r.adapter = {{"framework_version", "1.2"}, {"loss_first", "6.9"}};
    for (records::RankSamples& rank : r.ranks) {
      rank.compute_only_step_ns.clear();
    }
    return &r;
  };
  for (int run = 0; run < 3; ++run) {
    for (const int ranks : {1, 2}) {
      add("alpha", ranks, run)->adapter["layout"] = "NCHW";
      add("beta", ranks, run)->adapter["layout"] = "NHWC";
      add("gamma", ranks, run)->adapter["loss_first"] = "7.5";
    }
    add("delta", 2, run);
  }
  records::RunRecord* const absent = add("epsilon", 1, 0);
  absent->status = "not-installed";
  absent->error = "epsilon is not installed here";
  absent->ranks.clear();
  records::RunRecord* const failed = add("zeta", 1, 0);
  failed->status = "exit";
  failed->error = "ended with code 3";
  failed->ranks.clear();
  return records;
}

}  // namespace paceline::report
