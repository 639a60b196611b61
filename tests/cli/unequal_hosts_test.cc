// SPDX-License-Identifier: Apache-2.0
// Hosts that differ: a second host name in a namespace of its own, with fewer cores, joined by hand
// to a rank of this host.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program.h"
#include "paceline/base/stream.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

bool warns_of(const records::RunRecord& record, std::string_view code) {
  return std::ranges::any_of(record.warnings,
                             [code](const auto& warning) { return warning.code == code; });
}

class UnequalHosts : public Program {
 protected:
  void SetUp() override {
    if (run("list formats >stdout; " + kElsewhere + "taskset -c 0 true'").exit_code != 0) {
      GTEST_SKIP() << "needs unshare with user namespaces, and taskset";
    }
    if (run("list formats >stdout; exit $(nproc)").exit_code < 2) {
      GTEST_SKIP() << "needs two cores, so that a host can have fewer";
    }
  }

  /// Both ranks of `paceline run` with `flag`; stderr of both.
  Outcome run_on_both(const std::string& flag) const {
    const std::string line =
        std::string("'") + PACELINE_PROGRAM +
        "' run --model mlp --device cpu --ranks 2 --strategy bsp,hierarchical --batch-size 4 "
        "--warmup 1 --steps 3 --interface lo --timeout 20 --format csv " +
        flag;
    write("line", line);
    return run(
        "list formats >stdout; export WORLD_SIZE=2 MASTER_PORT=" + std::to_string(free_port()) +
        " MASTER_ADDR=127.0.0.1; RANK=0 taskset -c 0,1 sh line & "
        "RANK=1 " +
        kElsewhere + "exec taskset -c 0 sh line'; wait $!");
  }

  const std::string kElsewhere =
      "unshare --user --map-root-user --uts sh -c 'hostname elsewhere && ";
};

TEST_F(UnequalHosts, AreWarnedAbout) {
  const Outcome outcome = run_on_both("--records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning: the hosts differ: affinity: "), std::string::npos)
      << outcome.err;
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 2U);
  for (const records::RunRecord& one : records) {
    EXPECT_TRUE(warns_of(one, "hosts-differ"));
    EXPECT_FALSE(warns_of(one, "one-host-alone"));
    EXPECT_EQ(one.configuration.ranks_per_host, (std::vector<int>{1, 1}));
  }
}

TEST_F(UnequalHosts, AreRejectedWhereTheyMustNotBe) {
  const Outcome outcome = run_on_both("--require-same-topology");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(
      outcome.err.starts_with("paceline: --require-same-topology: the hosts differ: affinity: "))
      << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

}  // namespace
}  // namespace paceline
