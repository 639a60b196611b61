// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/strategy.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "plan/toy_model.h"
#include "strategies/strategy_page.h"

namespace paceline::strategies {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string message_of(std::string_view text) {
  try {
    parse_strategy(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Strategy, CanonicalTextContainsTheResolvedOptions) {
  EXPECT_EQ(parse_strategy("fusion").text(), "fusion:bucket-mb=25");
  EXPECT_EQ(parse_strategy("fusion", {.bucket_mb = 0.5}).text(), "fusion:bucket-mb=0.5");
  EXPECT_EQ(parse_strategy("fusion:bucket_mb=4.0", {.bucket_mb = 0.5}).text(),
            "fusion:bucket-mb=4");
  EXPECT_EQ(parse_strategy("ddp").text(), "ddp:bucket-mb=25,first-bucket-mb=25");
  EXPECT_EQ(parse_strategy("ddp:first-bucket-mb=1").text(), "ddp:bucket-mb=25,first-bucket-mb=1");
  EXPECT_EQ(parse_strategy("ddp:static=no,views=yes").text(),
            "ddp:bucket-mb=25,first-bucket-mb=25,views=yes");
  EXPECT_EQ(parse_strategy("bsp").text(), "bsp");
  EXPECT_EQ(parse_strategy("bsp+all_reduce+identity+gradients").text(), "bsp");
  EXPECT_EQ(parse_strategy("all-reduce").text(), "fusion:bucket-mb=25");
  EXPECT_EQ(parse_strategy("ps").text(), parse_strategy("bsp+ps").text());
  EXPECT_EQ(parse_strategy("ps:servers=1+sign").text(),
            parse_strategy("bsp+ps:servers=1+sign").text());
}

TEST(Strategy, AnUnknownPartGetsTheLikelyOne) {
  for (const auto& [theirs, begin] :
       {std::pair("fusoin", "'fusoin'; did you mean 'fusion'? known are "),
        std::pair("mgwfbp",
                  "'mgwfbp'; here it is 'mg-wfbp:small-elements=8192'"
                  "; known are "),
        std::pair("bspa2a", "'bspa2a'; here it is 'bsp'; known are "),
        std::pair("signum", "'signum'; here it is 'bsp+sign'; known are "),
        std::pair("wfbp+signum", "'signum'; here it is 'sign'; known are "),
        std::pair("eftopk", "'eftopk'; here it is 'bsp+topk:density=0.001'; known are "),
        std::pair("qqqqqqq", "'qqqqqqq'; known are ")}) {
    EXPECT_TRUE(message_of(theirs).starts_with(std::string("unknown strategy part ") + begin))
        << message_of(theirs);
  }
}

TEST(Strategy, CanonicalTextRoundTrips) {
  std::vector<std::string> texts;
  for (const auto& row : whole_strategies()) {
    texts.emplace_back(row.name);
  }
  for (const auto& s : schedules()) {
    for (const auto& e : exchanges()) {
      for (const auto& c : codecs()) {
        for (const auto& u : update_rules()) {
          try {
            texts.push_back(
                parse_strategy(fmt::format("{}+{}+{}+{}", s.name, e.name, c.name, u.name)).text());
          } catch (const UsageError&) {
            continue;  // the mathematics forbids it
          }
        }
      }
    }
  }
  for (const std::string& text : texts) {
    const std::string canonical = parse_strategy(text, {.bucket_mb = 3.25}).text();
    EXPECT_EQ(parse_strategy(canonical).text(), canonical) << text;
  }
}

TEST(Strategy, ErrorsListWhatIsKnown) {
  EXPECT_TRUE(contains(message_of("fusoin"), "schedule: fusion, bsp, wfbp"));
  EXPECT_TRUE(contains(message_of("fusoin"), "whole: none, ddp, python-ddp"));
  EXPECT_TRUE(contains(message_of(""), "unknown strategy part ''"));
  EXPECT_TRUE(contains(message_of("fusion:cap=3"), "known: bucket-mb"));
  EXPECT_TRUE(contains(message_of("bsp:cap=3"), "it takes none"));
  EXPECT_TRUE(contains(message_of("fusion:bucket-mb"), "key=value"));
  EXPECT_TRUE(contains(message_of("fusion:bucket-mb=x"), "number of MiB"));
  EXPECT_TRUE(contains(message_of("fusion:bucket-mb=-1"), "number of MiB"));
  EXPECT_TRUE(contains(message_of("fusion:bucket-mb=1,bucket_mb=2"), "twice"));
  EXPECT_TRUE(contains(message_of("bsp+wfbp"), "'bsp' and 'wfbp' are two"));
  EXPECT_TRUE(contains(message_of("ddp+all-reduce"), "whole strategy"));
}

TEST(Strategy, ExternalStrategyHasNoPlanner) {
  const StrategySpec spec = parse_strategy("python_ddp");
  EXPECT_TRUE(spec.external());
  EXPECT_EQ(spec.text(), "python-ddp:bucket-mb=25,settings=defaults");
  EXPECT_THROW(make_planner(spec), UsageError);
  EXPECT_FALSE(parse_strategy("ddp").external());
}

TEST(Strategy, NamesAreUniqueOverAllAxes) {
  std::vector<std::string_view> names;
  for (const AxisInfo& axis : strategy_axes()) {
    for (const RowInfo& row : axis.rows) {
      EXPECT_EQ(std::ranges::count(names, row.name), 0) << row.name;
      EXPECT_FALSE(row.summary.empty()) << row.name;
      names.push_back(row.name);
    }
  }
}

// Each part has a file of its own, which the page names.
TEST(StrategyPage, HoldsTheTables) {
  std::ifstream file(PACELINE_SOURCE_DIR "/docs/strategies.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(contains(page, strategy_markdown())) << "docs/strategies.md should hold:\n"
                                                   << strategy_markdown();
  std::size_t at = 0, files = 0;
  while ((at = page.find("| `src/paceline/", at)) != std::string::npos) {
    const std::string name = page.substr(at + 3, page.find('`', at + 3) - at - 3);
    EXPECT_TRUE(std::filesystem::exists(PACELINE_SOURCE_DIR "/" + name)) << name;
    at += name.size();
    ++files;
  }
  EXPECT_GT(files, 20u);
}

// `none` sends nothing, external rows have no plan, and PyTorch cuts the
// buckets of `ddp` while it trains.
TEST(SamePrices, RunsEveryRowThatHasAPrice) {
  std::ifstream file(PACELINE_SOURCE_DIR "/experiments/same_prices.toml");
  std::set<std::string_view> run{"none", "ddp"};
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find('"');
    if (!line.starts_with("  \"") && !line.starts_with("strategy = \"")) {
      continue;
    }
    const StrategySpec spec = parse_strategy(line.substr(begin + 1, line.rfind('"') - begin - 1));
    for (const RowInfo* row : {static_cast<const RowInfo*>(spec.schedule.row),
                               static_cast<const RowInfo*>(spec.exchange.row),
                               static_cast<const RowInfo*>(spec.codec.row),
                               static_cast<const RowInfo*>(spec.update.row)}) {
      run.insert(row->name);
    }
  }
  for (const AxisInfo& axis : strategy_axes()) {
    for (const RowInfo& row : axis.rows) {
      const bool external = axis.name == "whole" && parse_strategy(row.name).external();
      EXPECT_TRUE(external || run.contains(row.name)) << row.name;
    }
  }
}

TEST(Strategy, WithoutItsCodecIsAStrategyOfTheSameExchange) {
  for (const auto& [coded, plain] :
       {std::pair{"fusion+neighbor-allreduce:gamma=0.3+topk:density=0.1",
                  "fusion+neighbor-allreduce"},
        {"push-sum:topology=exp,gamma=1+qsgd", "push-sum:topology=exp"},
        {"bsp+hierarchical-neighbor-allreduce:local=2,gamma=0.5+bf16+awc",
         "bsp+hierarchical-neighbor-allreduce:local=2+awc"},
        {"wfbp+ps+fp16", "wfbp+ps"},
        {"fusion+rs-ag", "fusion+rs-ag"},
        {"ddp", "ddp"}}) {
    const StrategySpec without = parse_strategy(coded).without_codec();
    EXPECT_EQ(without.text(), parse_strategy(plain).text()) << coded;
    EXPECT_NE(make_planner(without), nullptr) << coded;
  }
}

}  // namespace
}  // namespace paceline::strategies
