// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/print_launch.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/program_place.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/case/field.h"
#include "paceline/engines/engine_table.h"

namespace paceline::cli {
namespace {

using cases::RawSettings;

/// Removes `flag` and its value from `words`, written as two words or with an equals sign.
std::vector<std::string> without_flag(const std::string& flag,
                                      const std::vector<std::string>& words) {
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

/// Returns the values that the user gave for a flag; empty if the flag is left out.
std::vector<cases::RawValue> flag_values(const RawSettings& raw, std::string_view key) {
  const auto given = raw.flags.find(key);
  return given == raw.flags.end() ? std::vector<cases::RawValue>{} : given->second;
}

/// The largest value of --ranks; 0 if the flag is left out, or has a word such as max, which
/// depends on the machines.
int most_ranks(const RawSettings& raw) {
  std::vector<int> numbers;
  for (const cases::RawValue& ranks : flag_values(raw, "ranks")) {
    numbers.push_back(number_from<int>(ranks.text).value_or(0));
  }
  return numbers.empty() || std::ranges::min(numbers) < 1 ? 0 : std::ranges::max(numbers);
}

/// Returns the number of ranks of each host. All hosts have the same number, because the launch
/// line has one number for all.
std::vector<int> hosts_of(const RawSettings& raw) {
  for (const char* flag : {"hosts", "hostfile"}) {
    if (!flag_values(raw, flag).empty()) {
      throw UsageError(
          fmt::format("--print-launch beside --{}: the launcher names the hosts; say "
                      "--ranks-per-host 4+4 instead, for two hosts of 4 ranks",
                      flag));
    }
  }
  const int most = most_ranks(raw);
  const auto given = flag_values(raw, "ranks_per_host");
  if (given.empty()) {
    if (most < 1) {
      throw UsageError(
          "--print-launch: say for how many ranks: --ranks 8 on one host, or --ranks-per-host 8+8 "
          "on two");
    }
    return {most};
  }
  const auto& [text, where] = given.front();
  const auto hosts = std::get<std::vector<int>>(
      cases::value_from(*cases::find_key("ranks_per_host"), text, where));
  if (std::ranges::adjacent_find(hosts, std::ranges::not_equal_to()) != hosts.end()) {
    throw UsageError(where + ": a launch line gives every host as many ranks");
  }
  return hosts.size() > 1 || most <= hosts.front() ? hosts
                                                   : cases::equal_hosts(most, hosts.front(), where);
}

/// Whether the line must start ranks that meet through Open MPI, as the engine mpi needs.
bool uses_open_mpi_rendezvous(const RawSettings& raw) {
  return std::ranges::any_of(flag_values(raw, "engine"), [](const cases::RawValue& given) {
    return given.text != "auto" && !engines::find_engine(given.text).mpirun.empty();
  });
}

}  // namespace

launch::LaunchLine launch_text(const RawSettings& raw,
                               const std::vector<std::string>& command_line) {
  const std::vector<int> hosts = hosts_of(raw);
  launch::LaunchShape shape{.hosts = static_cast<int>(hosts.size()),
                            .ranks_per_host = hosts.front(),
                            .argv = {},
                            .open_mpi = uses_open_mpi_rendezvous(raw)};
  std::vector<std::string> words =
      without_flag("--print-launch",
                   without_flag("--local-size", without_flag("--ranks-per-host", command_line)));
  if (flag_values(raw, "ranks").size() == 1) {
    words = without_flag("--ranks", words);  // the size of the world replaces it
  }
  shape.argv = {program_path().string()};
  shape.argv.insert(shape.argv.end(), words.begin(), words.end());
  return launch::launch_line(cases::settings_of(raw).print_launch, shape);
}

}  // namespace paceline::cli
