// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/print_launch.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/case/experiment.h"
#include "paceline/case/field.h"
#include "paceline/cli/catalogue.h"
#include "paceline/cli/job_flags.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/engines/engine_table.h"
#include "paceline/launch/launch_command.h"

namespace paceline::cli {
namespace {

using cases::RawSettings;
using cases::RawValues;

/// The words without `flag` and its value, in both of its forms.
std::vector<std::string> without(const std::string& flag, const std::vector<std::string>& words) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == flag) {
      ++i;
    } else if (!words[i].starts_with(flag + "=")) {
      rest.push_back(words[i]);
    }
  }
  return rest;
}

/// Every value of `key` that counts: the flag's, else the file's.
std::vector<std::string> texts_of(const RawSettings& raw, const char* key) {
  std::vector<const RawValues*> parts = {&raw.flags};
  if (!raw.flags.contains(key)) {
    parts = {&raw.defaults};
    for (const RawValues& one : raw.cases) {
      parts.push_back(&one);
    }
    if (raw.sweep) {
      parts.push_back(&*raw.sweep);
    }
  }
  std::vector<std::string> texts;
  for (const RawValues* values : parts) {
    if (const auto found = values->find(key); found != values->end()) {
      for (const cases::RawValue& given : found->second) {
        texts.push_back(given.text);
      }
    }
  }
  return texts;
}

/// Whose slots are to be said in another way.
void reject_hosts_beside(const RawSettings& raw) {
  const cases::Settings settings = cases::settings_of(raw);
  if (settings.hosts.empty() && settings.hostfile.empty()) {
    return;
  }
  std::vector<int> slots;
  const cluster::Cluster cluster = cluster::read_cluster(
      {.file = settings.cluster, .hosts = settings.hosts, .hostfile = settings.hostfile});
  for (const cluster::ClusterHost& host : cluster.hosts) {
    slots.push_back(host.slots);
  }
  throw UsageError(fmt::format(
      "--print-launch beside {}: the launcher names the hosts; say --ranks-per-host {} instead",
      settings.hosts.empty() ? "--hostfile" : "--hosts", fmt::join(slots, "+")));
}

/// Any machine that the hosts may be, to find what is wrong on all of them.
cases::MachineFacts imagined(const std::vector<int>& hosts) {
  cases::MachineFacts machine = machine_here(hosts);
  machine.cuda_devices = hosts.front();
  machine.native_bf16 = true;
  machine.engines.clear();
  for (const engines::EngineInfo& engine : engines::engines()) {
    machine.engines.emplace_back(engine.name);
  }
  return machine;
}

/// The ranks that trainers, servers and master are; 0 where a model has no embedding tables, or the
/// ranks are given.
int ranks_with_tables(const RawSettings& raw) {
  constexpr int kAnyNumber = 1 << 16;
  const std::vector<std::string> models = texts_of(raw, "model");
  const bool tables = !models.empty() && std::ranges::all_of(models, has_tables);
  return tables && texts_of(raw, "ranks").empty()
             ? cases::largest_world(cases::expand(raw, imagined({kAnyNumber})))
             : 0;
}

/// The largest number in `ranks`; 0 where `ranks` is a word such as max, which depends on the
/// machines, or is left out.
int most_ranks(const RawSettings& raw) {
  int most = ranks_with_tables(raw);
  for (const std::string& text : texts_of(raw, "ranks")) {
    const auto number = number_from<int>(text);
    if (!number) {
      return 0;
    }
    most = std::max(most, *number);
  }
  return most;
}

/// One number is that of every host.
std::vector<int> on_hosts_of(const std::vector<int>& given, int most, const std::string& where) {
  const int local = given.front();
  return given.size() > 1 || most <= local ? given : cases::equal_hosts(most, local, where);
}

std::vector<int> hosts_of(const RawSettings& raw) {
  reject_hosts_beside(raw);
  records::Configuration c;
  const auto given = raw.flags.find("ranks_per_host");
  if (given != raw.flags.end()) {
    cases::assign_key(*cases::find_key("ranks_per_host"), given->second.front().text,
                      given->second.front().where, c);
    if (std::ranges::adjacent_find(c.ranks_per_host, std::ranges::not_equal_to()) !=
        c.ranks_per_host.end()) {
      throw UsageError(given->second.front().where +
                       ": a launch line gives every host as many ranks");
    }
    return on_hosts_of(c.ranks_per_host, most_ranks(raw), given->second.front().where);
  }
  const int most = most_ranks(raw);
  if (most < 1) {
    throw UsageError(
        "--print-launch: say for how many ranks: --ranks 8 on one host, or --ranks-per-host 8+8 on "
        "two");
  }
  return {most};
}

bool meets_by_open_mpi(const records::Configuration& c) {
  return !c.engine.empty() && !engines::find_engine(c.engine).mpirun.empty();
}

}  // namespace

LaunchText launch_text(const RawSettings& raw, const std::vector<std::string>& command_line) {
  const std::vector<int> hosts = hosts_of(raw);
  RawSettings checked = raw;
  checked.flags.erase("ranks_per_host");
  const auto cases = cases::expand(checked, imagined(hosts)).cases;

  launch::LaunchShape shape{.hosts = static_cast<int>(hosts.size()),
                            .ranks_per_host = hosts.front(),
                            .argv = {},
                            .open_mpi = std::ranges::any_of(cases, meets_by_open_mpi)};
  std::vector<std::string> words =
      without("--print-launch", without("--local-size", without("--ranks-per-host", command_line)));
  const auto ranks = raw.flags.find("ranks");
  if (ranks != raw.flags.end() && ranks->second.size() == 1) {
    words = without("--ranks", words);  // the world's size says it
  }
  std::error_code error;
  shape.argv = {std::filesystem::read_symlink("/proc/self/exe", error).string()};
  shape.argv.insert(shape.argv.end(), words.begin(), words.end());
  const std::string kind = cases::settings_of(raw).print_launch;
  return {.line = launch::launch_command(kind, shape) + "\n",
          .note = launch::launch_note(kind, shape)};
}

}  // namespace paceline::cli
