// SPDX-License-Identifier: Apache-2.0
// PyTorch's Reducer driven from C++ against Python's DistributedDataParallel
// of the same wheel: equal bits, step by step, in every world.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paceline/base/stream.h"
#include "paceline/rank/child.h"
#include "paceline/rank/trainer.h"
#include "rank/run_rank_threads.h"

namespace paceline::rank {
namespace {

// The Reducer rebuilds its buckets in the second, of a static graph in the third.
constexpr int kSteps = 4;

// By step: loss, gradients and parameters of one rank, as hexadecimal fingerprints by name.
using Trace = std::vector<std::map<std::string, std::string>>;

struct Settings {
  int world;
  bool best;  // bucket views and a static graph
  std::string optimizer = "sgd";
};

cases::Case lenet(const Settings& settings) {
  cases::Case c;
  c.model = "lenet";
  c.batch_size = 5;
  c.strategy = settings.best ? "ddp:bucket-mb=0.1,views=yes,static=yes" : "ddp:bucket-mb=0.1";
  c.optimizer = settings.optimizer;
  c.learning_rate = 0.05;
  c.seed = 11;
  c.threads = 1;
  return c;
}

std::vector<Trace> python_traces(const cases::Case& c, const Settings& settings) {
  const nlohmann::json description = {{"model", c.model},
                                      {"batch_size", c.batch_size},
                                      {"bucket_mb", 0.1},
                                      {"threads", c.threads},
                                      {"seed", c.seed},
                                      {"optimizer", c.optimizer},
                                      {"learning_rate", c.learning_rate},
                                      {"momentum", c.momentum},
                                      {"weight_decay", c.weight_decay},
                                      {"warmup", 0},
                                      {"steps", kSteps},
                                      {"options", settings.best ? "best" : "defaults"},
                                      {"dump", "formula"}};
  const std::string port = std::to_string(free_port());
  std::vector<std::unique_ptr<Child>> ranks;
  for (int rank = 0; rank < settings.world; ++rank) {
    ranks.push_back(std::make_unique<Child>(
        std::vector<std::string>{PACELINE_PYTHON, "-u",
                                 PACELINE_SOURCE_DIR "/python/paceline/run_module.py",
                                 "paceline.adapters.python_ddp"},
        std::map<std::string, std::string>{{"RANK", std::to_string(rank)},
                                           {"LOCAL_RANK", std::to_string(rank)},
                                           {"WORLD_SIZE", std::to_string(settings.world)},
                                           {"MASTER_ADDR", "127.0.0.1"},
                                           {"MASTER_PORT", port},
                                           {"PYTHONPATH", PACELINE_TORCH "/.."},
                                           {"PYTHONDONTWRITEBYTECODE", "1"},
                                           {"PACELINE_CASE", description.dump()}}));
  }
  std::vector<Trace> traces;
  for (auto& rank : ranks) {
    Trace trace;
    while (const auto line = rank->read_line(std::chrono::minutes(3), [] {})) {
      const auto event = nlohmann::json::parse(*line);
      EXPECT_NE(event.at("event"), "error") << *line;
      if (event.at("event") == "dump") {
        std::map<std::string, std::string> step;
        for (const std::string kind : {"gradients", "parameters"}) {
          for (const auto& [name, bits] : event.at(kind).items()) {
            step[kind + " " + name] = bits;
          }
        }
        trace.push_back(step);
      }
    }
    EXPECT_EQ(rank->wait(), 0);
    traces.push_back(trace);
  }
  return traces;
}

std::vector<Trace> our_traces(const cases::Case& c, int world) {
  std::vector<Trace> traces(static_cast<std::size_t>(world));
  testing::run_rank_threads_well(world, [&](const RankGroup& group) {
    Trainer trainer(c, group);
    {
      // Thread ranks share torch's random generator; a formula does not.
      const at::NoGradGuard no_grad;
      networks::fill_by_formula(trainer.network(), c.seed);
    }
    Trace& trace = traces[static_cast<std::size_t>(group.rank)];
    for (int i = 0; i < kSteps; ++i) {
      trainer.step();
      trainer.drain();
      std::map<std::string, std::string> step;
      for (const auto& item : trainer.network().named_parameters()) {
        step["gradients " + item.key()] =
            fmt::format("{:016x}", networks::fingerprint(item.value().grad()));
        step["parameters " + item.key()] =
            fmt::format("{:016x}", networks::fingerprint(item.value()));
      }
      trace.push_back(step);
    }
  });
  return traces;
}

class PythonDdp : public ::testing::TestWithParam<Settings> {};

TEST_P(PythonDdp, IsMatchedBitForBit) {
  const int world = GetParam().world;
  const auto c = lenet(GetParam());
  const auto theirs = python_traces(c, GetParam());
  const auto ours = our_traces(c, world);
  ASSERT_EQ(theirs.size(), ours.size());
  for (int rank = 0; rank < world; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    ASSERT_EQ(theirs[r].size(), static_cast<std::size_t>(kSteps));
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_EQ(ours[r][static_cast<std::size_t>(step)], theirs[r][static_cast<std::size_t>(step)])
          << "rank " << rank << " of " << world << ", step " << step;
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Settings>& row) {
  const std::string rule = row.param.optimizer;
  std::string name = rule;
  std::erase(name, '-');
  return std::to_string(row.param.world) + (row.param.best ? "_best" : "") +
         (rule == "sgd" ? "" : "_" + name);
}

// Of other optimizers PyTorch has no fused kernel, and its operators round otherwise
// (runtime/optimizers_test.cc).
INSTANTIATE_TEST_SUITE_P(Worlds, PythonDdp,
                         ::testing::Values(Settings{1, false}, Settings{2, false},
                                           Settings{2, true}, Settings{3, true},
                                           Settings{2, true, "adam"}, Settings{2, true, "adamw"},
                                           Settings{2, true, "bert-adamw"},
                                           Settings{2, true, "adagrad"}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(NightlyWorlds, PythonDdp,
                         ::testing::Values(Settings{1, true}, Settings{3, false},
                                           Settings{7, false}, Settings{7, true}),
                         name_of);

}  // namespace
}  // namespace paceline::rank
