// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/warnings.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::rank {
namespace {

TEST(BusyMachine, IsOneWhoseLoadOthersBringAboveItsCores) {
  EXPECT_FALSE(busy_host_warning("a", 2.4, 2, 2)) << "this program's own";
  EXPECT_FALSE(busy_host_warning("a", 1.9, 2, 0)) << "a core is left";
  EXPECT_FALSE(busy_host_warning("a", 4.5, 2, 4)) << "four ranks on two cores";
  const auto busy = busy_host_warning("a", 5.4, 2, 2);
  ASSERT_TRUE(busy);
  EXPECT_EQ(busy->code, "busy-machine");
  EXPECT_EQ(busy->seen, "a load average above 4 on 2 cores of a, at most 2 of it by this program");
}

TEST(BusyMachine, IsKnownByTheEnvironmentOfEachHost) {
  records::Environment environment;
  environment.hosts.resize(2);
  environment.hosts[0].facts = {{"cores", "4"}, {"load_average", "1.0 1 1"}};
  environment.hosts[1].host = "b";
  environment.hosts[1].facts = {{"cores", "4"}, {"load_average", "4000 1 1"}};
  const int own = 2000;  // so that this machine's own load is none
  const auto busy = busy_machine_warning(environment, "here", own);
  ASSERT_TRUE(busy);
  EXPECT_NE(busy->seen.find("above 2048 on 4 cores of b"), std::string::npos);
  environment.hosts.pop_back();
  EXPECT_FALSE(busy_machine_warning(environment, "here", own));
}

TEST(BusyMachine, ThreadsOfProgramsOutsideAreAsManyAsTheCores) {
  std::vector<cases::Case> cases(2);
  cases[0].ranks = 4;
  cases[0].threads = 3;
  EXPECT_EQ(most_threads(cases, 2, 8), 6);
  cases[1].framework = "jax";
  cases[1].ranks = 2;
  EXPECT_EQ(most_threads(cases, 2, 8), 16);
}

TEST(SharedCores, AreThoseOnWhichTheCaseComputed) {
  records::RunRecord record;
  record.configuration.device = "cpu";
  record.configuration.ranks = 32;
  record.ranks.resize(1);
  record.ranks[0].host = "a";
  record.environment.hosts.resize(1);
  record.environment.hosts[0].host = "a";
  record.environment.hosts[0].facts = {{"usable_cores", "1"}};
  const auto codes_of = [](records::RunRecord one) {
    add_warnings(one);
    std::vector<std::string> codes;
    for (const records::Warning& warning : one.warnings) {
      codes.push_back(warning.code + ": " + warning.seen);
    }
    return codes;
  };
  const std::vector<std::string> shared{"shared-cores: 32 threads on 1 usable core of a"};
  EXPECT_EQ(codes_of(record), shared);
  record.adapter["device"] = "cpu";
  EXPECT_EQ(codes_of(record), shared);
  record.adapter["device"] = "cuda";
  EXPECT_TRUE(codes_of(record).empty());
  record.adapter.clear();
  record.warnings = {{"times-of-a-log", "a log", "", ""}};
  EXPECT_EQ(codes_of(record), std::vector<std::string>{"times-of-a-log: a log"});
}

TEST(AboveLine, IsAnOperationThatIsFasterThanAPlainStream) {
  records::CommRecord record;
  record.ranks = 2;
  record.iteration_ns = {2000};
  record.line_bytes_per_s = 2e9;
  record.wire_bytes = 3000;
  EXPECT_FALSE(above_line_rate_warning(record));
  record.wire_bytes = 5000;
  const auto warning = above_line_rate_warning(record);
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->code, "above-line");
}

}  // namespace
}  // namespace paceline::rank
