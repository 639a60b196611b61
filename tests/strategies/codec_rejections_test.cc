// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

// With which exchanges, values and ranks codecs are rejected, and what they promise.

namespace paceline::strategies {
namespace {

std::string rejection(const std::string& text) {
  try {
    parse_strategy(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Codecs, AreRejectedWhereSumsOfSomeRanksArePassedOn) {
  for (const std::string exchange : {"rs-ag", "hierarchical"}) {
    const std::string rule = "'topk' needs what every rank sends in one place, and '" + exchange;
    EXPECT_TRUE(rejection("fusion+" + exchange + "+topk").starts_with(rule)) << exchange;
  }
  EXPECT_EQ(rejection("fusion+rs-ag+sign"),
            "'sign' needs what every rank sends in one place, and 'rs-ag' passes on sums of some "
            "ranks; take all-reduce or ps");
  EXPECT_EQ(rejection("wfbp+ps+topk"),
            "'topk' needs what every rank sends in one place, and 'ps' answers with one sum, whose "
            "form is another than that of its parts; take all-reduce");
  EXPECT_TRUE(rejection("wfbp+ps+ef-sign").ends_with("take all-reduce"));
  EXPECT_NE(rejection("wfbp+ps:local=2+sign").find("local=2"), std::string::npos);
  EXPECT_EQ(rejection("wfbp+ps+sign"), "");
  EXPECT_EQ(rejection("wfbp+ps:local=2+sign:form=int8"), "");
  EXPECT_EQ(rejection("wfbp+rs-ag+sign:form=int8"), "");
  EXPECT_EQ(rejection("wfbp+rs-ag+powersgd"),
            "'powersgd' needs sums of a length of their own, and 'rs-ag' cuts sums by the slice; "
            "take all-reduce");
  EXPECT_EQ(rejection("fusion+hierarchical:local=2+gtopk"),
            "'gtopk' needs pairs of ranks that swap what they have, and 'hierarchical' has none; "
            "take all-reduce");
  for (const char* codec : {"random-k", "qsgd", "powersgd", "gtopk"}) {
    EXPECT_NE(rejection(fmt::format("fusion+ps+{}", codec)), "") << codec;
    EXPECT_EQ(rejection(fmt::format("fusion+{}", codec)), "") << codec;
  }
  EXPECT_EQ(rejection("dear+all-reduce+topk:density=0.5"), "");
  EXPECT_EQ(rejection("fusion+neighbor-allreduce+sign"),
            "'sign' compresses what crosses, and neighbors need codes that keep "
            "a share of every change of one rank's parameters, as those of "
            "'sign' do not; take bf16, ef-sign, topk, random-k, qsgd, powersgd");
}

TEST(Codecs, DensityIsAShare) {
  EXPECT_EQ(parse_strategy("bsp+topk:density=1").text(), "bsp+topk:density=1");
  EXPECT_EQ(parse_strategy("wfbp+topk").text(), "wfbp+topk:density=0.01");
  for (const char* density : {"0", "1.5", "-1", "x", "", "nan"}) {
    EXPECT_EQ(rejection(fmt::format("bsp+topk:density={}", density)),
              fmt::format("strategy option topk:density={}: a number above 0, at most 1, is wanted",
                          density));
  }
}

TEST(Codecs, PromiseEqualRanksAndACompressedGradient) {
  for (const char* text : {"wfbp+topk", "bsp+sign", "wfbp+ps+sign", "ef-sign"}) {
    EXPECT_EQ(parse_strategy(text).guarantee(), Guarantee::kCompressed);
  }
}

TEST(Codecs, RejectALossThatIsScaled) {
  for (const char* text : {"bsp+topk", "bsp+sign", "bsp+ef-sign"}) {
    PlanInput input = input_of(small_model(), 2);
    input.loss_scaling = true;
    EXPECT_THROW(make_planner(parse_strategy(text))->setup(input), UsageError) << text;
  }
}

std::string setup_rejection(const std::string& text, Rank world) {
  const PlanInput input = input_of(small_model(), world);
  const auto planner = make_planner(parse_strategy(text));
  try {
    const Setup setup = planner->setup(input);
    planner->plan(input, setup, 0);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Codecs, AreRejectedWhereTheirMathematicsEnds) {
  EXPECT_EQ(setup_rejection("gtopk", 6),
            "gtopk merges what ranks select by pairs, so it wants a power of two of them, and "
            "there are 6; take topk");
  EXPECT_EQ(setup_rejection("gtopk", 8), "");
  EXPECT_EQ(setup_rejection("bsp+sign:form=int8", 127), "");
  EXPECT_EQ(setup_rejection("bsp+sign:form=int8", 128),
            "sign:form=int8 sums the signs of at most 127 ranks in a byte, and there are 128; take "
            "form=bits");
  EXPECT_EQ(setup_rejection("bytescheduler:partition-mb=0.00003+powersgd", 2),
            "powersgd takes whole tensors, and the schedule cuts 'layer3.p0'; take larger "
            "partitions or another schedule");
  EXPECT_EQ(setup_rejection("bytescheduler+powersgd", 2), "");
  EXPECT_NE(rejection("qsgd:levels=0"), "");
  EXPECT_NE(rejection("qsgd:levels=128"), "");
  EXPECT_NE(rejection("qsgd:block=63"), "");
  EXPECT_NE(rejection("powersgd:rank=0"), "");
}

}  // namespace
}  // namespace paceline::strategies
