// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/experiment.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/case/adapters.h"
#include "paceline/case/check.h"
#include "paceline/case/command_keys.h"
#include "paceline/case/field.h"
#include "paceline/case/outside.h"
#include "paceline/case/protocols.h"
#include "paceline/case/same.h"
#include "paceline/plan/ranks_per_host.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/strategy_text.h"

namespace paceline::cases {
namespace {

/// Returns the maximum over the cases of `number`, which is a member or a function of a case; at
/// least 1.
int largest_value_of(const std::vector<Case>& cases, auto number) {
  int largest = 1;
  for (const Case& c : cases) {
    largest = std::max(largest, std::invoke(number, c));
  }
  return largest;
}

bool are_all_flags(const std::vector<RawValue>& values) {
  return std::ranges::all_of(values, [](const auto& it) { return it.where.starts_with("--"); });
}

// Rejects a strategy for a case that `command` or `framework` performs: such a program does its own
// gradient synchronization.
void check_strategy_has_use(const RawValues& block) {
  const auto strategy = block.find("strategy");
  const auto framework = block.find("framework");
  const bool frameworks_alone = framework != block.end() &&
                                std::ranges::none_of(framework->second, [](const RawValue& given) {
                                  return given.text == kPaceline || given.text.empty();
                                });
  const auto program = frameworks_alone ? framework : block.find("command");
  // If only the program was given by flags, the strategy of the file is allowed: it is meant for
  // Paceline's own rows of the file.
  if (strategy == block.end() || program == block.end() ||
      (are_all_flags(program->second) && !are_all_flags(strategy->second))) {
    return;
  }
  for (const RawValue& given : strategy->second) {
    if (given.text != kExternalStrategy) {
      throw UsageError(
          fmt::format("{}: '{}' is a strategy of Paceline's own ranks, and {} performs the case; "
                      "leave one of them out",
                      given.where, given.text, frameworks_alone ? "--framework" : "--command"));
    }
  }
}

void check_trace(const RawValue& file, const std::vector<Case>& cases) {
  const auto outside = [](const Case& c) {
    return runs_external_program(c) || strategies::parse_strategy(c.strategy).external();
  };
  if (!cases.empty() && std::ranges::all_of(cases, outside)) {
    throw UsageError(
        fmt::format("{}: '{}' would stay empty: external programs perform all cases, and they "
                    "report no more than the times of steps",
                    file.where, file.text));
  }
}

/// A case whose keys are set one after the other while the sweep is expanded.
struct PartialCase {
  Case configuration;
  const RawValues* given = nullptr;  // the values of its block
  bool row = false;                  // a row of the DDP benchmark, which sets `ranks`
  std::map<std::string, std::string, std::less<>> where{};
};

/// Whether the block is the baseline of a sweep: a [[case]] of one rank in a file with a [sweep].
bool is_baseline(const RawSettings& raw, const RawValues& block) {
  const auto ranks = block.find("ranks");
  return raw.sweep && ranks != block.end() && ranks->second.size() == 1 &&
         ranks->second.front().text == "1";
}

class Expansion {
 public:
  Expansion(const MachineFacts& machine, const RawSettings& raw, const Settings& settings)
      : machine_(machine),
        least_world_(std::ranges::any_of(
                         raw.cases, [&](const RawValues& block) { return is_baseline(raw, block); })
                         ? 2
                         : 1),
        settings_(settings) {}

  /// Appends the cases of one block of the file, combined with the file's defaults and the flags:
  /// the Cartesian product of its values.
  void add(RawValues block) {
    if (settings_.protocol == "dlperf") {
      block = with_dlperf_defaults(std::move(block));
    }
    check_replay(block);
    check_strategy_has_use(block);
    block = with_command_defaults(std::move(block));
    expand_keys(block, 0, {.configuration = {}, .given = &block});
  }

  /// The number of valid cases.
  std::size_t size() const { return cases_.size(); }

  /// Throws UsageError with the first rejection if no cases but baselines are valid. `baselines` is
  /// the number of baselines.
  void require_more_than(std::size_t baselines) const {
    if (cases_.size() <= baselines && !rejected_.empty()) {
      throw UsageError(rejected_.front().why);
    }
  }

  void finish(Experiment& experiment) {
    check_command_keys(commanded_);
    const int largest = largest_value_of(cases_, &Case::ranks);
    const int on_a_host =
        machine_.joined() ? std::min(largest, machine_.ranks_per_host.front()) : largest;
    const int threads = std::max(1, machine_.cores / on_a_host);
    std::set<std::string> seen;
    const auto is_new = [&](Case& c) {
      c.threads = c.threads == 0 ? threads : c.threads;
      // Bucket sizes are ignored here: where they matter, they are part of the strategy's text.
      return seen
          .insert(fmt::format("{} discard={}", key_without(c, {&Case::bucket_mb}), c.discard))
          .second;
    };
    for (Case& c : cases_) {
      if (is_new(c)) {
        experiment.cases.push_back(std::move(c));
      }
    }
    for (RejectedCase& it : rejected_) {
      if (is_new(it.configuration) && !it.configuration.discard) {
        experiment.rejected.push_back(std::move(it));
      }
    }
  }

