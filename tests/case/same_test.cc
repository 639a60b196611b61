// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/same.h"

#include <string>

#include <gtest/gtest.h>

namespace paceline::cases {
namespace {

// Cases are told apart by this text, and reports name them by its words.
TEST(CaseKey, HasItsWordsInOneOrder) {
  Case c;
  c.label = "1M/2G";
  c.batch_size = 8;
  c.ranks = 2;
  c.ranks_per_host = {1, 1};
  c.learning_rate = 0.1 + 0.2;
  c.seed = 18446744073709551615U;
  std::string key =
      "model=resnet50 batch_size=8 image_size=0 classes=0 ranks=2 ranks_per_host=1+1 "
      "strategy=fusion bucket_mb=25 engine=gloo device=cpu dtype=fp32 channels_last=false "
      "threads=0 warmup=5 steps=10 accumulate=1 sync_each_step=false seed=18446744073709551615 "
      "optimizer=sgd learning_rate=0.30000000000000004 momentum=0.9 weight_decay=0.0001";
  c.servers = 3;  // of tables, which there are not
  c.not_run = "too few ranks";
  EXPECT_EQ(c.key(), key);
  c.model = "hybrid";
  key.replace(0, key.find(" batch"), "model=hybrid");
  EXPECT_TRUE(c.key().starts_with(key +
                                  " trainers=2 servers=3 embeddings=300 embedding_dim=64 "
                                  "placement=table pooling=sum row_optimizer=sgd row_dtype=fp32 "))
      << c.key();
  c.model = "bert";
  key.replace(0, key.find(" batch"), "model=bert");
  key.insert(key.find(" ranks="), " sequence_length=5");
  c.sequence_length = 5;
  c.stretch = 2;
  c.start = "formula";
  c.env = {{"A", "1"}, {"B", "2 3"}};
  c.cluster = "lab.toml";
  c.data = "digits";
  c.clip_norm = 0.5;
  EXPECT_EQ(
      c.key(),
      key +
          " stretch=2 start=formula env.A=1 env.B=2 3 cluster=lab.toml data=digits clip_norm=0.5");
}

TEST(Same, LooksPastWhatMayDiffer) {
  Case a;
  Case b = a;
  b.strategy = "none";
  b.warmup = 7;
  b.label = "base";
  EXPECT_FALSE(equal_except(a, b, {}));
  EXPECT_FALSE(equal_except(a, b, {&Case::strategy}));
  EXPECT_TRUE(equal_except(a, b, {&Case::strategy, Part::kWindow}));
  EXPECT_TRUE(equal_in(a, b, {Part::kNetwork, &Case::bucket_mb}));
  EXPECT_FALSE(equal_in(a, b, {Part::kExchange}));
  EXPECT_NE(key_without(a, {Part::kWindow}), key_without(b, {Part::kWindow}));
  EXPECT_EQ(key_without(a, {Part::kWindow, Part::kExchange}),
            key_without(b, {Part::kWindow, Part::kExchange}));
  EXPECT_EQ(key_of_fields(b, {Part::kWindow}), "warmup=7 steps=10 sync_each_step=false");
}

TEST(Same, TellsWhatIsNotStatedFromItsValue) {
  Case a;
  a.seed = 0;
  Case b = a;
  b.forget("seed");
  EXPECT_FALSE(equal_except(a, b, {}));
  EXPECT_TRUE(equal_except(a, b, {Part::kTraining}));
}

TEST(Same, TablesAreOfModelsWithTables) {
  Case a;
  Case b = a;
  b.servers = 3;
  EXPECT_TRUE(equal_except(a, b, {}));
  a.model = b.model = "dlrm";
  EXPECT_FALSE(equal_except(a, b, {}));
}

}  // namespace
}  // namespace paceline::cases
