// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/json.h"

#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "records/sample_record.h"

namespace paceline::records {
namespace {

using nlohmann::json;

std::string rejection_after(const std::function<void(json&)>& damage) {
  json record = to_json(full_record());
  damage(record);
  try {
    from_json(record);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RecordJson, RoundTripKeepsEveryField) {
  for (const RunRecord& record : {full_record(), failed_record()}) {
    EXPECT_EQ(from_json(to_json(record)), record);
    EXPECT_EQ(from_line(to_line(record)), record);
  }
}

TEST(RecordJson, RoundTripKeepsEverySource) {
  for (const Source source : {Source::kMeasured, Source::kReplayed, Source::kPredicted,
                              Source::kImported, Source::kExternal}) {
    RunRecord record = full_record();
    record.source = source;
    EXPECT_EQ(from_line(to_line(record)).source, source);
  }
}

TEST(RecordJson, WhatIsNotKnownIsNull) {
  const json record = to_json(failed_record());
  for (const char* path :
       {"/configuration/image_size", "/configuration/threads", "/environment/torch_version",
        "/wire/measured_bytes_per_step", "/wire/calls_per_step", "/started_at"}) {
    EXPECT_TRUE(record.at(json::json_pointer(path)).is_null()) << path;
  }
  RunRecord unknown = full_record();
  unknown.ranks[0] = RankSamples{};
  unknown.ranks[0].step_ns = unknown.ranks[1].step_ns;
  const json rank = to_json(unknown).at("ranks").at(0);
  for (const char* key : {"host", "window_ns", "flush_ns", "peak_memory_bytes"}) {
    EXPECT_TRUE(rank.at(key).is_null()) << key;
  }
}

TEST(RecordJson, WhatTheSourceDoesNotSayIsNull) {
  RunRecord record = full_record();
  record.source = Source::kImported;
  json written = to_json(record);
  const std::string key = record.configuration.key();
  for (const char* name : {"batch_size", "ranks", "momentum", "seed", "dtype"}) {
    written["configuration"][name] = nullptr;
  }
  const RunRecord read = from_json(written);
  const cases::Case& c = read.configuration;
  EXPECT_EQ(c.unstated,
            (std::set<std::string>{"batch_size", "dtype", "momentum", "ranks", "seed"}));
  EXPECT_FALSE(c.states("seed"));
  EXPECT_TRUE(c.states("optimizer"));
  EXPECT_EQ(c.momentum, 0);
  EXPECT_EQ(c.dtype, "");
  EXPECT_NE(c.key(), key);
  EXPECT_TRUE(c.key().ends_with(" unstated=batch_size,dtype,momentum,ranks,seed")) << c.key();
  EXPECT_EQ(json(to_json(read)), written);
}

TEST(RecordJson, AnOptionThatServersHadOnceIsLeftOut) {
  RunRecord record = full_record();
  record.configuration.strategy = "bsp+ps:servers=1,first-key=0,local=0+fp16";
  EXPECT_EQ(from_line(to_line(record)).configuration.strategy, "bsp+ps:servers=1,local=0+fp16");
  record.configuration.strategy = "bsp+ps:assign=hash,first-key=07";
  EXPECT_EQ(from_line(to_line(record)).configuration.strategy, record.configuration.strategy);
}

TEST(RecordJson, ZeroIsKept) { EXPECT_EQ(to_json(full_record())["ranks"][0]["flush_ns"], 0); }

TEST(RecordJson, BytesThatAreNotUtf8DoNotStopTheWriter) {
  RunRecord record = full_record();
  record.environment.hosts[0].topology = "caf\xe9";
  EXPECT_EQ(from_line(to_line(record)).environment.hosts[0].topology, "caf\xEF\xBF\xBD");
}

TEST(RecordJson, NewerVersionIsRejectedBeforeAnyOtherKey) {
  EXPECT_EQ(rejection_after([](json& r) {
              r = {{"version", 2}};
            }),
            "version: 2 is newer than this program reads (up to 1); use the paceline that wrote "
            "it, or a newer one");
}

TEST(RecordJson, RejectionsNameTheKey) {
  EXPECT_EQ(rejection_after([](json& r) { r["ranks"][1]["step_ns"][2] = "x"; }),
            "ranks[1].step_ns[2]: expected an integer from 0 to 9223372036854775807, found \"x\"");
  EXPECT_EQ(rejection_after([](json& r) { r["ranks"][1]["step_ns"][2] = -1; }),
            "ranks[1].step_ns[2]: expected an integer from 0 to 9223372036854775807, found -1");
  EXPECT_EQ(rejection_after([](json& r) { r["configuration"]["ranks"] = 0; }),
            "configuration.ranks: expected an integer from 1 to 2147483647, found 0");
  EXPECT_EQ(rejection_after([](json& r) { r["configuration"]["steps"] = 1.5; }),
            "configuration.steps: expected an integer from 0 to 2147483647, found 1.5");
  EXPECT_EQ(rejection_after([](json& r) { r["wire"].erase("calls_per_step"); }),
            "wire: key 'calls_per_step' is missing");
  EXPECT_EQ(rejection_after([](json& r) { r["wire"]["x"] = 1; }),
            "wire: unknown key 'x'; known are bytes_by_pattern, calls_per_step, "
            "measured_bytes_per_step, planned_bytes_per_step");
  EXPECT_EQ(rejection_after([](json& r) { r["source"] = "guessed"; }),
            "source: expected one of measured, replayed, predicted, imported, external, found "
            "\"guessed\"");
  EXPECT_EQ(rejection_after([](json& r) { r = json::array(); }),
            "record: expected an object, found an array");
}

TEST(RecordJson, RanksThatDisagreeOnStepsAreRejected) {
  EXPECT_EQ(rejection_after([](json& r) { r["ranks"][1]["step_ns"].erase(0); }),
            "ranks: rank 1 has 2 values of step_ns, rank 0 has 3");
  EXPECT_EQ(rejection_after([](json& r) { r["ranks"][1]["compute_only_step_ns"].erase(0); }),
            "ranks: rank 1 has 1 values of compute_only_step_ns, rank 0 has 2");
}

RunRecord record_with_pairs() {
  RunRecord record = full_record();
  for (RankSamples& rank : record.ranks) {
    rank.paired_step_ns = {95'000'000, 96'000'000};
    rank.pair_of_step = {0, 1};
  }
  return record;
}

TEST(RecordJson, PairsAreWrittenWhereThereAreSome) {
  EXPECT_EQ(to_line(full_record()).find("pair"), std::string::npos);
  EXPECT_EQ(from_line(to_line(record_with_pairs())), record_with_pairs());
}

TEST(RecordJson, PairsThatLackAStepAreRejected) {
  const auto rejection_of = [](RunRecord record) -> std::string {
    try {
      from_line(to_line(record));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  RunRecord record = record_with_pairs();
  record.ranks[1].paired_step_ns.pop_back();
  EXPECT_EQ(rejection_of(record), "ranks: rank 1 has 1 values of paired_step_ns, rank 0 has 2");
  record = record_with_pairs();
  record.ranks[0].pair_of_step.pop_back();
  EXPECT_EQ(rejection_of(record),
            "ranks: rank 0 has 1 values of pair_of_step and 2 of "
            "paired_step_ns");
  record = record_with_pairs();
  record.ranks[1].compute_only_step_ns.clear();
  EXPECT_EQ(rejection_of(record),
            "ranks: rank 1 has 2 values of pair_of_step and 0 of compute_only_step_ns");
  record = record_with_pairs();
  record.ranks[0].pair_of_step = {1, 0};
  EXPECT_EQ(rejection_of(record), "ranks: rank 0 has pair_of_step out of order");
}

TEST(RecordJson, RankThatTookNoPartHasNoSteps) {
  EXPECT_EQ(rejection_after([](json& r) {
              r["ranks"][0]["step_ns"] = json::array();
              r["ranks"][0]["compute_only_step_ns"] = nullptr;
            }),
            "accepted");
}

TEST(Json, InstrumentsAreWrittenWhereThereAreSome) {
  RunRecord record = full_record();
  for (const char* key :
       {"\"link\"", "\"replay\"", "stretch", "\"cluster\"", "link_check", "coding", "last_loss"}) {
    EXPECT_EQ(to_line(record).find(key), std::string::npos) << key;
  }
  record.configuration.link = "1Gbit,50us";
  record.configuration.replay = "theirs.profile.json";
  record.configuration.stretch = 2.5;
  record.configuration.cluster = "two nodes; prices 0123abcd";
  record.link_check = {
      {.operations = 12, .late = 1, .slack_ns = -345, .overdue_ns = 345, .window_ns = 9000}};
  record.coding = {{.ns_per_step = 1200, .plain_bytes_per_step = 4096}};
  record.training = {{.last_loss = 2.5}};
  EXPECT_EQ(from_line(to_line(record)), record);
  EXPECT_FALSE(record.valid());
}

TEST(Json, ProgramsOutsideAreWrittenWhereTheyPerformed) {
  RunRecord record = full_record();
  for (const char* key :
       {"\"framework\"", "\"command\"", "\"env\"", "\"status\"", "\"adapter\"", "not_run"}) {
    EXPECT_EQ(to_line(record).find(key), std::string::npos) << key;
  }
  const std::string plain = record.configuration.key();
  record.configuration.framework = "jax";
  record.configuration.compiled = true;
  record.configuration.env = {{"XLA_FLAGS", "--a --b"}};
  record.status = "unsupported";
  record.error = "bf16: no instructions";
  record.adapter = {{"layout", "NHWC"}};
  EXPECT_EQ(from_line(to_line(record)), record);
  EXPECT_TRUE(record.not_run());
  EXPECT_EQ(record.configuration.key(),
            plain + " framework=jax compiled=true env.XLA_FLAGS=--a --b");
}

TEST(Json, WhatAPredictionSaysIsWrittenWhereItSaysAny) {
  EXPECT_EQ(to_line(full_record()).find("\"bound\""), std::string::npos);
  RunRecord record = predicted_record();
  EXPECT_EQ(from_line(to_line(record)), record);
  EXPECT_EQ(to_json(record)["predicted"]["bound"]["sharper_step_ns"], 9'007'199'254'740'993);
  record.predicted->bound.sharper_ns.reset();
  record.predicted->bound.algorithm.clear();
  *record.predicted->error_bar = {.why = "layer times are not measured"};
  EXPECT_EQ(from_line(to_line(record)), record);
  const json unknown = to_json(record)["predicted"];
  for (const char* path : {"/bound/sharper_step_ns", "/bound/algorithm", "/error_bar/share",
                           "/error_bar/low_ns", "/error_bar/of"}) {
    EXPECT_TRUE(unknown.at(json::json_pointer(path)).is_null()) << path;
  }
  record.predicted->error_bar.reset();
  EXPECT_EQ(from_line(to_line(record)), record);
}

TEST(Json, AnErrorBarOfOlderRecordsIsRead) {
  RunRecord record = predicted_record();
  record.predicted->error_bar->validated = true;
  std::string line = to_line(record);
  line.replace(line.find("validated"), 9, "examined");
  EXPECT_EQ(from_line(line), record);
}

TEST(Json, WhatAPlanWasMadeByIsWrittenWhereThereIsSome) {
  RunRecord record = full_record();
  EXPECT_EQ(to_line(record).find("\"planned_by\""), std::string::npos);
  record.planned_by = {.profile_origin = "rank 0",
                       .forward_ps = {1, 2},
                       .backward_ps = {3, 4, 9'007'199'254'740'993},
                       .costs_origin = "gloo",
                       .costs = {{"all-reduce", {{0, 1e-4, 1e-9}}}},
                       .remark = "one unit"};
  EXPECT_EQ(from_line(to_line(record)), record);
}

}  // namespace
}  // namespace paceline::records