 private:
  /// Expands the environment variables of `values` from `next` on into all combinations of their
  /// values, and completes a case for each combination.
  void expand_env(const RawValues& values, RawValues::const_iterator next,
                  const PartialCase& partial) {
    next = std::find_if(next, values.end(), [](const auto& one) { return is_env_name(one.first); });
    if (next == values.end()) {
      complete(partial);
      return;
    }
    for (const RawValue& given : next->second) {
      PartialCase with = partial;
      with.configuration.env[next->first.substr(kEnvPrefix.size())] = given.text;
      expand_env(values, std::next(next), with);
    }
  }

  /// Sets keys()[index] to each of its values, and recursively all later keys.
  void expand_keys(const RawValues& block, std::size_t index, const PartialCase& partial) {
    if (index == keys().size()) {
      expand_env(block, block.begin(), partial);
      return;
    }
    const Field& key = keys()[index];
    if (!is_case_key(key) || key.name == "env") {
      expand_keys(block, index + 1, partial);
    } else if (settings_.protocol == "ddp" && key.name == "ranks" && !partial.row) {
      expand_ddp_rows(block, index, partial);
    } else {
      for (const RawValue& given : values_of(block, key)) {
        for (const PartialCase& next : with_value(key, given, partial)) {
          expand_keys(block, index + 1, next);
        }
      }
    }
  }

  static std::vector<RawValue> values_of(const RawValues& block, const Field& key) {
    const auto found = block.find(key.name);
    return found != block.end() ? found->second
                                : std::vector<RawValue>{{default_text(key), flag_of(key)}};
  }

  /// Sets one key to one value. A value of `ranks` may stand for several numbers of ranks.
  std::vector<PartialCase> with_value(const Field& key, const RawValue& given,
                                      const PartialCase& partial) const {
    PartialCase next = partial;
    next.where[std::string(key.name)] = given.where;
    if (key.name == "ranks") {
      std::vector<PartialCase> all;
      for (const int world : worlds_of(given, machine_, next.configuration.device, least_world_)) {
        next.configuration.ranks = world;
        all.push_back(next);
      }
      return all;
    }
    if (given.text.empty() && key.name == "ranks_per_host") {
      return {next};
    }
    Case& c = next.configuration;
    if (key.name == "batch_size" && given.text == kMax) {
      c.batch_size = kLargestBatch;
      return {next};
    }
    assign_key(key, given.text, given.where, c);
    if (key.name == "device") {
      // With "auto", models with embedding tables run on the CPU, because rows are looked up only
      // there.
      c.device = c.has_tables() && c.device == "auto" ? "cpu" : resolve_device(c.device, machine_);
    } else if (key.name == "engine") {
      c.engine = resolve_engine(c.engine, c.device, machine_);
    } else if (key.name == "replay" && !c.replay.empty()) {
      apply_profile(given.where, c);
    }
    return {next};
  }

  /// Expands the block into the rows of the DDP benchmark. In this protocol, `ranks` gives the
  /// largest number of ranks, and `strategy` is used by the rows named M/G, which communicate.
  void expand_ddp_rows(const RawValues& values, std::size_t index, const PartialCase& partial) {
    const RawValue world = protocol_world(values);
    const int ranks = worlds_of(world, machine_, partial.configuration.device, 1).back();
    PartialCase base = partial;
    base.where["ranks"] = world.where;
    base.configuration.ranks = ranks;
    base.row = true;
    check_case(base.configuration, machine_, where_in(base));
    const std::vector<int> hosts = machine_.joined()
                                       ? plan::fill_hosts(ranks, machine_.ranks_per_host)
                                       : std::vector<int>{ranks};
    const auto given = values.find("strategy");
    const std::vector<RawValue> exchanging =
        given != values.end() ? given->second : std::vector<RawValue>{{"ddp", "--strategy"}};
    for (const ProtocolEntry& entry : ddp_entries(hosts)) {
      RawValues row = values;
      row["ranks"] = {{fmt::format("{}", entry.ranks), world.where}};
      row["strategy"] = entry.alone ? std::vector<RawValue>{{"none", "--strategy"}} : exchanging;
      base.configuration.label = entry.label;
      base.configuration.discard = entry.discard;
      expand_keys(row, index, base);
    }
  }

