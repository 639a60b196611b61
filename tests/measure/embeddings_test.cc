// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>
#include <set>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "measure/awkward.h"
#include "measure/run_team.h"
#include "paceline/base/random.h"
#include "paceline/measure/embedding_case.h"
#include "paceline/measure/shape_of.h"
#include "paceline/networks/bags.h"
#include "paceline/networks/network.h"
#include "paceline/plan/program.h"
#include "paceline/predict/tables.h"
#include "paceline/records/learning_rate.h"
#include "paceline/runtime/ragged.h"

// Embedding tables on servers, trained by several trainers over Gloo and by one
// process with PyTorch's own operators.

namespace paceline::measure {
namespace {

using testing::copies;
using testing::distance;

constexpr int kSteps = 10;

struct Job {
  std::string name;
  int trainers = 2, servers = 2;
  std::string strategy = "fusion", placement = "table";
  std::string pooling = "sum", lookup = "parallel";
  double zipf = 0;
  std::string rule = "sgd", row_dtype = "fp32";
  int lr_warmup = 0, staleness = 0;
  std::string model = "hybrid";
  int steps = kSteps;
};

records::Configuration case_of(const Job& job) {
  records::Configuration c = testing::small_case(job.model, job.strategy);
  c.trainers = job.trainers;
  c.servers = job.servers;
  c.ranks = embedding_job_of(c)->ranks();
  c.embeddings = 37;
  c.embedding_dim = 6;
  c.placement = job.placement;
  c.pooling = job.pooling;
  c.lookup = job.lookup;
  c.zipf = job.zipf;
  c.row_optimizer = job.rule;
  c.row_dtype = job.row_dtype;
  c.learning_rate = 0.25;
  c.lr_warmup = job.lr_warmup;
  c.staleness = job.staleness;
  return c;
}

std::shared_ptr<networks::Network> make_network(
    const records::Configuration& c) {
  auto network = networks::find_network(c.model).make(network_options(c));
  networks::fill_by_formula(*network, 11);  // the same in every thread
  return network;
}

TrainerOptions options_of(const records::Configuration& c, bool integers) {
  return {.integers = integers,
          .network = [c] { return make_network(c); },
          .dtype = integers ? at::kFloat : at::kDouble};
}

/// Tables and dense parameters, before and after.
struct Trained {
  testing::Training tables, dense;
};

/// One process with all tables, on the mean of the trainers' losses.
class OneProcess {
 public:
  OneProcess(const records::Configuration& c, bool integers)
      : c_(c),
        job_(*embedding_job_of(c)),
        type_(integers ? at::kFloat : at::kDouble),
        network_(make_network(c)) {
    job_.integers = integers;
    if (integers) {
      networks::fill_with_integers(*network_, c.seed);
    }
    networks::cast_network(*network_, type_);
    for (auto& item : network_->named_parameters()) {
      if (item.key() == "embedding_bags.pooled") {
        pooled_ = item.value();
      } else {
        dense_.push_back(item.value());
      }
    }
    for (int table = 0; table < job_.tables; ++table) {
      tables_.push_back(drawn(table).set_requires_grad(true));
    }
  }

  Trained train(int steps) {
    Trained result{{copies(tables_), {}}, {copies(dense_), {}}};
    for (const at::Tensor& table : tables_) {
      states_.push_back(
          at::zeros({job_.rows, c_.row_optimizer == "adagrad" ? job_.dim : 1},
                    table.options().requires_grad(false)));
    }
    torch::optim::SGD dense(
        dense_,
        torch::optim::SGDOptions(c_.learning_rate).momentum(c_.momentum));
    for (int step = 0; step < steps; ++step) {
      dense.zero_grad();
      for (int trainer = 0; trainer < job_.trainers; ++trainer) {
        accumulate({.seed = c_.seed, .trainer = trainer, .step = step});
      }
      const double rate = records::learning_rate_at(c_, step);
      update_rows(rate);
      static_cast<torch::optim::SGDOptions&>(
          dense.param_groups().front().options())
          .lr(rate);
      dense.step();
    }
    result.tables.end = copies(tables_);
    result.dense.end = copies(dense_);
    return result;
  }

