// SPDX-License-Identifier: Apache-2.0
// docs/record.schema.json says of a record exactly what the code does.
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/records/json.h"
#include "records/case_schema.h"
#include "records/sample_record.h"
#include "records/schema_checker.h"

namespace paceline::records {
namespace {

using nlohmann::json;

constexpr const char* kFile = PACELINE_SOURCE_DIR "/docs/record.schema.json";

class Schema : public testing::Test {
 protected:
  static nlohmann::ordered_json load() {
    std::ifstream in(kFile);
    return nlohmann::ordered_json::parse(in);
  }
  SchemaChecker checker_{load()};
};

// PACELINE_UPDATE_GOLDEN=1 in the environment rewrites it in the file.
TEST_F(Schema, OfACaseComesFromItsFields) {
  nlohmann::ordered_json schema = load();
  nlohmann::ordered_json& configuration = schema["$defs"]["configuration"];
  if (std::getenv("PACELINE_UPDATE_GOLDEN") != nullptr) {
    configuration = cases::schema();
    std::ofstream(kFile) << schema.dump(2) << '\n';
  }
  EXPECT_EQ(configuration.dump(2), cases::schema().dump(2));
}

// Pointers to every key inside `value`, those of maps with free keys too.
void collect_keys(const json& value, const json::json_pointer& here,
                  std::vector<json::json_pointer>& keys) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      keys.push_back(here / key);
      collect_keys(member, here / key, keys);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      collect_keys(value[i], here / i, keys);
    }
  }
}

// Maps whose keys are data, not names of fields.
bool has_free_keys(const json::json_pointer& parent) {
  const std::string name = parent.empty() ? "" : parent.back();
  return name == "variables" || name == "facts" || name == "phase_ns" ||
         name == "bytes_by_pattern" || name == "verified" || name == "env" || name == "adapter";
}

bool reader_takes(const json& record) {
  try {
    from_json(record);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

TEST_F(Schema, HoldsForWrittenRecords) {
  RunRecord planned = full_record();
  planned.planned_by = {.profile_origin = "rank 0",
                        .forward_ps = {1},
                        .backward_ps = {2},
                        .costs_origin = "gloo",
                        .costs = {{"all-reduce", {{0, 1e-4, 1e-9}}}},
                        .remark = "one unit"};
  RunRecord held = full_record();
  held.configuration.link = "1Gbit,50us";
  held.configuration.replay = "theirs.profile.json";
  held.configuration.stretch = 2.5;
  held.configuration.cluster = "two nodes; prices 0123abcd";
  held.configuration.start = "formula";
  held.configuration.framework = "jax";
  held.configuration.command = "torchrun train.py";
  held.configuration.launcher = "ranks";
  held.configuration.step_regex = "t=(.*)";
  held.configuration.steps_per_line = 5;
  held.configuration.step_unit = "ms";
  held.configuration.reader = "megatron";
  held.configuration.rate_scope = "node";
  held.configuration.python = "/usr/bin/python3";
  held.configuration.compiled = true;
  held.configuration.env = {{"OMP_WAIT_POLICY", "active"}};
  held.configuration.not_run = "bf16: no instructions";
  held.status = "unsupported";
  held.adapter = {{"layout", "NHWC"}};
  held.link_check = {
      {.operations = 12, .late = 1, .slack_ns = -345, .overdue_ns = 345, .window_ns = 9000}};
  held.coding = {{.ns_per_step = 1200, .plain_bytes_per_step = 4096}};
  held.training = {{.last_loss = 2.5}};
  for (RankSamples& rank : held.ranks) {
    rank.paired_step_ns = {95'000'000, 96'000'000};
    rank.pair_of_step = {0, 1};
    rank.averages_by_steps_missed = {7, 0, 3};
  }
  held.consensus_distance = 0.0125;
  RunRecord trained = full_record();
  trained.configuration.data = "digits";
  trained.configuration.split = "dirichlet:0.1";
  trained.configuration.target = 0.95;
  trained.configuration.evaluate_every = 20;
  trained.configuration.lr_warmup = 5;
  trained.configuration.average_buffers = 8;
  trained.configuration.lr_decay = "0.1@20+30";
  for (RankSamples& rank : trained.ranks) {
    rank.evaluations = {{.loss = 2.5, .accuracy = 0.25},
                        {.step = 20, .trained_ns = 3, .sent_bytes = 4, .loss = {}, .accuracy = {}}};
  }
  EXPECT_EQ(from_line(to_line(trained)), trained);
  for (const RunRecord& record :
       {full_record(), failed_record(), planned, held, trained, predicted_record()}) {
    EXPECT_EQ(checker_.check(json::parse(to_line(record))), std::vector<std::string>{});
  }
}

TEST_F(Schema, HoldsForEverySource) {
  for (const Source source : {Source::kMeasured, Source::kReplayed, Source::kPredicted,
                              Source::kImported, Source::kExternal}) {
    RunRecord record = full_record();
    record.source = source;
    EXPECT_TRUE(checker_.check(to_json(record)).empty()) << name_of(source);
  }
}

TEST_F(Schema, EveryKeyIsRequiredByItAndByTheReader) {
  const json record = to_json(predicted_record());
  std::vector<json::json_pointer> keys;
  collect_keys(record, json::json_pointer(), keys);
  int required = 0;
  for (const json::json_pointer& key : keys) {
    if (has_free_keys(key.parent_pointer()) || key == json::json_pointer("/predicted")) {
      continue;
    }
    json damaged = record;
    damaged.at(key.parent_pointer()).erase(key.back());
    EXPECT_FALSE(checker_.check(damaged).empty()) << key;
    EXPECT_FALSE(reader_takes(damaged)) << key;
    ++required;
  }
  EXPECT_GT(required, 85);
}

TEST_F(Schema, UnknownKeysAreRejectedByItAndByTheReader) {
  for (const char* place :
       {"", "/configuration", "/environment", "/environment/hosts/0", "/ranks/0", "/wire",
        "/predicted", "/predicted/bound", "/predicted/error_bar", "/warnings/0"}) {
    json damaged = to_json(predicted_record());
    damaged[json::json_pointer(place)]["stranger"] = 1;
    EXPECT_FALSE(checker_.check(damaged).empty()) << place;
    EXPECT_FALSE(reader_takes(damaged)) << place;
  }
}

// Every value in turn becomes each of these: both reject, or both take it.
// The reader also knows ranges of C++ types and that ranks agree, which the schema does not say;
// none of these values touch that.
TEST_F(Schema, AgreesWithTheReaderOnTypes) {
  const std::vector<json> values{nullptr, true,           -1,    0.5, "text", json::array(),
                                 7,       json::object(), {true}};
  const json record = to_json(predicted_record());
  std::vector<json::json_pointer> keys;
  collect_keys(record, json::json_pointer(), keys);
  for (const json::json_pointer& key : keys) {
    for (const json& value : values) {
      json changed = record;
      changed[key] = value;
      const bool lists_of_ranks = key.back().ends_with("step_ns") && changed.at(key).is_array();
      if (!lists_of_ranks) {
        EXPECT_EQ(checker_.check(changed).empty(), reader_takes(changed)) << key << " = " << value;
      }
    }
  }
}

TEST(SchemaChecker, RejectsKeywordsThatItDoesNotKnow) {
  const json schema{{"maxLength", 3}};
  EXPECT_FALSE(SchemaChecker(schema).check("x").empty());
}

}  // namespace
}  // namespace paceline::records
