// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/json.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::cases {
namespace {

Case read(const nlohmann::json& json) { return from_json(JsonNode{json, nullptr, "case"}); }

TEST(CaseJson, ComesBackAsItWas) {
  Case c;
  c.model = "hybrid";
  c.as_original = true;
  c.ranks_per_host = {1, 1};
  c.env = {{"A", "1"}};
  c.zipf = 1.5;
  c.discard = true;
  c.forget("seed");
  EXPECT_EQ(read(to_json(c)), c);
  EXPECT_EQ(to_json(read(to_json(c))), to_json(c));
}

TEST(CaseJson, KeysOfOlderRecordsBecomeOne) {
  const nlohmann::json usual = to_json(Case{});
  for (const auto& [key, value] : {std::pair<std::string, nlohmann::json>{"compat_zeros", true},
                                   {"compat_relu", true},
                                   {"compat_accumulate", true},
                                   {"row_gradients", "dense"},
                                   {"lookup", "sequential"}}) {
    nlohmann::json older = usual;
    older[key] = value;
    EXPECT_TRUE(read(older).as_original) << key;
    for (const nlohmann::json& not_so : {nlohmann::json(), nlohmann::json(false)}) {
      older[key] = not_so;
      EXPECT_EQ(read(older), Case{}) << key;
    }
  }
  nlohmann::json older = usual;
  older["sparse_engine"] = "mpi";
  EXPECT_EQ(read(older).engine, "gloo+mpi");
}

}  // namespace
}  // namespace paceline::cases
