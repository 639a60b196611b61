// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>

#include <torch/optim.h>
#include <torch/types.h>

#include "paceline/base/random.h"
#include "paceline/case/learning_rate.h"
#include "paceline/networks/bags.h"
#include "paceline/networks/network.h"
#include "paceline/plan/program.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/planner_input.h"
#include "rank/irregular_network.h"

// A job with embedding tables, and one process that trains it with PyTorch's own operators.

namespace paceline::rank {

struct Job {
  std::string name;
  int trainers = 2, servers = 2;
  std::string strategy = "fusion", placement = "table";
  std::string pooling = "sum";
  double zipf = 0;
  std::string rule = "sgd", row_dtype = "fp32";
  int lr_warmup = 0, staleness = 0;
  std::string model = "hybrid";
  int steps = 10;
  bool as_original = false;
};

inline cases::Case case_of(const Job& job) {
  cases::Case c = testing::small_case(job.model, job.strategy);
  c.trainers = job.trainers;
  c.servers = job.servers;
  c.ranks = embedding_job_of(c)->ranks();
  c.embeddings = 37;
  c.embedding_dim = 6;
  c.placement = job.placement;
  c.pooling = job.pooling;
  c.as_original = job.as_original;
  c.zipf = job.zipf;
  c.row_optimizer = job.rule;
  c.row_dtype = job.row_dtype;
  c.learning_rate = 0.25;
  c.lr_warmup = job.lr_warmup;
  c.staleness = job.staleness;
  return c;
}

inline std::shared_ptr<networks::Network> make_network(const cases::Case& c) {
  auto network = networks::find_network(c.model).make(network_options(c));
  networks::fill_by_formula(*network, 11);  // the same in every thread
  return network;
}

/// Makes a network behind the bags of a case.
using MakeNetwork = std::function<std::shared_ptr<networks::Network>(const cases::Case&)>;

inline TrainerOptions options_of(const cases::Case& c, bool integers,
                                 const MakeNetwork& make = make_network) {
  return {.integers = integers,
          .network = [c, make] { return make(c); },
          .dtype = integers ? at::kFloat : at::kDouble};
}

/// Tables and dense parameters, before and after.
struct Trained {
  testing::Training tables, dense;
};

/// One process with all tables, on the mean of the trainers' losses.
class OneProcess {
 public:
  OneProcess(const cases::Case& c, bool integers, const MakeNetwork& make = make_network)
      : c_(c),
        job_(*embedding_job_of(c)),
        type_(integers ? at::kFloat : at::kDouble),
        network_(make(c)) {
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
    Trained result{{testing::copies(tables_), {}}, {testing::copies(dense_), {}}};
    for (const at::Tensor& table : tables_) {
      states_.push_back(at::zeros({job_.rows, c_.row_optimizer == "adagrad" ? job_.dim : 1},
                                  table.options().requires_grad(false)));
    }
    torch::optim::SGD dense(dense_,
                            torch::optim::SGDOptions(c_.learning_rate).momentum(c_.momentum));
    for (int step = 0; step < steps; ++step) {
      dense.zero_grad();
      for (int trainer = 0; trainer < job_.trainers; ++trainer) {
        accumulate({.seed = c_.seed, .trainer = trainer, .step = step});
      }
      const double rate = cases::learning_rate_at(c_, step);
      update_rows(rate);
      static_cast<torch::optim::SGDOptions&>(dense.param_groups().front().options()).lr(rate);
      dense.step();
    }
    result.tables.end = testing::copies(tables_);
    result.dense.end = testing::copies(dense_);
    return result;
  }

 private:
  at::Tensor drawn(int table) const {
    const at::Tensor rows = at::empty({job_.rows, job_.dim}, at::kDouble);
    for (plan::Elements id = 0; id < job_.rows; ++id) {
      Random random(c_.seed,
                    (std::uint64_t{1} << 63U) | static_cast<std::uint64_t>(table * job_.rows + id));
      for (plan::Elements d = 0; d < job_.dim; ++d) {
        rows[id][d] = job_.integers ? static_cast<double>(random.below(3)) - 1 : random.normal();
      }
    }
    return rounded(rows.to(type_));
  }

  at::Tensor bags_of(const networks::LookupBatchKey& key) const {
    auto offsets = networks::draw_offsets(job_, key);
    const auto lookups = offsets.back();
    offsets.pop_back();
    std::vector<at::Tensor> bags;
    for (int table = 0; table < job_.tables; ++table) {
      const auto ids = networks::draw_ids(job_, key, table, lookups);
      bags.push_back(std::get<0>(
          at::embedding_bag(tables_[static_cast<std::size_t>(table)], at::tensor(ids, at::kLong),
                            at::tensor(offsets, at::kLong), false, job_.mean ? 1 : 0)));
    }
    return at::cat(bags, 1);
  }

  void accumulate(const networks::LookupBatchKey& key) {
    const at::Tensor bags = bags_of(key);
    const auto batch =
        networks::draw_dense_batch(job_, key, networks::find_network(c_.model), type_);
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
        states_[i].add_(c_.row_optimizer == "adagrad" ? squares : squares.mean(1, true));
        gradient = gradient / (states_[i].sqrt() + 1e-10);
      }
      tables_[i].sub_(gradient * rate);
      tables_[i].copy_(rounded(tables_[i]));
    }
  }

  at::Tensor rounded(const at::Tensor& rows) const {
    return job_.bf16_rows ? rows.to(at::kBFloat16).to(type_) : rows;
  }

  cases::Case c_;
  strategies::EmbeddingJob job_;
  at::ScalarType type_;
  std::shared_ptr<networks::Network> network_;
  at::Tensor pooled_;
  std::vector<at::Tensor> dense_, tables_, states_;
};

/// Those rows of the tables that a server has; the others keep their values.
inline void take_rows(const Trainer& server, std::vector<at::Tensor>& tables) {
  const auto& setup = server.setup();
  const at::Tensor rows =
      server.memory().view(plan::whole(setup, plan::buffer_named(setup, "embedding_rows")));
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

inline std::vector<at::Tensor> dense_of(Trainer& trainer) {
  std::vector<at::Tensor> dense;
  for (const auto& item : trainer.network().named_parameters()) {
    if (item.key() != "embedding_bags.pooled") {
      dense.push_back(item.value().detach().clone());
    }
  }
  return dense;
}

}  // namespace paceline::rank
