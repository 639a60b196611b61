// SPDX-License-Identifier: Apache-2.0
// Embedding tables whose rows and dense part travel on an engine:
//
//   embedding_engines_test launch ENGINE
//
// starts five ranks, each of which trains its part of some jobs on integers and compares it with
// what one process computes, bit for bit.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "paceline/engines/c10d_store.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/job_launch.h"
#include "paceline/rank/rank_group.h"
#include "rank/embedding_reference.h"
#include "rank/small_case.h"

namespace paceline::rank {
namespace {

// A mean over 1, 2 or 4 trainers is exact.
const std::vector<Job> kJobs{{.name = "table"},
                             {.name = "hash", .trainers = 1, .servers = 3, .placement = "row-hash"},
                             {.name = "range", .placement = "row-range"},
                             {.name = "replicas", .placement = "replicated"},
                             {.name = "sequential", .strategy = "dear", .as_original = true},
                             {.name = "trainers", .trainers = 4, .servers = 0}};

/// Whether this rank's part of the job ends as that of one process does.
bool agrees(const Job& job, const std::string& engine, const engines::World& world) {
  auto c = case_of(job);
  c.engine = engine;
  const Trained one = OneProcess(c, true).train(1);
  const auto carrier = engines::make_engine(c.engine);
  RankGroup group = make_rank_group(world, c, *carrier, job.name, "");
  Trainer trainer(c, group, options_of(c, true));
  trainer.step();
  trainer.drain();
  bool equal = true;
  if (trainer.trains()) {
    equal = testing::identical(one.dense.end, dense_of(trainer)) &&
            !testing::identical(one.dense.start, one.dense.end);
  }
  const bool serves = c.servers == 0 || (!trainer.trains() && group.rank + 1 < c.ranks);
  if (serves) {
    auto changed = testing::copies(one.tables.start);
    take_rows(trainer, changed);
    auto ended = testing::copies(one.tables.end);
    take_rows(trainer, ended);
    equal = equal && testing::identical(ended, one.tables.end) &&
            !testing::identical(changed, one.tables.start);
  }
  std::printf("rank %d, %s: %s\n", group.rank, job.name.c_str(), equal ? "equal" : "DIFFERENT");
  return equal;
}

int train(const std::string& engine, const engines::RankContext& context) {
  at::set_num_threads(1);
  engines::make_engine(engine)->start(std::chrono::seconds(30));
  bool all = true;
  for (const Job& job : kJobs) {
    if (context.world.self.rank < case_of(job).ranks) {
      all = agrees(job, engine, context.world) && all;
    }
  }
  return all ? 0 : 1;
}

int launch_ranks(const std::string& program, const std::string& engine) {
  launch::JobLaunch job;
  job.serve_store = engines::serve_key_value_store;
  job.hosts = {{.host = launch::host_name(), .ranks = 5, .argv = {program, "rank", engine}}};
  if (const auto mpirun = engines::find_engine(engine).mpirun; !mpirun.empty()) {
    job.mpirun = mpirun;
  }
  const auto outcome = launch::launch_job(job);
  std::printf("%s\n", outcome.message.c_str());
  return outcome.exit_code;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[1] == "launch") {
    return launch_ranks(words[0], words[2]);
  }
  if (words.size() == 3 && words[1] == "rank") {
    return engines::run_rank(
        launch::detect_launch(""), std::chrono::seconds(20),
        [&](const engines::RankContext& context) { return train(words[2], context); });
  }
  std::fprintf(stderr, "%s launch ENGINE\n", words[0].c_str());
  return 2;
}

}  // namespace
}  // namespace paceline::rank

int main(int argc, char** argv) {
  const int code = paceline::rank::run(std::vector<std::string>(argv, argv + argc));
  std::fflush(nullptr);
  std::_Exit(code);
}
