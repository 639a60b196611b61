// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/report/formats.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using records::RunRecord;

/// Ranks whose first ten steps and second ten steps take so many milliseconds.
RunRecord two_iterations(const std::vector<std::pair<int, int>>& ranks) {
  RunRecord run =
      fixed_record({"", "fusion+neighbor-allreduce", static_cast<int>(ranks.size()), 1});
  run.configuration.device = "cuda";
  run.configuration.batch_size = 64;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    auto& steps = run.ranks[r].step_ns;
    steps.assign(10, ranks[r].first * 1'000'000);
    steps.insert(steps.end(), 10, ranks[r].second * 1'000'000);
    steps.push_back(1);  // no full ten follow
  }
  return run;
}

// Rates of rank 0: 640 and 320; of rank 1: 640 and 640; together 1280 and 960. numpy: 1.96 *
// std([640, 320]) = 313.6, of the sums the same.
TEST(BluefogFormat, LinesAreTheOriginalsToTheCharacter) {
  EXPECT_EQ(render_bluefog({{two_iterations({{100, 200}, {100, 100}})}}),
            "# fusion+neighbor-allreduce on 2 ranks\n"
            "Model: resnet50\n"
            "Batch size: 64\n"
            "Number of GPUs: 2\n"
            "Running warmup...\n"
            "Running benchmark...\n"
            "Iter #0: 640.0 img/sec per GPU\n"
            "Iter #1: 320.0 img/sec per GPU\n"
            "[0] Img/sec per GPU: 480.0 +-313.6\n"
            "[1] Img/sec per GPU: 640.0 +-0.0\n"
            "Total img/sec on 2 GPU(s): 1120.0 +-313.6\n");
}

TEST(BluefogFormat, SaysThatARunLacksTheExchange) {
  RunRecord run = two_iterations({{100, 100}});
  run.warnings = {{records::kLacksExchange, "21 steps of 30", "the case is INVALID", "30"}};
  EXPECT_TRUE(render_bluefog({{run}}).starts_with(
      "# fusion+neighbor-allreduce on 1 rank\n"
      "# lacks-exchange: 21 steps of 30: the case is INVALID\n"));
}

TEST(BluefogFormat, SaysWhatIsToBeSaidAgainstARun) {
  RunRecord run = two_iterations({{100, 100}});
  run.warnings = {{"one-host", "all on one", "nothing crosses", "take two"}};
  run.link_check = records::LinkCheck{.operations = 21, .late = 3, .slack_ns = -2'000'000};
  EXPECT_TRUE(render_bluefog({{run}}).starts_with(
      "# fusion+neighbor-allreduce on 1 rank\n"
      "# one-host: all on one: nothing crosses\n"
      "# slower-than-link: 3 of 21 operations ended after the emulated link would have delivered "
      "them, one by 2.000 ms: the case is INVALID: its times are those of this machine, not of the "
      "link\n"
      "Model: resnet50\n"));
}

TEST(BluefogFormat, SaysCpuWhereThereIsNoGpu) {
  RunRecord run = two_iterations({{100, 100}});
  run.configuration.device = "cpu";
  const std::string text = render_bluefog({{run}});
  EXPECT_NE(text.find("Number of CPUs: 1\n"), std::string::npos);
  EXPECT_NE(text.find("Total img/sec on 1 CPU(s): 640.0 +-0.0\n"), std::string::npos);
  EXPECT_EQ(text.find("GPU"), std::string::npos);
}

TEST(BluefogFormat, SaysWhatHasNoTenSteps) {
  RunRecord failed = two_iterations({{100, 100}});
  failed.error = "rank 0: killed";
  RunRecord brief = two_iterations({{100, 100}});
  brief.ranks[0].step_ns.resize(9);
  brief.configuration.steps = 9;
  RunRecord discarded = two_iterations({{100, 100}});
  discarded.configuration.discard = true;
  EXPECT_EQ(render_bluefog({{failed, brief, discarded}}),
            "# fusion+neighbor-allreduce on 1 rank failed: rank 0: killed\n"
            "# no iteration: 10 steps make one, and the case has 9\n");
}

TEST(BluefogFormat, SaysWhichStepsAreLeftOut) {
  RunRecord run = two_iterations({{100, 200}});
  run.configuration.steps = 25;
  EXPECT_TRUE(
      render_bluefog({{run}}).ends_with("\n# the last 5 of 25 steps are in no iteration of 10\n"));
  run.ranks[0].step_ns.resize(12);
  run.configuration.steps = 12;
  EXPECT_TRUE(
      render_bluefog({{run}}).ends_with("+-0.0\n# one iteration has no spread: +-0.0 says nothing\n"
                                        "# the last 2 of 12 steps are in no iteration of 10\n"));
}

TEST(BluefogFormat, EveryRecordOnlyAppends) {
  const std::vector<RunRecord> all{two_iterations({{100, 200}}),
                                   two_iterations({{50, 50}, {60, 60}})};
  EXPECT_TRUE(render_bluefog(all).starts_with(render_bluefog(std::span(all).first(1))));
}

}  // namespace
}  // namespace paceline::report
