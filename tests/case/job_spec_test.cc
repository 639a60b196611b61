// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/job_spec.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::cases {
namespace {

TEST(JobSpec, ComesBackAsItWas) {
  JobSpec job;
  job.experiment.name = "a \"name\"";
  job.experiment.runs = 3;
  job.run = 2;
  job.progress = true;
  job.settings.records = "results/x.jsonl";
  job.settings.timeout = 12.5;
  job.settings.yes = true;
  Case c;
  c.label = "1M/2G";
  c.ranks = 2;
  c.ranks_per_host = {1, 1};
  c.learning_rate = 0.1 + 0.2;
  c.seed = 18446744073709551615U;
  c.channels_last = true;
  Case command;
  command.command = "train";
  for (const char* key : {"bucket_mib", "optimizer", "accumulate", "dtype"}) {
    command.forget(key);
  }
  job.experiment.cases = {Case{}, c, command};

  const JobSpec back = job_spec_from(to_text(job));
  EXPECT_EQ(to_text(back), to_text(job));
  EXPECT_EQ(back.experiment.name, job.experiment.name);
  EXPECT_EQ(back.experiment.runs, 3);
  EXPECT_EQ(back.run, 2);
  EXPECT_TRUE(back.progress);
  EXPECT_EQ(back.settings.records, "results/x.jsonl");
  EXPECT_EQ(back.settings.timeout, 12.5);
  EXPECT_TRUE(back.settings.yes);
  ASSERT_EQ(back.experiment.cases.size(), 3U);
  EXPECT_EQ(back.experiment.cases[2], command);
  EXPECT_EQ(back.experiment.cases[0].key(), Case{}.key());
  EXPECT_EQ(back.experiment.cases[1].key(), c.key());
  EXPECT_EQ(back.experiment.cases[1].label, "1M/2G");
  EXPECT_EQ(back.experiment.cases[1].learning_rate, 0.1 + 0.2);
}

TEST(JobSpec, OperationsComeBackAsTheyWere) {
  JobSpec job;
  job.operations = {.engine = "gloo",
                    .device = "cpu",
                    .dtype = "bf16",
                    .link = "1Gbit,50us",
                    .operations = {"all-reduce", "message"},
                    .sizes = {4, std::int64_t{1} << 33},
                    .ranks = 3,
                    .warmup = 0,
                    .iterations = 7,
                    .fit = "fitted.toml",
                    .command = "paceline comm --fit fitted.toml"};
  const JobSpec back = job_spec_from(to_text(job));
  EXPECT_EQ(to_text(back), to_text(job));
  ASSERT_TRUE(back.operations);
  EXPECT_EQ(back.operations->sizes, job.operations->sizes);
  EXPECT_EQ(ranks_of(back), 3);
  EXPECT_EQ(engines_of(back), std::vector<std::string>{"gloo"});
}

TEST(JobSpec, RejectsOtherText) {
  EXPECT_THROW(job_spec_from("{}"), UsageError);
  EXPECT_THROW(job_spec_from("not json"), UsageError);
  EXPECT_THROW(job_spec_from(R"({"experiment": "x", "runs": 1, "run": 0,
                              "progress": false, "settings": {},
                              "cases": [{"no_such_key": "1"}]})"),
               UsageError);
}

}  // namespace
}  // namespace paceline::cases
