// SPDX-License-Identifier: Apache-2.0
// Experiments whose model has embedding tables.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "case/adapters.h"
#include "paceline/base/error.h"
#include "paceline/case/experiment.h"

namespace paceline::cases {
namespace {

TEST_F(Adapters, BesideEmbeddingTablesGradientsCross) {
  const auto with = [&](const char* strategy) {
    MachineFacts tables = machine();
    tables.models.emplace_back("hybrid");
    return cases({{"model", "hybrid"}, {"strategy", strategy}}, tables).size();
  };
  EXPECT_EQ(with("fusion"), 1U);
  EXPECT_THROW(with("neighbor-allreduce+atc"), UsageError);
  EXPECT_THROW(with("local-sgd"), UsageError);
  EXPECT_THROW(with("python-ddp"), UsageError);
  EXPECT_EQ(with("fusion+ps"), 1U);
  EXPECT_THROW(with("fusion+ps:placement=apart"), UsageError);
}

TEST_F(Adapters, TablesOnTrainersMakeNoRanksBeside) {
  const auto with = [&](const char* key, const char* value) {
    MachineFacts tables = machine();
    tables.models.emplace_back("hybrid");
    return cases({{"model", "hybrid"}, {"trainers", "2"}, {"servers", "0"}, {key, value}}, tables);
  };
  EXPECT_EQ(with("placement", "replicated").front().ranks, 2);
  EXPECT_THROW(with("staleness", "1"), UsageError);
  EXPECT_THROW(with("as_original", "true"), UsageError);
  EXPECT_THROW(with("ranks", "5"), UsageError);
}

TEST_F(Adapters, TablesLargerThanAnyMemoryAreRejected) {
  const auto rejection = [&](const std::string& rows, const char* numbers) -> std::string {
    MachineFacts tables = machine();
    tables.models.emplace_back("hybrid");
    try {
      cases({{"model", "hybrid"}, {"embeddings", rows}, {"embedding_dim", numbers}}, tables);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(rejection("1000", "64"), "");
  EXPECT_TRUE(rejection("1", "2000000000")
                  .starts_with("--embedding-dim: 2 tables of 2000000000 numbers in each row make "
                               "4000000000 numbers"));
  EXPECT_TRUE(rejection("2000000000", "1000000000")
                  .starts_with("--embeddings: 2000000000 rows of 1000000000 numbers in 2 tables "
                               "are 4.0e+18 numbers"));
}

TEST_F(Adapters, KeysOfTablesAreRejectedWhereThereAreNone) {
  for (const auto& [key, value] : {std::pair{"trainers", "3"},
                                   {"placement", "row-hash"},
                                   {"pooling", "mean"},
                                   {"row_optimizer", "adagrad"},
                                   {"row_dtype", "bf16"},
                                   {"zipf", "1"}}) {
    try {
      cases({{"model", "lenet"}, {key, value}}, machine());
      ADD_FAILURE() << key;
    } catch (const UsageError& error) {
      EXPECT_TRUE(std::string(error.what())
                      .ends_with(": model lenet has no embedding tables; "
                                 "those that have are hybrid, dlrm"))
          << error.what();
    }
  }
}

TEST_F(Adapters, AProgramOutsideTrainsNoTables) {
  MachineFacts tables = machine();
  tables.models.emplace_back("dlrm");
  using Values = std::vector<std::pair<std::string, std::string>>;
  const auto rejection = [&](Values values) -> std::string {
    values.emplace_back("model", "dlrm");
    try {
      cases(values, tables);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(rejection({{"command", "sh bench.sh"}, {"step_regex", "(.*)"}, {"batch_size", "4"}}),
            "--command: 'sh bench.sh' is an external program, which knows no model with embedding "
            "tables");
  EXPECT_EQ(rejection({{"strategy", "python-ddp"}}),
            "--strategy: 'python-ddp' is an external program, which knows no model with embedding "
            "tables");
}

TEST_F(Adapters, DlrmHasNoOriginal) {
  MachineFacts tables = machine();
  tables.models = {"hybrid", "dlrm"};
  EXPECT_TRUE(cases({{"model", "hybrid"}, {"as_original", "true"}}, tables).front().as_original);
  EXPECT_THROW(cases({{"model", "dlrm"}, {"as_original", "true"}}, tables), UsageError);
}

}  // namespace
}  // namespace paceline::cases