 private:
  at::Tensor drawn(int table) const {
    const at::Tensor rows = at::empty({job_.rows, job_.dim}, at::kDouble);
    for (plan::Elements id = 0; id < job_.rows; ++id) {
      Random random(c_.seed,
                    (std::uint64_t{1} << 63U) |
                        static_cast<std::uint64_t>(table * job_.rows + id));
      for (plan::Elements d = 0; d < job_.dim; ++d) {
        rows[id][d] = job_.integers ? static_cast<double>(random.below(3)) - 1
                                    : random.normal();
      }
    }
    return rounded(rows.to(type_));
  }

  at::Tensor bags_of(const networks::BagKey& key) const {
    auto offsets = networks::draw_offsets(job_, key);
    const auto lookups = offsets.back();
    offsets.pop_back();
    std::vector<at::Tensor> bags;
    for (int table = 0; table < job_.tables; ++table) {
      const auto ids = networks::draw_ids(job_, key, table, lookups);
      bags.push_back(std::get<0>(
          at::embedding_bag(tables_[static_cast<std::size_t>(table)],
                            at::tensor(ids, at::kLong),
                            at::tensor(offsets, at::kLong),
                            false,
                            job_.mean ? 1 : 0)));
    }
    return at::cat(bags, 1);
  }

  void accumulate(const networks::BagKey& key) {
    const at::Tensor bags = bags_of(key);
    const auto batch = networks::draw_bag_batch(
        job_, key, networks::find_network(c_.model), type_);
    {
      const at::NoGradGuard no_grad;
      pooled_.narrow(0, 0, bags.size(0)).copy_(bags);
    }
    (network_->loss(batch) / job_.trainers).backward();
    bags.backward(pooled_.grad().narrow(0, 0, bags.size(0)));
    pooled_.mutable_grad().reset();
  }

  void update_rows(double rate) {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      at::Tensor gradient = tables_[i].grad().clone();
      tables_[i].mutable_grad().reset();
      if (c_.row_optimizer != "sgd") {
        const at::Tensor squares = gradient * gradient;
        states_[i].add_(c_.row_optimizer == "adagrad" ? squares
                                                      : squares.mean(1, true));
        gradient = gradient / (states_[i].sqrt() + 1e-10);
      }
      tables_[i].sub_(gradient * rate);
      tables_[i].copy_(rounded(tables_[i]));
    }
  }

  at::Tensor rounded(const at::Tensor& rows) const {
    return job_.bf16_rows ? rows.to(at::kBFloat16).to(type_) : rows;
  }