  static RawValue protocol_world(const RawValues& block) {
    const auto found = block.find("ranks");
    if (found == block.end()) {
      return {"max", "--ranks"};
    }
    if (found->second.size() > 1) {
      throw UsageError(fmt::format("{}: protocol ddp takes one number, its largest world",
                                   found->second.front().where));
    }
    return found->second.front();
  }

  static Where where_in(const PartialCase& partial) {
    return [&partial](std::string_view key) {
      const auto found = partial.where.find(key);
      return found != partial.where.end() ? found->second : flag_of(*find_key(key));
    };
  }

  void complete(const PartialCase& partial) {
    Case c = partial.configuration;
    if (!c.command.empty()) {
      commanded_.push_back({c, partial.where});
    }
    check_adapter(c, machine_, where_in(partial));  // a misspelled name is not a case
    std::string why;
    try {
      check(partial, c);
    } catch (const UsageError& error) {
      why = error.what();
      c.strategy = canonical_strategy(c, where_in(partial));
    }
    if (c.label.empty()) {
      c.label = strategies::names_in_text(c.strategy);
    }
    if (why.empty()) {
      cases_.push_back(std::move(c));
    } else {
      rejected_.push_back({std::move(c), std::move(why)});
    }
  }

  /// Sets the values that depend on several keys. Throws UsageError for a case that is rejected.
  void check(const PartialCase& partial, Case& c) {
    const Where where = where_in(partial);
    check_tables(c, machine_, where);
    const bool placed = !c.ranks_per_host.empty();
    place_ranks(c, machine_, where);
    resolve_program(c, machine_, where);
    // In DLPerf's protocol, a case with a number type that the CPU lacks is not rejected but
    // recorded as not run.
    if (settings_.protocol == "dlperf" && c.not_run.empty() && c.device == "cpu" &&
        c.dtype != "fp32" && !machine_.native_bf16) {
      c.not_run = fmt::format("{}: the CPU has no bf16", c.dtype);
    }
    Case runnable = c;
    runnable.dtype = c.not_run.empty() ? c.dtype : "fp32";
    check_case(runnable, machine_, where);
    c.strategy = canonical_strategy(c, where);
    if (settings_.virtual_time.empty()) {  // else the hosts are those of a simulated cluster
      check_hosts(c, placed, where);
    }
    c.link = canonical_link(c, where);
    check_option_combinations(c, where);
    apply_data_set(c, where);
    if (!c.command.empty()) {
      mark_unknown_values(
          c, [&](std::string_view key) { return partial.given->contains(key); },
          machine_.cuda_devices > 0);
    }
    round_steps_to_periods(c, {.warmup = partial.given->contains("warmup"),
                               .measured = partial.given->contains("steps")});
  }

  const MachineFacts& machine_;
  int least_world_;  // smallest world of `auto`: 2 if there is a baseline, else 1
  const Settings& settings_;
  std::vector<Case> cases_;
  std::vector<RejectedCase> rejected_;
  std::vector<CommandCase> commanded_;
};

/// Returns the values of `block` merged with the file's defaults, which they override, and with the
/// flags, which override both.
RawValues merged(const RawSettings& raw, const RawValues& block) {
  RawValues all = raw.defaults;
  for (const RawValues* values : {&block, &raw.flags}) {
    for (const auto& [name, given] : *values) {
      all[name] = given;
    }
  }
  if (is_baseline(raw, block)) {
    for (const char* const own : {"ranks", "strategy"}) {
      if (const auto given = block.find(own); given != block.end()) {
        all[own] = given->second;
      }
    }
  }
  return all;
}

}  // namespace

int largest_world(const Experiment& experiment) {
  return largest_value_of(experiment.cases, &Case::ranks);
}

int most_processes(const Experiment& experiment) {
  return largest_value_of(experiment.cases, processes_of);
}

Experiment expand(const RawSettings& raw, const MachineFacts& machine) {
  const Settings settings = settings_of(raw);
  Expansion expansion(machine, raw, settings);
  std::size_t baselines = 0;
  for (const RawValues& block : raw.cases) {
    const std::size_t before = expansion.size();
    expansion.add(merged(raw, block));
    baselines += is_baseline(raw, block) ? expansion.size() - before : 0;
  }
  if (raw.sweep || raw.cases.empty()) {
    expansion.add(merged(raw, raw.sweep.value_or(RawValues{})));
  }
  expansion.require_more_than(baselines);
  Experiment experiment{.name = settings.name, .cases = {}, .runs = settings.runs};
  expansion.finish(experiment);
  if (!settings.trace.empty()) {
    const RawValues& given = raw.flags.contains("trace") ? raw.flags : raw.defaults;
    check_trace(given.at("trace").front(), experiment.cases);
  }
  return experiment;
}

}  // namespace paceline::cases
