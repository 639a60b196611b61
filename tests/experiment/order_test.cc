// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/order.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::experiment {
namespace {

TEST(Order, ComesBackAsItWas) {
  Order order;
  order.experiment.name = "a \"name\"";
  order.experiment.runs = 3;
  order.run = 2;
  order.progress = true;
  order.settings.records = "results/x.jsonl";
  order.settings.timeout = 12.5;
  order.settings.yes = true;
  records::Configuration c;
  c.label = "1M/2G";
  c.ranks = 2;
  c.ranks_per_host = {1, 1};
  c.learning_rate = 0.1 + 0.2;
  c.seed = 18446744073709551615U;
  c.channels_last = true;
  order.experiment.cases = {records::Configuration{}, c};

  const Order back = order_from(to_text(order));
  EXPECT_EQ(to_text(back), to_text(order));
  EXPECT_EQ(back.experiment.name, order.experiment.name);
  EXPECT_EQ(back.experiment.runs, 3);
  EXPECT_EQ(back.run, 2);
  EXPECT_TRUE(back.progress);
  EXPECT_EQ(back.settings.records, "results/x.jsonl");
  EXPECT_EQ(back.settings.timeout, 12.5);
  EXPECT_TRUE(back.settings.yes);
  ASSERT_EQ(back.experiment.cases.size(), 2U);
  EXPECT_EQ(back.experiment.cases[0].key(), records::Configuration{}.key());
  EXPECT_EQ(back.experiment.cases[1].key(), c.key());
  EXPECT_EQ(back.experiment.cases[1].label, "1M/2G");
  EXPECT_EQ(back.experiment.cases[1].learning_rate, 0.1 + 0.2);
}

TEST(Order, RefusesOtherText) {
  EXPECT_THROW(order_from("{}"), UsageError);
  EXPECT_THROW(order_from("not json"), UsageError);
  EXPECT_THROW(order_from(R"({"experiment": "x", "runs": 1, "run": 0,
                              "progress": false, "settings": {},
                              "cases": [{"no_such_key": "1"}]})"),
               UsageError);
}

}  // namespace
}  // namespace paceline::experiment
