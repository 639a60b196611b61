// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "paceline/model/layer.h"
#include "paceline/plan/cost.h"
#include "train/run_team.h"
#include "train/small_case.h"

// Schedules that are cut by times or cross the step border, with real tensors:
// each must train like one process on the whole batch, last update included.

namespace paceline::train {
namespace {

using testing::small_case;

constexpr int kSteps = 20;

/// One frozen layer, one used twice, one that forward never reaches.
class Awkward final : public model::Network {
 public:
  Awkward() {
    first = register_module("first", model::Linear(3 * 8 * 8, 24));
    frozen = register_module("frozen", model::Linear(24, 24));
    twice = register_module("twice", model::Linear(24, 24));
    unused = register_module("unused", model::Linear(24, 5));
    last = register_module("last", model::Linear(24, 10));
    frozen->weight.set_requires_grad(false);
    frozen->bias.set_requires_grad(false);
    model::fill_by_formula(*this, 11);  // the same in every thread
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = at::tanh(first(input.flatten(1)));
    x = at::tanh(frozen(x));
    x = at::tanh(twice(x));
    return last(at::tanh(twice(x)));
  }

  model::Linear first{nullptr}, frozen{nullptr}, twice{nullptr},
      unused{nullptr}, last{nullptr};
};

record::Configuration awkward_case(const std::string& strategy) {
  auto c = small_case("resnet18", strategy);  // for its inputs alone
  c.image_size = 8;
  c.classes = 10;
  c.bucket_mb = 0.002;
  c.learning_rate = 0.1;
  return c;
}

TrainerOptions awkward_options() {
  return {.network = [] { return std::make_shared<Awkward>(); },
          .dtype = at::kDouble};
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) {
    all.push_back(tensor.detach().clone());
  }
  return all;
}

struct Training {
  std::vector<at::Tensor> start, end;
};

/// One process on the batches of all ranks, by PyTorch's own optimizer.
Training whole_batch(int world) {
  const auto c = awkward_case("none");
  Awkward network;
  model::cast_network(network, at::kDouble);
  std::vector<at::Tensor> inputs, targets;
  for (int rank = 0; rank < world; ++rank) {
    const auto batch = model::make_batch(
        model::find_network(c.model),
        {.batch_size = c.batch_size,
         .seed = c.seed,
         .rank = rank,
         .dtype = at::kDouble,
         .network = {.image_size = c.image_size, .classes = c.classes}});
    inputs.push_back(batch.input);
    targets.push_back(batch.target);
  }
  std::vector<at::Tensor> trained;
  for (const auto& parameter : network.parameters()) {
    if (parameter.requires_grad()) {
      trained.push_back(parameter);
    }
  }
  torch::optim::SGD sgd(
      trained, torch::optim::SGDOptions(c.learning_rate).momentum(c.momentum));
  Training result{copies(network.parameters()), {}};
  for (int step = 0; step < kSteps; ++step) {
    sgd.zero_grad();
    at::cross_entropy_loss(network.forward(at::cat(inputs)), at::cat(targets))
        .backward();
    sgd.step();
  }
  result.end = copies(network.parameters());
  return result;
}

/// The largest ||w - w_ref|| / ||w_ref - w_0|| over the tensors; tensors that
/// the reference leaves alone must be equal.
double distance(const Training& reference, const std::vector<at::Tensor>& w) {
  double worst = 0;
  for (std::size_t p = 0; p < w.size(); ++p) {
    const double moved =
        (reference.end[p] - reference.start[p]).norm().item<double>();
    const double off = (w[p] - reference.end[p]).norm().item<double>();
    worst = std::max(worst, moved == 0 ? (off == 0 ? 0 : 1e300) : off / moved);
  }
  return worst;
}

const std::vector<std::string>& texts() {
  static const std::vector<std::string> all{
      "bsp",
      "wfbp",
      "fusion",
      "mg-wfbp",
      "optimal-merge",
      "dear",
      "dear:bucket-mb=0",
      "dear+all-reduce",
      "fusion+rs-ag",
      "fusion+hierarchical:local=1",
      "bytescheduler:partition-mb=0.02,credit-mb=0.04",
      "bytescheduler:partition-mb=0.02,credit-mb=0+rs-ag",
      "bytescheduler:partition-mb=0.02,credit-mb=0.04,order=priority"};
  return all;
}

class EverySchedule : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySchedule, TrainsLikeOneProcessOnTheWholeBatch) {
  for (const int world : {2, 3, 4}) {
    const Training reference = whole_batch(world);
    testing::run_team_well(world, [&](const Team& team) {
      Trainer trainer(awkward_case(GetParam()), team, awkward_options());
      for (int step = 0; step < kSteps; ++step) {
        trainer.step();
      }
      trainer.drain();
      EXPECT_LE(distance(reference, copies(trainer.network().parameters())),
                1e-10)
          << "rank " << team.rank << " of " << world;
    });
  }
}

// The same comparison must see that one update is missing.
TEST_P(EverySchedule, ALostUpdateWouldBeSeen) {
  const Training reference = whole_batch(2);
  testing::run_team_well(2, [&](const Team& team) {
    Trainer trainer(awkward_case(GetParam()), team, awkward_options());
    for (int step = 0; step + 1 < kSteps; ++step) {
      trainer.step();
    }
    trainer.drain();
    EXPECT_GT(distance(reference, copies(trainer.network().parameters())),
              1e-3);
  });
}

