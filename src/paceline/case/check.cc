// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/check.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/ddl_names.h"
#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/command_keys.h"
#include "paceline/case/outside.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/plan/ranks_per_host.h"
#include "paceline/strategies/hosts.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cases {
namespace {

// Whether the case may name a network that Paceline does not know: a command's network can be any,
// and an adapter may have networks of its own.
bool may_have_unknown_model(const Case& c, const MachineFacts& m) {
  const auto adapter = find_adapter(m.adapters, c.framework);
  return !c.command.empty() || is_adapter_path(c.framework) || c.framework == kOwnNetwork ||
         (adapter && std::ranges::find(adapter->models, c.model) != adapter->models.end());
}

void check_model(const Case& c, const MachineFacts& m, const Where& where) {
  where.reject_if(c.replay.empty() && c.model.ends_with(".json"), "model",
                  "'{0}' is a profile, which has times but no network to train; --replay {0} runs "
                  "its layers as sleeps",
                  c.model);
  if (c.replay.empty() && !may_have_unknown_model(c, m) &&
      std::ranges::find(m.models, c.model) == m.models.end()) {
    const DdlName* legacy = find_ddl_name(kDdlModels, c.model);
    where.reject_if(legacy == nullptr, "model", "{}",
                    unknown_name_message("model", c.model, m.models));
    where.reject("model", "unknown model '{}'; here it is '{}'", c.model, legacy->ours);
  }
  where.reject_if(c.batch_size % c.accumulate != 0, "accumulate",
                  "{} micro-batches do not divide a batch of {}", c.accumulate, c.batch_size);
}

/// The message "'mpi' was not built in; there is gloo", with advice on how to get the engine where
/// that is known.
std::string missing_engine_message(const std::string& engine, const MachineFacts& machine) {
  const auto* const traits = plan::find_engine_traits(engine);
  const std::string how = traits == nullptr || traits->install_hint.empty()
                              ? ""
                              : fmt::format("; {}", traits->install_hint);
  return fmt::format("'{}' was not built in; there is {}{}", engine,
                     fmt::join(machine.engines, ", "), how);
}

void check_ranks(const Case& c, const MachineFacts& m, const Where& where) {
  where.reject_if(
      m.joined() && c.ranks > m.world(), "ranks", "'{}'{}, but {} were started or have a slot",
      c.ranks,
      c.has_tables() && c.servers > 0
          ? fmt::format(" ({} trainers, {} servers and the master)", c.trainers, c.servers)
          : "",
      m.world());
  if (!m.joined()) {
    where.reject_if(c.device == "cuda" && c.ranks > m.cuda_devices, "ranks",
                    "'{}', but {} visible here and each rank takes one", c.ranks,
                    m.cuda_devices == 1 ? "1 GPU is" : fmt::format("{} GPUs are", m.cuda_devices));
    check_ranks_here(where("ranks"), c.ranks, m.cores);
  }
  const int placed = std::accumulate(c.ranks_per_host.begin(), c.ranks_per_host.end(), 0);
  where.reject_if(!c.ranks_per_host.empty() && placed != c.ranks, "ranks_per_host",
                  "'{}' places {} ranks, the case has {}", fmt::join(c.ranks_per_host, "+"), placed,
                  c.ranks);
}

}  // namespace

void check_device(const Case& c, const MachineFacts& m, const Where& where) {
  where.reject_if(c.device == "cuda" && m.cuda_devices == 0, "device",
                  "'cuda', but PyTorch sees no GPU here");
  where.reject_if(!runs_external_program(c) && std::ranges::count(m.engines, c.engine) == 0,
                  "engine", "{}", missing_engine_message(c.engine, m));
  if (const auto* engine = plan::find_engine_traits(c.engine);
      !runs_external_program(c) && engine != nullptr && !engine->moves(c.device)) {
    where.reject("engine", "'{}' moves bytes between {} alone; for device {} take {}", c.engine,
                 engine->moves_cpu ? "CPUs" : "GPUs", c.device, plan::engine_for(c.device).name);
  }
  where.reject_if(!c.link.empty() && c.device != "cpu", "link",
                  "'{}' holds operations on the CPU alone, and the device is {}", c.link, c.device);
  where.reject_if(c.dtype != "fp32" && c.device == "cpu" && c.replay.empty() && !m.native_bf16,
                  "dtype",
                  "'{}' needs a CPU with bf16 instructions, which this one lacks (emulated it is "
                  "some 40 times slower than fp32); take fp32",
                  c.dtype);
}

std::string resolve_device(const std::string& device, const MachineFacts& machine) {
  if (device != "auto") {
    return device;
  }
  return machine.cuda_devices > 0 ? "cuda" : "cpu";
}

std::string resolve_engine(const std::string& engine, const std::string& device,
                           const MachineFacts& machine) {
  if (engine != "auto") {
    return engine;
  }
  const std::string_view best = plan::engine_for(device).name;
  const bool built = std::ranges::count(machine.engines, best) > 0;
  return std::string(built ? best : plan::engine_for("cpu").name);
}

