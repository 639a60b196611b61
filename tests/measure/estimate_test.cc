// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/estimate.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "launch/memory_store.h"
#include "paceline/base/error.h"

namespace paceline::measure {
namespace {

// No network of this name can be probed, so whoever returns has not tried.
records::Configuration unknown_network() {
  records::Configuration c;
  c.model = "no such network";
  c.device = "cpu";
  c.threads = 1;
  return c;
}

class LaterRepetition : public ::testing::Test {
 protected:
  LaterRepetition() {
    world_.store = std::make_shared<paceline::testing::MemoryStore>();
  }

  Estimate agree(const nlohmann::json& note) {
    world_.store->set(kEstimateKey, note.dump());
    launch::PrefixStore job(world_.store, 0, "");
    return share_estimate(world_, job, {unknown_network()}, {}, 2);
  }

  engines::World world_;
};

TEST_F(LaterRepetition, TakesTheFirstOnesEstimateAndProbesNothing) {
  const Estimate estimate =
      agree({{"refusal", ""}, {"first_step_s", nlohmann::json::object()}});
  EXPECT_EQ(estimate.first_step(unknown_network(), 1, 2).count(), 0);
}

TEST_F(LaterRepetition, IsRefusedWithTheSameSentence) {
  try {
    agree(
        {{"refusal", "too long"}, {"first_step_s", nlohmann::json::object()}});
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "too long");
  }
}

TEST(NetworkOf, TellsWidthsOfEmbeddingsApart) {
  records::Configuration wide;
  wide.model = "embedding-mlp";
  wide.embedding_dim = 2 * wide.embedding_dim;
  records::Configuration narrow = wide;
  narrow.embedding_dim = 64;
  EXPECT_NE(network_of(wide), network_of(narrow));
  narrow.embedding_dim = wide.embedding_dim;
  EXPECT_EQ(network_of(wide), network_of(narrow));
}

}  // namespace
}  // namespace paceline::measure