  records::Configuration c_;
  strategies::EmbeddingJob job_;
  at::ScalarType type_;
  std::shared_ptr<networks::Network> network_;
  at::Tensor pooled_;
  std::vector<at::Tensor> dense_, tables_, states_;
};

/// Those rows of the tables that a server has; the others keep their values.
void take_rows(const Trainer& server, std::vector<at::Tensor>& tables) {
  const auto& setup = server.setup();
  const at::Tensor rows = server.memory().view(
      plan::whole(setup, plan::buffer_named(setup, "embedding_rows")));
  const auto job = *embedding_job_of(server.configuration());
  const strategies::TableMap map(job);
  const int place = server.input().rank - job.first_server();
  for (int table = 0; table < job.tables; ++table) {
    for (plan::Elements id = 0; id < job.rows; ++id) {
      const auto row = map.find(table, id, place);
      if (row.server == place) {
        tables[static_cast<std::size_t>(table)][id].copy_(
            rows.narrow(0, row.row * job.dim, job.dim));
      }
    }
  }
}

std::vector<at::Tensor> dense_of(Trainer& trainer) {
  std::vector<at::Tensor> dense;
  for (const auto& item : trainer.network().named_parameters()) {
    if (item.key() != "embedding_bags.pooled") {
      dense.push_back(item.value().detach().clone());
    }
  }
  return dense;
}

/// Checks every rank's parameters; `check(what, found, expected)`.
template <class Check>
void train_and_check(const records::Configuration& c,
                     int steps,
                     bool integers,
                     const Check& check) {
  const Trained reference = OneProcess(c, integers).train(steps);
  for (const auto* part : {&reference.tables, &reference.dense}) {
    for (const at::Tensor& values : part->end) {
      ASSERT_LT(values.abs().max().item<double>(), 1e3);
    }
  }
  std::mutex mutex;
  std::vector<at::Tensor> tables = copies(reference.tables.start);
  testing::run_team_well(c.ranks, [&](const Team& team) {
    Trainer trainer(c, team, options_of(c, integers));
    EXPECT_EQ(trainer.trains(), team.rank < c.trainers);
    for (int step = 0; step < steps; ++step) {
      trainer.step();
      if (c.staleness > 0) {
        trainer.drain();  // so that a lookup misses nothing
      }
    }
    trainer.drain();
    const std::lock_guard lock(mutex);
    if (trainer.trains()) {
      check("rank " + std::to_string(team.rank),
            reference.dense,
            dense_of(trainer));
    }
    if (c.servers == 0 || (!trainer.trains() && team.rank + 1 < c.ranks)) {
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
  records::Configuration c = case_of(GetParam());
  c.learning_rate = 0.03125;  // with which ten steps do not diverge
  train_and_check(c,
                  GetParam().steps,
                  /*integers=*/false,
                  [](const std::string& what,
                     const testing::Training& expected,
                     const std::vector<at::Tensor>& found) {
                    EXPECT_LE(distance(expected, found), 1e-10) << what;
                  });
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Embeddings,
    ::testing::Values(
        Job{.name = "Table"},
        Job{.name = "OneAndOne", .trainers = 1, .servers = 1},
        Job{.name = "LearningRateOfAStep", .lr_warmup = 7},
        Job{.name = "MoreServers", .trainers = 1, .servers = 3},
        Job{.name = "MoreTrainers", .trainers = 3, .servers = 1},
        Job{.name = "Ddp", .strategy = "ddp"},
        Job{.name = "Dear", .strategy = "dear", .lookup = "sequential"},
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
        // Of several trainers one may see another's update of the same step,
        // but in the first, which is strict.
        Job{.name = "StaleButDrained", .trainers = 1, .staleness = 2},
        Job{.name = "StaleInTheFirstStep",
            .trainers = 3,
            .staleness = 2,
            .steps = 1},
        Job{.name = "HogwildButDrained",
            .trainers = 1,
            .placement = "row-hash",
            .staleness = 64},
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
        Job{.name = "OnTrainersDlrm",
            .servers = 0,
            .placement = "row-range",
            .model = "dlrm"},
        Job{.name = "Adagrad", .placement = "row-hash", .rule = "adagrad"},
        Job{.name = "RowwiseAdagrad",
            .trainers = 3,
            .placement = "row-range",
            .rule = "rowwise-adagrad"}),
    [](const auto& test) { return test.param.name; });

TEST(EmbeddingsExactly, TrainLikeOneProcessOnIntegers) {
  for (const Job& job :
       {Job{.name = "Table", .servers = 3},
        Job{.name = "RowHash", .servers = 3, .placement = "row-hash"},
        Job{.name = "OnTrainers", .servers = 0},
        Job{.name = "OnFourTrainers",
        .trainers = 4,
        .servers = 0,
        .placement = "row-range"},
        Job{.name = "Bf16", .servers = 1, .row_dtype = "bf16"}}) {
    train_and_check(case_of(job),
                    1,
                    /*integers=*/true,
                    [&](const std::string& what,
                        const testing::Training& expected,
                        const std::vector<at::Tensor>& found) {
                      EXPECT_TRUE(testing::identical(expected.end, found))
                          << job.name << ", " << what;
                      EXPECT_FALSE(testing::identical(expected.start, found))
                          << job.name << ", " << what;
                    });
  }
}

/// The distinct rows that a trainer wants of each server in a step.
std::map<int, std::int64_t> wanted(const strategies::EmbeddingJob& job,
                                   const networks::BagKey& key) {
  const strategies::TableMap map(job);
  std::map<int, std::set<plan::Elements>> rows;
  const auto lookups = networks::draw_offsets(job, key).back();
  for (int table = 0; table < job.tables; ++table) {
    for (const auto id : networks::draw_ids(job, key, table, lookups)) {
      const auto place = map.find(table, id, key.trainer);
      rows[place.server].insert(place.row);
    }
  }
  std::map<int, std::int64_t> counts;
  for (const auto& [server, set] : rows) {
    counts[server] = static_cast<std::int64_t>(set.size());
  }
  return counts;
}

// True lengths cross, with eight bytes that say them.
TEST(EmbeddingsSend, WhatWasLookedUpAndNoMore) {
  const auto c = case_of({.name = "", .trainers = 3, .placement = "row-hash"});
  const auto job = *embedding_job_of(c);
  testing::run_team_well(c.ranks, [&](const Team& team) {
    Trainer trainer(c, team, options_of(c, false));
    testing::booked(trainer, kSteps);
    std::int64_t expected = 0;
    for (int step = 0; step < kSteps; ++step) {
      for (int t = 0; t < c.trainers; ++t) {
        const networks::BagKey key{.seed = c.seed, .trainer = t, .step = step};
        for (const auto& [server, rows] : wanted(job, key)) {
          const std::int64_t values = 8 + 8 * rows * job.dim;
          expected += team.rank == t ? 8 + 8 * rows + values : 0;
          expected += team.rank == c.trainers + server ? values : 0;
        }
      }
    }
    EXPECT_EQ(trainer.ledger().bytes["message"], expected)
        << "rank " << team.rank;
  });
}

// What a trainer wants of its own rows does not cross.
TEST(EmbeddingsSend, NothingToThemselves) {
  const auto c = case_of({.name = "", .trainers = 3, .servers = 0});
  const auto job = *embedding_job_of(c);
  testing::run_team_well(c.ranks, [&](const Team& team) {
    Trainer trainer(c, team, options_of(c, false));
    testing::booked(trainer, kSteps);
    std::int64_t ids = 0, rows_in = 0, rows_out = 0;
    for (int step = 0; step < kSteps; ++step) {
      for (int t = 0; t < c.trainers; ++t) {
        const networks::BagKey key{.seed = c.seed, .trainer = t, .step = step};
        for (const auto& [server, rows] : wanted(job, key)) {
          const std::int64_t values = 8 + 8 * rows * job.dim;
          const bool crosses = server != t;
          ids += crosses && team.rank == t ? 8 + 8 * rows : 0;
          rows_in += crosses && team.rank == t ? values : 0;
          rows_out += crosses && team.rank == server ? values : 0;
        }
      }
    }
    EXPECT_EQ(trainer.ledger().bytes["message"], ids + rows_in + rows_out)
        << "rank " << team.rank;
    const records::Lookups lookups = *trainer.take_lookups();
    EXPECT_EQ(lookups.id_bytes, ids);
    EXPECT_EQ(lookups.row_bytes, rows_in);
    EXPECT_EQ(lookups.gradient_bytes, rows_in);
  });
}

// A table of one row is always looked up once, so that the typical length is
// the true one.
TEST(EmbeddingsSend, WhatTheirPlansSay) {
  auto c = case_of({.name = "", .trainers = 2, .servers = 3});
  c.embeddings = 1;
  testing::run_team_well(c.ranks, [&](const Team& team) {
    Trainer trainer(c, team, options_of(c, false));
    EXPECT_EQ(testing::booked(trainer, 3),
              testing::planned(trainer, team.rank, 3))
        << "rank " << team.rank;
  });
}

TEST(EmbeddingsStale, MissNoMoreStepsThanTheyMay) {
  auto c = case_of({.name = "", .trainers = 3, .staleness = 1});
  testing::run_team_well(c.ranks, [&](const Team& team) {
    Trainer trainer(c, team, options_of(c, false));
    for (int step = 0; step < 40; ++step) {
      trainer.step();
    }
    trainer.drain();
    std::int64_t lookups = 0;
    for (const auto& [missed, count] :
         lookups_by_steps_missed(trainer.executor().take_staleness())) {
      EXPECT_LE(missed, c.staleness);
      lookups += count;
    }
    const bool serves = !trainer.trains() && team.rank + 1 < c.ranks;
    EXPECT_EQ(lookups, serves ? 39 * c.trainers : 0);  // the first is strict
  });
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

TEST(EmbeddingsAlone, SendNothing) {
  auto c = case_of({.name = "", .strategy = "none"});
  testing::run_team_well(c.ranks, [&](const Team& team) {
    Trainer trainer(c, team, options_of(c, false));
    EXPECT_EQ(testing::booked(trainer, 3), testing::Booked{});
  });
}

}  // namespace
}  // namespace paceline::measure
