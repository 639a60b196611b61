// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/operations.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paceline/base/random.h"
#include "paceline/report/diff_formats.h"

namespace paceline::report {
namespace {

using records::CommRecord;

CommRecord operation(const std::string& name, std::int64_t bytes, double us,
                     const std::string& started_at) {
  CommRecord one;
  one.started_at = started_at;
  one.operation = name;
  one.bytes = bytes;
  one.ranks = 8;
  one.engine = "nccl";
  one.device = "cuda";
  one.dtype = "fp32";
  one.iteration_ns = {std::llround(us * 1e3)};
  return one;
}

/// What a side does to an operation's time at a size.
using Factor = double (*)(const std::string& name, std::int64_t bytes);

double as_it_is(const std::string&, std::int64_t) { return 1; }

struct Tables {
  std::vector<CommRecord> base, test;
};

/// `runs` tables a side, in turns, of two operations at 4 B to 64 MiB, whose
/// times scatter by 1 %; those of the test are `factor` times as long.
Tables tables(int runs, Factor factor, bool dated = true) {
  Tables both;
  Random random(5);
  for (int run = 0; run < runs; ++run) {
    for (const bool test : {false, true}) {
      const std::string when =
          dated ? fmt::format("2026-01-01T00:{:02}:00Z", 2 * run + (test ? 1 : 0)) : "";
      for (const char* name : {"all-reduce", "broadcast"}) {
        for (std::int64_t bytes = 4; bytes <= 64 << 20; bytes *= 4) {
          const double us = 10 + static_cast<double>(bytes) * 1e-3;
          (test ? both.test : both.base)
              .push_back(operation(
                  name, bytes,
                  us * (test ? factor(name, bytes) : 1) * std::exp(0.01 * random.normal()), when));
        }
      }
    }
  }
  return both;
}

std::vector<std::string> labels(const Diff& diff, Verdict verdict) {
  std::vector<std::string> found;
  for (const DiffRow& row : diff.rows) {
    if (row.verdict == verdict) {
      found.push_back(row.label);
    }
  }
  return found;
}

using Labels = std::vector<std::string>;

TEST(Operations, SizesAreComparedByRange) {
  const Tables both = tables(8, as_it_is);
  const OperationSides sides = operation_sides(both.base, both.test);
  const Diff diff = diff_operations(sides);
  EXPECT_TRUE(diff.operations);
  EXPECT_EQ(diff.order, RunOrder::kInterleaved);
  EXPECT_EQ(labels(diff, Verdict::kUnproven),
            (Labels{"all-reduce 4 B to 1 KiB", "all-reduce 4 KiB to 16 KiB",
                    "all-reduce 64 KiB to 256 KiB", "all-reduce 1 MiB to 4 MiB",
                    "all-reduce 16 MiB to 64 MiB", "broadcast 4 B to 1 KiB",
                    "broadcast 4 KiB to 16 KiB", "broadcast 64 KiB to 256 KiB",
                    "broadcast 1 MiB to 4 MiB", "broadcast 16 MiB to 64 MiB"}));
  EXPECT_EQ(diff.rows[0].base_runs, 8u);
}

// The geometric mean of 10 us and 40 us is 20 us.
TEST(Operations, TheTimeOfARangeIsTheGeometricMeanOfItsSizes) {
  const std::vector<CommRecord> side{operation("all-reduce", 1024, 10, ""),
                                     operation("all-reduce", 2048, 40, "")};
  const OperationSides sides = operation_sides(side, side);
  ASSERT_EQ(sides.base.size(), 1u);
  EXPECT_EQ(sides.base[0].ranks[0].step_ns, std::vector<std::int64_t>{20'000});
}

TEST(Operations, AChangeIsNamedWithItsRange) {
  const Tables both = tables(10, [](const std::string& name, std::int64_t b) {
    return name == "broadcast" && b >= 1 << 20 && b < 16 << 20 ? 1.05 : 1.0;
  });
  const OperationSides sides = operation_sides(both.base, both.test);
  const Diff diff = diff_operations(sides);
  EXPECT_EQ(labels(diff, Verdict::kSlower), Labels{"broadcast 1 MiB to 4 MiB"});
  EXPECT_EQ(diff.decision(), Decision::kChanged);
  const std::string text = render_diff("table", diff);
  EXPECT_NE(text.find("operations by range of sizes"), std::string::npos);
  EXPECT_NE(text.find("slower, proven: broadcast 1 MiB to 4 MiB"), std::string::npos) << text;
  EXPECT_EQ(text.find("step"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(render_diff("json", diff))["compared"], "time of operations");
}

TEST(Operations, TheirMachinesAndVersionsAreCompared) {
  Tables both = tables(6, as_it_is);
  for (CommRecord& one : both.base) {
    one.environment.nccl_version = "2.27.3";
    one.environment.hosts = {{"a", {{"cores", "8"}}, ""}};
  }
  for (CommRecord& one : both.test) {
    one.environment.nccl_version = "2.28.1";
    one.environment.hosts = {{"b", {{"cores", "8"}}, ""}};
  }
  const OperationSides sides = operation_sides(both.base, both.test);
  const Diff diff = diff_operations(sides);
  ASSERT_EQ(diff.software.size(), 1u);
  EXPECT_EQ(diff.software[0], (Difference{"nccl_version", "2.27.3", "2.28.1"}));
  ASSERT_EQ(diff.warnings.size(), 1u);
  EXPECT_EQ(diff.warnings[0].code, "machines-differ");
}

TEST(Operations, WhatOneSideLacksIsMissing) {
  Tables both = tables(8, as_it_is);
  std::erase_if(both.test, [](const CommRecord& one) {
    return one.operation == "broadcast" || one.bytes == 4;
  });
  std::erase_if(both.base, [](const CommRecord& one) {
    return one.operation == "all-reduce" && one.bytes > 1 << 20;
  });
  const OperationSides sides = operation_sides(both.base, both.test);
  EXPECT_EQ(sides.unpaired, (Labels{"all-reduce 4 B only in the base",
                                    "all-reduce 4 MiB to 64 MiB only in the test",
                                    "broadcast 4 B to 64 MiB only in the base"}));
  const Diff diff = diff_operations(sides, {.threshold = 0.05});
  EXPECT_EQ(diff.decision(), Decision::kUndecided);
  EXPECT_EQ(diff.missing, sides.unpaired);
  EXPECT_EQ(labels(diff, Verdict::kUnchanged).size(), 4u);
}

TEST(Operations, AnotherEngineIsADifferenceOfThePair) {
  Tables both = tables(6, as_it_is);
  for (CommRecord& one : both.test) {
    one.engine = "mpi";
  }
  const OperationSides sides = operation_sides(both.base, both.test);
  EXPECT_EQ(sides.differences, (std::vector<Difference>{{"engine", "nccl", "mpi"}}));
  const Diff diff = diff_operations(sides);
  EXPECT_EQ(diff.rows.size(), 10u);
  EXPECT_EQ(diff.software.front(), (Difference{"engine", "nccl", "mpi"}));
  // Two engines on a side are two operations.
  both.base.insert(both.base.end(), both.test.begin(), both.test.end());
  const OperationSides mixed = operation_sides(both.base, both.test);
  EXPECT_EQ(diff_operations(mixed).rows[0].label, "all-reduce mpi 4 B to 1 KiB");
}

TEST(Operations, InPlaceIsAnOperationOfItsOwn) {
  Tables both = tables(6, as_it_is);
  for (auto* side : {&both.base, &both.test}) {
    for (CommRecord& one : *side) {
      one.place = "out-of-place";
      one.in_place = records::InPlace{one.iteration_ns, 0};
    }
  }
  const OperationSides sides = operation_sides(both.base, both.test);
  EXPECT_EQ(diff_operations(sides).rows.size(), 20u);
}

TEST(Operations, WrongValuesProveNothing) {
  Tables both = tables(8, [](const std::string&, std::int64_t) { return 1.5; });
  both.test[0].wrong_elements = 3;
  const OperationSides sides = operation_sides(both.base, both.test);
  const Diff diff = diff_operations(sides);
  EXPECT_EQ(labels(diff, Verdict::kInvalid), Labels{"all-reduce 4 B to 1 KiB"});
  EXPECT_EQ(diff.warnings.front().code, kInvalidOperation);
}

// Logs of other programs do not say when they were taken.
TEST(Operations, UndatedTablesArePermutedFreely) {
  const Tables both = tables(6, as_it_is, false);
  const OperationSides sides = operation_sides(both.base, both.test);
  EXPECT_EQ(diff_operations(sides).order, RunOrder::kUnknown);
}

}  // namespace
}  // namespace paceline::report
