// SPDX-License-Identifier: Apache-2.0
// Settings of a case that follow from its data, its profile and its strategy's period.
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/case/learning_rate.h"
#include "paceline/case/outside.h"
#include "paceline/case/same.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/plan/data_traits.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/plan/ranks_per_host.h"
#include "paceline/plan/sample_file.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/strategy_period.h"

namespace paceline::cases {
namespace {

// Returns the first setting that only has an effect with --data and that is not at its default;
// null if there is none.
const Field* changed_data_field(const Case& c) {
  return difference_in(c, Case{}, {&Case::split, &Case::target, &Case::evaluate_every});
}

void check_without_data(const Case& c, const Where& where) {
  if (const Field* const key = changed_data_field(c)) {
    where.reject(key->name, "it speaks of training on data, so it needs --data");
  }
}

const plan::DataTraits& traits_of(const Case& c, const Where& where) {
  const plan::DataTraits* traits = plan::find_data_traits(c.data);
  if (traits == nullptr) {
    std::vector<std::string> known;
    for (const plan::DataTraits& row : plan::kData) {
      known.emplace_back(row.name);
    }
    where.reject("data", "{}", unknown_name_message("data", c.data, known));
  }
  const std::size_t colon = c.data.find(':');
  const bool folder = colon != std::string::npos && colon + 1 < c.data.size();
  const bool wants_path = !traits->required_file.empty() || traits->mapped;
  where.reject_if(wants_path != folder || (!folder && colon != std::string::npos), "data",
                  "'{}': {}{}", c.data, traits->name,
                  traits->mapped ? ":FILE is wanted, FILE of decoded images (docs/experiments.md)"
                  : wants_path   ? ":DIR is wanted, DIR the folder with its files"
                                 : " takes no folder");
  return *traits;
}

void set_size_from_data(const char* key, int from_data, const Where& where, int& value) {
  where.reject_if(value != 0 && value != from_data, key, "'{}', but that of the data is {}", value,
                  from_data);
  value = from_data;
}

// Sets image size and classes of the case from the header of its memory-mapped file, the input of a
// throughput benchmark.
void set_sizes_from_mapped_file(Case& c, const Where& where) {
  where.reject_if(changed_data_field(c) != nullptr, "data",
                  "'{}' is read without evaluations, in even parts; leave out split, target and "
                  "evaluate_every",
                  c.data);
  const plan::SampleFile file = plan::read_sample_file(c.data);
  set_size_from_data("image_size", file.side, where, c.image_size);
  set_size_from_data("classes", file.classes, where, c.classes);
}

void require_file(const Case& c, std::string_view file, const Where& where) {
  const std::filesystem::path folder = c.data.substr(c.data.find(':') + 1);
  std::error_code unreadable;
  where.reject_if(!std::filesystem::exists(folder / file, unreadable), "data",
                  "'{}': there is no file '{}'", c.data, (folder / file).string());
}

/// The number of steps after which the communication of the case repeats. In a job with embedding
/// tables the strategy's world consists of the trainers alone.
plan::Step period_of(const Case& c) {
  const int world = c.has_tables() ? c.trainers : c.ranks;
  const plan::RanksPerHost hosts(
      c.ranks_per_host.empty() ? std::vector<int>{} : plan::fill_hosts(world, c.ranks_per_host));
  plan::Step period = 1;
  try {
    period = strategies::period_of(strategies::strategy_of(c), world, hosts);
  } catch (const UsageError&) {
    return 1;  // an invalid case: its ranks report the error
  }
  return c.average_buffers > 0 ? std::lcm(period, static_cast<plan::Step>(c.average_buffers))
                               : period;
}

int whole_periods(int steps, plan::Step period) {
  return static_cast<int>((steps + period - 1) / period * period);
}

}  // namespace

void apply_data_set(Case& c, const Where& where) {
  parse_rate_decay(where("lr_decay"), c.lr_decay);
  if (c.data.empty()) {
    check_without_data(c, where);
    return;
  }
  const plan::DataTraits& traits = traits_of(c, where);
  const bool outside = runs_external_program(c) || strategies::strategy_of(c).external();
  where.reject_if(!c.replay.empty() || (outside && c.not_run.empty()), "data",
                  "'{}' is trained on by a network of this program, which {} has not", c.data,
                  c.replay.empty() ? runner_name_of(c) : "a replay");
  if (traits.mapped) {
    set_sizes_from_mapped_file(c, where);
    return;
  }
  if (outside) {
    return;
  }
  if (!traits.required_file.empty()) {
    require_file(c, traits.required_file, where);
  }
  where.reject_if(!plan::dirichlet_alpha(c.split), "split",
                  "'{}' is neither even nor dirichlet:ALPHA with ALPHA from 0.01 to 1000", c.split);
  where.reject_if(traits.regression && c.model != "linear", "data",
                  "'{}' is a regression for the model linear, and '{}' tells classes apart", c.data,
                  c.model);
  where.reject_if(!traits.regression && c.target > 1, "target",
                  "'{}', but an accuracy is at most 1", c.target);
  set_size_from_data("image_size", traits.side, where, c.image_size);
  set_size_from_data("classes", traits.classes, where, c.classes);
}

void check_replay(const RawValues& block) {
  const auto replay = block.find("replay");
  if (replay == block.end() ||
      std::ranges::all_of(replay->second, [](const RawValue& it) { return it.text.empty(); })) {
    return;
  }
  for (const char* name : {"device", "engine"}) {
    const auto found = block.find(name);
    for (const RawValue& given : found != block.end() ? found->second : std::vector<RawValue>{}) {
      const auto* engine = plan::find_engine_traits(given.text);
      if (given.text == "cuda" || (engine != nullptr && !engine->moves_cpu)) {
        throw UsageError(fmt::format(
            "{}: '{}', but the ranks of a replay sleep on the CPU and {} moves their bytes; leave "
            "it out",
            given.where, given.text, plan::engine_for("cpu").name));
      }
    }
  }
}

void apply_profile(const std::string& where, Case& c) {
  const cluster::ProfiledModel profiled = cluster::read_profile(c.replay);
  if (profiled.model.dtype == plan::DType::kF8) {
    throw UsageError(
        fmt::format("{}: '{}' has gradients of 8 bits, which no engine sums; `paceline predict` "
                    "prices them",
                    where, c.replay));
  }
  c.model = profiled.model.name;
  c.batch_size = profiled.batch_size * c.accumulate;
  c.image_size = c.classes = c.sequence_length = 0;
  c.as_original = false;
  c.dtype = cluster::word_of(profiled.model.dtype);
  c.channels_last = false;
  c.device = "cpu";  // the ranks of a replay sleep on the CPU
  if (const auto* engine = plan::find_engine_traits(c.engine);
      engine != nullptr && !engine->moves(c.device)) {
    c.engine = plan::engine_for(c.device).name;
  }
}

void round_steps_to_periods(Case& c, const UserSetSteps& given) {
  if ((given.warmup && given.measured) || runs_external_program(c)) {
    return;
  }
  const plan::Step period = period_of(c);
  if (!given.warmup) {
    c.warmup = whole_periods(c.warmup, period);
  }
  if (!given.measured) {
    c.steps = whole_periods(c.steps, period);
  }
}

}  // namespace paceline::cases
