// SPDX-License-Identifier: Apache-2.0
// A prediction's trace beside that of the run that it predicts.
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/inputs.h"
#include "cli/program.h"

namespace paceline {
namespace {

using nlohmann::json;

/// What a viewer shows of a trace, but for times.
struct Shown {
  std::string processes;  // their names, digits and hosts' names apart
  /// Track, category and keys of args.
  std::set<std::tuple<std::string, std::string, std::set<std::string>>> kinds;
  /// Name and bytes; of rank 0, as others' slices have other names, and may
  /// be left to it to stand for them.
  std::set<std::pair<std::string, std::int64_t>> transfers;
  std::set<std::string> phases, updates;  // names
};

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) {
    keys.insert(key);
  }
  return keys;
}

std::string shape_of(const std::string& process) {
  const std::size_t host = process.find(" (");
  return process.substr(0, 5) +  // "rank "
         (host != std::string::npos && process.ends_with(')') ? "(host)" : "");
}

Shown shown(const fs::path& path) {
  std::ifstream file(path);
  const json trace = json::parse(file);
  std::map<std::pair<int, int>, std::string> tracks;
  Shown all;
  for (const json& event : trace.at("traceEvents")) {
    const std::pair thread(event.at("pid").get<int>(), event.at("tid").get<int>());
    const std::string name = event.at("name");
    if (name == "process_name") {
      all.processes = shape_of(event["args"]["name"]);
    } else if (name == "thread_name") {
      tracks[thread] = event["args"]["name"];
    } else if (event["ph"] == "X") {
      const std::string& track = tracks.at(thread);
      const std::string category = event.at("cat");
      all.kinds.insert({track.substr(0, track.find(' ')), category, keys_of(event.at("args"))});
      if (category == "transfer" && thread.first == 0) {
        all.transfers.insert({name, event["args"]["bytes"]});
      } else if (category == "update") {
        all.updates.insert(name);
      } else if (name == category) {
        all.phases.insert(name);
      }
    }
  }
  return all;
}

class Traces : public Program {
 protected:
  Traces() {
    write("theirs.json", kTwoTensors);
    write("two.toml", kTwoHosts);
  }
};

TEST_F(Traces, APredictionShowsWhatItsRunShows) {
  for (const char* const strategy :
       {"wfbp", "bsp+rs-ag", "dear", "bsp+ps", "fusion+neighbor-allreduce+awc",
        "fusion+push-sum+atc", "fusion+ps:partition-mb=0.01", "fusion+win-put+awc"}) {
    SCOPED_TRACE(strategy);
    const std::string job = std::string(" --ranks 2 --strategy ") + strategy;
    const Outcome measured = run(
        "run --replay theirs.json --link 10Mbit,1ms --warmup 1 --steps 3 --trace measured.json" +
        job);
    ASSERT_EQ(measured.exit_code, 0) << measured.err;
    const Outcome predicted =
        run("predict theirs.json --cluster two.toml --engine link --trace predicted.json" + job);
    ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
    const Shown left = shown(folder_ / "measured.json");
    const Shown right = shown(folder_ / "predicted.json");
    EXPECT_EQ(left.processes, "rank (host)");
    EXPECT_EQ(left.processes, right.processes);
    EXPECT_EQ(left.kinds, right.kinds);
    EXPECT_EQ(left.transfers, right.transfers);
    EXPECT_EQ(left.updates, right.updates);
    EXPECT_EQ(left.phases, (std::set<std::string>{"backward", "forward"}));
    EXPECT_EQ(left.phases, right.phases);
  }
}

// A name for each process of a trace.
std::set<std::string> processes_of(const fs::path& path) {
  std::ifstream file(path);
  const json trace = json::parse(file);
  std::map<int, std::string> names;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") {
      names[event.at("pid")] = event["args"]["name"];
    }
  }
  std::set<std::string> distinct;
  for (const auto& [process, name] : names) {
    distinct.insert(name);
  }
  EXPECT_EQ(distinct.size(), names.size());
  return distinct;
}

TEST_F(Traces, CasesAreProcessesOfTheirOwn) {
  const Outcome outcome =
      run("run --replay theirs.json --link 10Mbit,1ms --warmup 1 --steps 2 --ranks 1,2 --strategy "
          "bsp,wfbp --trace all.json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto names = processes_of(folder_ / "all.json");
  EXPECT_EQ(names.size(), 6U);
  EXPECT_TRUE(std::ranges::all_of(
      names, [](const std::string& name) { return name.find(": rank ") != std::string::npos; }));
}

}  // namespace
}  // namespace paceline
