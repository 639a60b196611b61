// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"
#include "paceline/plan/program.h"
#include "paceline/predict/case_request.h"
#include "paceline/rank/embedding_case.h"
#include "rank/embedding_reference.h"
#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// Embedding tables on servers, trained by several trainers over Gloo and by one process with
// PyTorch's own operators.

namespace paceline::rank {
namespace {

constexpr int kSteps = 10;

using testing::copies;
using testing::distance;

void run_steps(Trainer& trainer, const cases::Case& c, int steps) {
  for (int step = 0; step < steps; ++step) {
    trainer.step();
    if (c.staleness > 0) {
      trainer.drain();  // so that a lookup misses nothing
    }
  }
  trainer.drain();
}

/// Checks every rank's parameters; `check(what, found, expected)`.
template <class Check>
void train_and_check(const cases::Case& c, int steps, bool integers, const Check& check,
                     const MakeNetwork& make = make_network) {
  const Trained reference = OneProcess(c, integers, make).train(steps);
  for (const auto* part : {&reference.tables, &reference.dense}) {
    for (const at::Tensor& values : part->end) {
      ASSERT_LT(values.abs().max().item<double>(), 1e3);
    }
  }
  std::mutex mutex;
  std::vector<at::Tensor> tables = copies(reference.tables.start);
  testing::run_rank_threads_well(c.ranks, [&](const RankGroup& group) {
    Trainer trainer(c, group, options_of(c, integers, make));
    EXPECT_EQ(trainer.trains(), group.rank < c.trainers);
    run_steps(trainer, c, steps);
    const std::lock_guard lock(mutex);
    if (trainer.trains()) {
      check("rank " + std::to_string(group.rank), reference.dense, dense_of(trainer));
    }
    if (c.servers == 0 || (!trainer.trains() && group.rank + 1 < c.ranks)) {
      take_rows(trainer, tables);
      if (c.placement == "replicated") {
        check("replica", reference.tables, tables);
      }
    }
  });
  check("tables", reference.tables, tables);
}

class Embeddings : public ::testing::TestWithParam<Job> {};

TEST_P(Embeddings, TrainLikeOneProcess) {
  cases::Case c = case_of(GetParam());
  c.learning_rate = 0.03125;  // with which ten steps do not diverge
  train_and_check(c, GetParam().steps,
                  /*integers=*/false,
                  [](const std::string& what, const testing::Training& expected,
                     const std::vector<at::Tensor>& found) {
                    EXPECT_LE(distance(expected, found), 1e-10) << what;
                  });
}

INSTANTIATE_TEST_SUITE_P(
    All, Embeddings,
    ::testing::Values(
        Job{.name = "Table"}, Job{.name = "OneAndOne", .trainers = 1, .servers = 1},
        Job{.name = "LearningRateOfAStep", .lr_warmup = 7},
        Job{.name = "MoreServers", .trainers = 1, .servers = 3},
        Job{.name = "MoreTrainers", .trainers = 3, .servers = 1},
        Job{.name = "Ddp", .strategy = "ddp"},
        Job{.name = "Dear", .strategy = "dear", .model = "dlrm", .as_original = true},
        Job{.name = "RowHash",
            .servers = 3,
            .strategy = "bytescheduler:partition-mb=0.02,credit-mb=0.04",
            .placement = "row-hash"},
        Job{.name = "RowRange",
            .trainers = 3,
            .strategy = "wfbp",
            .placement = "row-range",
            .pooling = "mean"},
        Job{.name = "Replicated",
            .trainers = 3,
            .strategy = "bsp",
            .placement = "replicated",
            .zipf = 1.1},
        // Of several trainers one may see another's update of the same step, but in the first,
        // which is strict.
        Job{.name = "StaleButDrained", .trainers = 1, .staleness = 2},
        Job{.name = "StaleInTheFirstStep", .trainers = 3, .staleness = 2, .steps = 1},
        Job{.name = "HogwildButDrained", .trainers = 1, .placement = "row-hash", .staleness = 64},
        Job{.name = "Dlrm", .trainers = 3, .model = "dlrm"},
        Job{.name = "DlrmRowHash",
            .servers = 3,
            .strategy = "ddp",
            .placement = "row-hash",
            .zipf = 1.1,
            .model = "dlrm"},
        Job{.name = "OnTrainers", .trainers = 3, .servers = 0},
        Job{.name = "OnOneTrainer", .trainers = 1, .servers = 0},
        Job{.name = "OnTrainersRowHash",
            .trainers = 3,
            .servers = 0,
            .strategy = "ddp",
            .placement = "row-hash",
            .pooling = "mean",
            .rule = "adagrad"},
        Job{.name = "OnTrainersReplicated",
            .servers = 0,
            .strategy = "dear",
            .placement = "replicated",
            .zipf = 1.1},
        Job{.name = "OnTrainersDlrm", .servers = 0, .placement = "row-range", .model = "dlrm"},
        Job{.name = "Adagrad", .placement = "row-hash", .rule = "adagrad"},
        Job{.name = "RowwiseAdagrad",
            .trainers = 3,
            .placement = "row-range",
            .rule = "rowwise-adagrad"},
        Job{.name = "DenseGradients",
            .trainers = 3,
            .placement = "row-hash",
            .model = "dlrm",
            .as_original = true},
        Job{.name = "DenseAdagrad",
            .servers = 3,
            .rule = "adagrad",
            .model = "dlrm",
            .as_original = true}),
    [](const auto& test) { return test.param.name; });

TEST(EmbeddingsExactly, TrainLikeOneProcessOnIntegers) {
  for (const Job& job :
       {Job{.name = "Table", .servers = 3},
        Job{.name = "RowHash", .servers = 3, .placement = "row-hash"},
        Job{.name = "OnTrainers", .servers = 0},
        Job{.name = "OnFourTrainers", .trainers = 4, .servers = 0, .placement = "row-range"},
        Job{.name = "Bf16", .servers = 1, .row_dtype = "bf16"},
        Job{.name = "DenseGradients", .servers = 3, .as_original = true}}) {
    train_and_check(
        case_of(job), 1,
        /*integers=*/true,
        [&](const std::string& what, const testing::Training& expected,
            const std::vector<at::Tensor>& found) {
          EXPECT_TRUE(testing::identical(expected.end, found)) << job.name << ", " << what;
          EXPECT_FALSE(testing::identical(expected.start, found)) << job.name << ", " << what;
        });
  }
}

class Bags final : public torch::nn::Module, public networks::Gated {
 public:
  Bags(int bags, int width) : pooled_(register_parameter("pooled", torch::zeros({bags, width}))) {}
  at::Tensor forward(std::int64_t bags) {
    return run_through_gates([&] { return pooled_.narrow(0, 0, bags); });
  }