std::vector<int> equal_hosts(int ranks, int local, const std::string& origin) {
  if (ranks % local != 0) {
    throw UsageError(fmt::format("{}: '{}', but {} ranks do not fill hosts of {} each", origin,
                                 local, ranks, local));
  }
  return std::vector<int>(static_cast<std::size_t>(ranks / local), local);
}

void place_ranks(Case& c, const MachineFacts& m, const Where& where) {
  std::vector<int>& placed = c.ranks_per_host;
  if (placed.empty() && m.joined()) {
    placed = plan::fill_hosts(c.ranks, m.ranks_per_host);
    if (placed.size() == 1) {
      placed.clear();
    }
  } else if (placed.size() == 1) {
    placed = equal_hosts(c.ranks, std::min(placed.front(), c.ranks), where("ranks_per_host"));
  }
}

void check_hosts(Case& c, bool placed, const Where& where) {
  if (c.has_tables()) {
    return;  // the strategy concerns the trainers, not all ranks
  }
  const strategies::StrategySpec spec = strategies::strategy_of(c);
  const plan::RanksPerHost hosts(c.ranks_per_host);
  try {
    strategies::check_world(spec, c.ranks, hosts);
  } catch (const UsageError& error) {
    where.reject_if(placed || hosts.has_equal_hosts_up_to(c.ranks), "strategy", "{}", error.what());
    c.not_run = c.not_run.empty() ? error.what() : c.not_run;
  }
}

std::string canonical_strategy(const Case& configuration, const Where& where) {
  try {
    return strategies::strategy_of(configuration).text();
  } catch (const UsageError& error) {
    where.reject("strategy", "{}", error.what());
  }
}

std::string canonical_link(const Case& configuration, const Where& where) {
  std::string link = configuration.link;
  std::erase(link, ' ');
  if (!link.empty()) {
    cluster::parse_link(where("link"), link);
  }
  return link;
}

namespace {

void check_update(const Case& c, const strategies::StrategySpec& spec, const Where& where) {
  if (c.learning_rate == 0 && strategies::divides_by_rate(spec)) {
    where.reject("learning_rate", "'0', but '{}' divides by the rate; take one above 0",
                 spec.update.row->name);
  }
  if (c.device != "cpu" && spec.exchange.row != nullptr && spec.exchange.row->late) {
    where.reject("strategy",
                 "'{}' averages what has arrived, which the host, running ahead of a GPU, cannot "
                 "know; take --device cpu, or neighbor-allreduce",
                 spec.exchange.row->name);
  }
  where.reject_if(c.clip_norm > 0 && !c.command.empty() && !command_sees(c, "clip_norm"),
                  "clip_norm",
                  "the case is performed by --command, which is not told to clip; write "
                  "{{clip_norm}} where it takes it, or leave it out");
}

}  // namespace

void check_option_combinations(const Case& c, const Where& where) {
  const strategies::StrategySpec spec = strategies::strategy_of(c);
  const bool by_pytorch = spec.whole.row != nullptr && spec.whole.row->name != "none";
  const bool outside = runs_external_program(c);
  where.reject_if(c.stretch != 1 && (c.link.empty() || c.replay.empty()), "stretch",
                  "'{}' slows compute and network alike, so it needs both --replay and --link",
                  c.stretch);
  where.reject_if(!c.replay.empty() && outside, "replay",
                  "'{}' is slept through by Paceline's own ranks, and {} performs the case",
                  c.replay, runner_name_of(c));
  where.reject_if(!c.replay.empty() && by_pytorch, "strategy",
                  "'{}' runs PyTorch's own reducer on a network that computes, which a replay does "
                  "not have",
                  c.strategy);
  where.reject_if(!c.link.empty() && (spec.external() || outside), "link",
                  "'{}' holds operations of Paceline's own ranks, and {} performs the case", c.link,
                  runner_name_of(c));
  where.reject_if(c.average_buffers > 0 && (outside || by_pytorch || !c.replay.empty()),
                  "average_buffers",
                  "statistics are averaged by the plan of a network that trains here, which {} is "
                  "not; leave it out",
                  outside || by_pytorch ? "'" + runner_name_of(c) + "'" : "a replay");
  check_update(c, spec, where);
}

void check_ranks_here(const std::string& origin, int ranks, int cores) {
  if (ranks > std::int64_t{kMostRanksPerCore} * cores) {
    throw UsageError(fmt::format("{}: '{}' on {} core{}: at most {} ranks a core", origin, ranks,
                                 cores, cores == 1 ? "" : "s", kMostRanksPerCore));
  }
}

void check_case(const Case& configuration, const MachineFacts& machine, const Where& where) {
  check_model(configuration, machine, where);
  check_device(configuration, machine, where);
  check_ranks(configuration, machine, where);
}

}  // namespace paceline::cases
