// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/predict/run_record.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

using records::Span;
using records::Track;

std::vector<Span> of_category(const std::vector<Span>& spans, const std::string& category,
                              int rank = 0) {
  std::vector<Span> found;
  std::ranges::copy_if(spans, std::back_inserter(found), [&](const Span& span) {
    return span.category == category && span.rank == rank;
  });
  std::ranges::sort(found, {}, &Span::start_ns);
  return found;
}

std::int64_t end_of(const Span& span) { return span.start_ns + span.duration_ns; }

bool is_phase(const Span& span) { return span.name == "forward" || span.name == "backward"; }

// What rank/trace.cc makes of a run, and nothing else.
TEST(PredictedTrace, HasTheTracksCategoriesAndKeysOfAMeasuredOne) {
  using Kind = std::tuple<std::string, Track, std::set<std::string>>;
  std::set<Kind> kinds;
  for (const Span& span : predict(request("bsp", 8), true).spans) {
    std::set<std::string> keys;
    for (const auto& [key, value] : span.args) {
      keys.insert(key);
    }
    kinds.insert({span.category, span.track, keys});
  }
  const std::set<std::string> step{"step"};
  EXPECT_EQ(kinds, (std::set<Kind>{{"forward", Track::kForward, step},
                                   {"backward", Track::kBackward, step},
                                   {"wait", Track::kForward, step},
                                   {"update", Track::kUpdate, step},
                                   {"transfer", Track::kComm, {"bytes", "step"}}}));
}

// As in a run, the phases leave no gap, and hold what is told of in them.
TEST(PredictedTrace, PhasesFollowEachOtherAndHoldTheirModules) {
  const auto spans = predict(request("wfbp", 8), true).spans;
  std::vector<Span> phases;
  for (const char* category : {"forward", "backward"}) {
    std::ranges::copy_if(of_category(spans, category), std::back_inserter(phases), is_phase);
  }
  std::ranges::sort(phases, {}, &Span::start_ns);
  ASSERT_GT(phases.size(), 4U);
  EXPECT_EQ(phases.front().start_ns, 0);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    EXPECT_EQ(phases[i].name, i % 2 == 0 ? "forward" : "backward");
    EXPECT_EQ(phases[i].args.at("step"), static_cast<std::int64_t>(i / 2));
    EXPECT_TRUE(i == 0 || phases[i].start_ns == end_of(phases[i - 1])) << i;
  }
  for (const Span& span : spans) {
    if (span.rank != 0 || is_phase(span) ||
        (span.category != "forward" && span.category != "backward")) {
      continue;
    }
    const bool inside = std::ranges::any_of(phases, [&](const Span& phase) {
      return phase.category == span.category && phase.args == span.args &&
             phase.start_ns <= span.start_ns && end_of(span) <= end_of(phase);
    });
    EXPECT_TRUE(inside) << span.name;
    EXPECT_TRUE(span.name.starts_with(span.category + ", ")) << span.name;
  }
}

TEST(PredictedTrace, WaitsAreWhereTheTrainingThreadStands) {
  const Prediction at = predict(request("bsp", 8), true);
  const std::vector<Span> waits = of_category(at.spans, "wait");
  const auto steps = at.times.steps.size();
  ASSERT_GE(waits.size(), steps - 1);
  for (const Span& wait : waits) {
    EXPECT_TRUE(wait.name.starts_with("wait for forward, ")) << wait.name;
    EXPECT_GT(wait.duration_ns, 0);
  }
  // The last one lasts as long as what is exposed, and the update.
  EXPECT_NEAR(static_cast<double>(waits.back().duration_ns),
              static_cast<double>(at.times.step - at.times.compute) / 1000, 2);
  EXPECT_TRUE(of_category(predict(request("none", 1), true).spans, "transfer").empty());
}

TEST(PredictedTrace, PiecesOfATensorHaveNamesOfTheirOwn) {
  for (const char* strategy :
       {"bytescheduler:partition-mb=1,credit-mb=4", "bsp+ps:partition-mb=1"}) {
    const auto transfers = of_category(predict(request(strategy, 8), true).spans, "transfer");
    std::set<std::string> names;
    std::int64_t of_first_step = 0;
    for (const Span& span : transfers) {
      if (span.args.at("step") == 0) {
        names.insert(span.name);
        ++of_first_step;
      }
    }
    EXPECT_GT(of_first_step, 10) << strategy;
    EXPECT_EQ(names.size(), static_cast<std::size_t>(of_first_step)) << strategy;
  }
}

TEST(PredictedTrace, NamesHostsAndForHowManyARankStands) {
  const Prediction folded = predict(request("bsp", 8), true);
  ASSERT_EQ(folded.job->actors.size(), 1U);
  EXPECT_EQ(folded.rank_names, (std::map<int, std::string>{{0, "n0; 7 others do the same"}}));
  PredictRequest noisy = request("bsp", 5);
  noisy.noise = {.seed = 7, .sigma = 0.05};
  const Prediction each = predict(noisy, true);
  EXPECT_EQ(each.rank_names.size(), 5U);
  EXPECT_EQ(each.rank_names.at(4), "n1");
  std::ostringstream text;
  records::write_trace(text, each.spans, {.ranks = each.rank_names});
  EXPECT_NE(text.str().find("\"rank 4 (n1)\""), std::string::npos);
}

}  // namespace
}  // namespace paceline::predict