 private:
  at::Tensor pooled_;
};

/// One layer behind the bags.  The loss on integers is linear in its weights and in the rows, so
/// that a step adds few bits and some steps stay exact.
class OneLayer final : public networks::Classifier {
 public:
  OneLayer(int bags, int width)
      : layer_(register_module("layer", networks::Linear(width, 8))),
        bags_(register_module("embedding_bags", std::make_shared<Bags>(bags, width))) {}
  bool numbers_parameters_by_registration() const override { return true; }
  at::Tensor forward(const at::Tensor& input) override {
    return layer_(bags_->forward(input.size(0)));
  }

 private:
  networks::Linear layer_;
  std::shared_ptr<Bags> bags_;
};

TEST(EmbeddingsExactly, TrainLikeOneProcessForSomeSteps) {
  for (const auto& [trainers, servers] : {std::pair{2, 3}, {4, 1}, {2, 0}}) {
    for (const char* placement : {"table", "row-hash", "row-range", "replicated"}) {
      cases::Case c =
          case_of({.name = "", .trainers = trainers, .servers = servers, .placement = placement});
      c.momentum = 0.5;
      train_and_check(
          c, 3,
          /*integers=*/true,
          [&](const std::string& what, const testing::Training& expected,
              const std::vector<at::Tensor>& found) {
            EXPECT_TRUE(testing::identical(expected.end, found))
                << c.trainers << " + " << c.servers << ", " << c.placement << ", " << what;
          },
          [](const cases::Case& one) {
            const auto job = *embedding_job_of(one);
            return std::make_shared<OneLayer>(static_cast<int>(job.bags.most_bags()),
                                              static_cast<int>(job.width()));
          });
    }
  }
}

/// The tables after some steps on real numbers.
std::vector<at::Tensor> tables_after(const cases::Case& c, int steps) {
  std::mutex mutex;
  std::vector<at::Tensor> tables;
  for (int table = 0; table < c.servers; ++table) {
    tables.push_back(at::zeros({c.embeddings, c.embedding_dim}, at::kDouble));
  }
  testing::run_rank_threads_well(c.ranks, [&](const RankGroup& group) {
    Trainer trainer(c, group, options_of(c, /*integers=*/false));
    run_steps(trainer, c, steps);
    const std::lock_guard lock(mutex);
    if (!trainer.trains() && group.rank + 1 < c.ranks) {
      take_rows(trainer, tables);
    }
  });
  return tables;
}

TEST(EmbeddingsExactly, EndAlikeWithSparseAndDenseGradients) {
  for (const Job& job : {Job{.name = "Sgd", .model = "dlrm"},
                         Job{.name = "Adagrad", .rule = "adagrad", .model = "dlrm"},
                         Job{.name = "RowwiseAdagrad", .rule = "rowwise-adagrad", .model = "dlrm"},
                         Job{.name = "Bf16", .row_dtype = "bf16", .model = "dlrm"},
                         Job{.name = "Stale", .trainers = 1, .staleness = 1, .model = "dlrm"}}) {
    cases::Case c = case_of(job);
    c.learning_rate = 0.03125;  // with which ten steps do not diverge
    const auto sparse = tables_after(c, kSteps);
    c.as_original = true;  // of which DLRM has the dense gradients
    EXPECT_TRUE(testing::identical(sparse, tables_after(c, kSteps))) << job.name;
  }
}

// The simulator's half has no torch module to derive the shape from.
TEST(EmbeddingsPredicted, HaveTheShapeOfTheTorchModule) {
  for (const char* model : {"hybrid", "dlrm"}) {
    const auto c = case_of({.name = "", .servers = 3, .model = model});
    const plan::ModelShape traced = shape_of(c);
    predict::PredictRequest request;
    predict::set_tables(c, request);
    const plan::ModelShape& told = request.network.model;
    EXPECT_EQ(told.name, model);
    EXPECT_EQ(told.modules, traced.modules);
    EXPECT_EQ(told.ready_order, traced.ready_order);
    ASSERT_EQ(told.parameters.size(), traced.parameters.size());
    for (std::size_t p = 0; p < told.parameters.size(); ++p) {
      EXPECT_EQ(told.parameters[p].name, traced.parameters[p].name);
      EXPECT_EQ(told.parameters[p].sizes, traced.parameters[p].sizes);
      EXPECT_EQ(told.parameters[p].elements, traced.parameters[p].elements);
      EXPECT_EQ(told.parameters[p].module, traced.parameters[p].module);
    }
    EXPECT_EQ(request.network.work.size(), traced.modules.size());
    EXPECT_EQ(request.ranks, 6);
  }
}

}  // namespace
}  // namespace paceline::rank
