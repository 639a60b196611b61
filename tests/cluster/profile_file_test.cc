// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/profile_file.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::cluster {
namespace {

constexpr const char* kText = R"({
 "paceline_profile": 1, "model": "tiny", "origin": "by hand", "batch_size": 8,
 "update_us": 3.5, "peak_memory_bytes": 1000,
 "modules": [{"name": "a", "forward_us": 1.25, "activation_bytes": 64},
             {"name": "b", "forward_us": 2, "activation_bytes": 32}],
 "parameters": [
  {"name": "a.weight", "sizes": [2, 3], "module": "a", "backward_us": 4},
  {"name": "b.bias", "sizes": [5], "module": "b", "backward_us": 0.000001}],
 "ready_order": ["b.bias", "a.weight"]})";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kText;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string rejection(const std::string& text) {
  try {
    parse_profile(text, "p.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ProfileFile, IsReadWithShapeTimesAndOrder) {
  const ProfiledModel p = parse_profile(kText, "p.json");
  EXPECT_EQ(p.model.name, "tiny");
  EXPECT_EQ(p.batch_size, 8);
  EXPECT_EQ(p.device, "cpu");
  EXPECT_EQ(p.update, 3'500'000);
  EXPECT_EQ(p.memory, 1000);
  EXPECT_EQ(p.profile.forward, (std::vector<plan::Picoseconds>{1'250'000, 2'000'000}));
  EXPECT_EQ(p.profile.backward, (std::vector<plan::Picoseconds>{4'000'000, 1}));
  EXPECT_EQ(p.model.parameters[0].elements, 6);
  EXPECT_EQ(p.model.parameters[1].module, plan::ModuleId{1});
  EXPECT_EQ(p.model.ready_order,
            (std::vector<plan::ParameterId>{plan::ParameterId{1}, plan::ParameterId{0}}));
  plan::check_profile(p.model, p.profile);
}

TEST(ProfileFile, HoldsTheTimesOfCodecsWhereTheyWereMeasured) {
  ProfiledModel p = parse_profile(kText, "p.json");
  EXPECT_TRUE(p.codecs.empty());
  EXPECT_EQ(to_json_text(p).find("codecs"), std::string::npos);
  p.codecs = {{.codec = "sign",
               .bytes = 400,
               .copy = 1'000'000,
               .encode = 2'500'000,
               .decode = 3,
               .kernels = {{"sign", 412, 2'500'000}}}};
  const std::string text = to_json_text(p);
  const ProfiledModel q = parse_profile(text, "q.json");
  EXPECT_EQ(to_json_text(q), text);
  ASSERT_EQ(q.codecs.size(), 1u);
  EXPECT_EQ(q.codecs[0].decode, 3);
  EXPECT_EQ(q.codecs[0].kernels[0].bytes, 412);
}

TEST(ProfileFile, WhatIsWrittenReadsBackEqual) {
  const ProfiledModel p = parse_profile(kText, "p.json");
  const std::string text = to_json_text(p);
  const ProfiledModel q = parse_profile(text, "q.json");
  EXPECT_EQ(to_json_text(q), text);
  EXPECT_EQ(q.profile.forward, p.profile.forward);
  EXPECT_EQ(q.profile.backward, p.profile.backward);
  EXPECT_EQ(q.model.ready_order, p.model.ready_order);
  EXPECT_EQ(q.model.parameters[0].sizes, p.model.parameters[0].sizes);
}

TEST(ProfileFile, WhatIsNotKnownIsNull) {
  const ProfiledModel p =
      parse_profile(replaced("\"update_us\": 3.5", "\"update_us\": null"), "p.json");
  EXPECT_FALSE(p.update.has_value());
  EXPECT_NE(to_json_text(p).find("\"update_us\": null"), std::string::npos);
}

// What paceline.torch.profile wrote of a network that is not built in.
TEST(ProfileFile, AnyPyTorchModelsProfileIsRead) {
  const ProfiledModel p =
      read_profile(PACELINE_SOURCE_DIR "/tests/plan/their_network.profile.json");
  EXPECT_EQ(p.model.name, "reader");
  EXPECT_EQ(p.model.parameters.size(), 12U);
  EXPECT_EQ(p.model.modules.front(), "(root)");
  EXPECT_GT(p.profile.forward_total(), 0);
  EXPECT_GT(p.profile.backward_total(), 0);
  EXPECT_TRUE(p.update.has_value());
}

TEST(ProfileFile, MistakesAreNamed) {
  EXPECT_EQ(rejection("{").find("p.json: not JSON: column 2: "), 0U) << rejection("{");
  EXPECT_EQ(rejection(replaced("\"batch_size\": 8", "\"batch_size\": 0")),
            "p.json: batch_size: expected a whole number of at least 1, found 0");
  EXPECT_EQ(rejection(replaced("\"module\": \"b\"", "\"module\": \"c\"")),
            "p.json: parameters[1]: module 'c' is not among the modules");
  EXPECT_EQ(rejection(replaced("\"b.bias\", \"a.weight\"]", "\"b.bias\"]")),
            "p.json: ready_order: 1 of 2 parameters");
  EXPECT_EQ(rejection(replaced("\"forward_us\": 2", "\"forward_us\": -2")),
            "p.json: modules[1].forward_us: expected a time in microseconds, found -2");
  EXPECT_EQ(rejection(replaced("\"name\": \"b\"", "\"name\": \"a\"")),
            "p.json: modules[1]: module 'a' is there twice");
  EXPECT_EQ(
      rejection(replaced("\"model\"", "\"modle\"")).find("p.json: unknown key 'modle'; known are "),
      0U);
  EXPECT_EQ(rejection(replaced("\"sizes\": [5]", "\"sizes\": [0]")),
            "p.json: parameters[1].sizes[0]: expected an integer from 1 to 1099511627776, found 0");
}

}  // namespace
}  // namespace paceline::cluster