// Small integers: sums are exact in any order, so are the gradients.
TEST_P(EverySchedule, SumsIntegersExactly) {
  for (const int world : {2, 3, 4}) {
    testing::run_team_well(world, [&](const Team& team) {
      // mlp is larger: some partitions, not hundreds
      std::string text = GetParam();
      if (const auto at = text.find("0.02,"); at != std::string::npos) {
        text.replace(at, 4, "0.5");
      }
      Trainer trainer(small_case("mlp", text), team, {.integers = true});
      Team other = team;
      other.name = "bulk";
      Trainer bulk(small_case("mlp", "bsp"), other, {.integers = true});
      EXPECT_TRUE(testing::identical(testing::gradients_after(trainer, 3),
                                     testing::gradients_after(bulk, 3)))
          << "rank " << team.rank << " of " << world;
    });
  }
}

TEST_P(EverySchedule, SendsWhatItsPlanSays) {
  testing::run_team_well(3, [&](const Team& team) {
    Trainer trainer(awkward_case(GetParam()), team, awkward_options());
    trainer.step();
    trainer.drain();
    const auto before = trainer.ledger();
    for (int step = 0; step < 3; ++step) {
      trainer.step();
    }
    trainer.drain();
    const auto after = trainer.ledger();
    const auto planned =
        plan::cost(trainer.setup(),
                   trainer.planner().plan(trainer.input(), trainer.setup(), 0),
                   team.rank);
    EXPECT_EQ(after.total_bytes() - before.total_bytes(),
              3 * planned.wire_bytes);
    EXPECT_EQ(after.total_calls() - before.total_calls(), 3 * planned.calls);
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, EverySchedule, ::testing::ValuesIn(texts()), [](const auto& test) {
      std::string name = test.param;
      std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
      return name;
    });

/// x rounded to the type and back.
at::Tensor rounded(const at::Tensor& x, at::ScalarType type) {
  return x.to(type).to(x.scalar_type());
}

/// Ranks that are threads draw from one generator, so one at a time.
TrainerOptions one_network_at_a_time(const record::Configuration& c) {
  TrainerOptions options;
  options.network = [c] {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    return model::make_network(model::find_network(c.model), {}, c.seed);
  };
  return options;
}

// Two ranks: the sum of two rounded gradients, itself rounded.
TEST(Trainer, CarriesGradientsInSixteenBits) {
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, at::ScalarType>>{
           {"fusion+fp16", at::kHalf}, {"dear+bf16", at::kBFloat16}}) {
    std::vector<at::Tensor> sum;
    for (int rank = 0; rank < 2; ++rank) {
      testing::run_team_well(1, [&](const Team& alone) {
        Team team = alone;
        team.rank = rank;
        team.world = 2;
        Trainer trainer(small_case("mlp", "none"), team);
        const auto own = testing::gradients_after(trainer, 1);
        for (std::size_t p = 0; p < own.size(); ++p) {
          if (rank == 0) {
            sum.push_back(rounded(own[p], type));
          } else {
            sum[p] = rounded(sum[p] + rounded(own[p], type), type);
          }
        }
      });
    }
    for (at::Tensor& gradient : sum) {
      gradient = gradient / 2;
    }
    testing::run_team_well(2, [&](const Team& team) {
      const auto one = small_case("mlp", text);
      Trainer trainer(one, team, one_network_at_a_time(one));
      EXPECT_TRUE(testing::identical(testing::gradients_after(trainer, 2), sum))
          << text;
    });
  }
}

TEST(Trainer, MeasuresTheTimesThatAPlanIsCutBy) {
  testing::run_team_well(2, [&](const Team& team) {
    const Trainer cut(awkward_case("optimal-merge"), team, awkward_options());
    ASSERT_TRUE(cut.input().profile.has_value());
    ASSERT_TRUE(cut.input().alpha_beta.has_value());
    EXPECT_GT(cut.input().profile->forward_total(), 0);
    EXPECT_GT(cut.input().profile->backward_total(), 0);
    EXPECT_GT(cut.input().alpha_beta->all_reduce.time(1 << 20), 0);
    EXPECT_EQ(cut.input().alpha_beta->world, 2);
    Team other = team;
    other.name = "given";
    auto options = awkward_options();
    options.profile = cut.input().profile;
    options.alpha_beta = cut.input().alpha_beta;
    options.profile->origin = "given";
    options.alpha_beta->origin = "given";
    const Trainer given(awkward_case("mg-wfbp"), other, options);
    EXPECT_EQ(given.input().profile->origin, "given");
    EXPECT_EQ(given.input().alpha_beta->origin, "given");
    other.name = "indifferent";
    const Trainer indifferent(awkward_case("dear"), other, awkward_options());
    EXPECT_FALSE(indifferent.input().profile.has_value());
  });
}

TEST(Trainer, NamesTheExchangesThatItCannotRun) {
  for (const char* text : {"ps", "neighbor-allreduce"}) {
    const auto errors = testing::run_team(2, [&](const Team& team) {
      const Trainer trainer(awkward_case(text), team, awkward_options());
    });
    EXPECT_NE(errors[0].find(text), std::string::npos) << errors[0];
    EXPECT_NE(errors[0].find("can be simulated"), std::string::npos);
  }
}

}  // namespace
}  // namespace paceline::train
