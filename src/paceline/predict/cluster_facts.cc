// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/predict/calibrated_cluster.h"

namespace paceline::predict {
namespace {

std::vector<std::string> words_of_line(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
  return words;
}

bool is_numbered(const std::string& word, std::string_view name) {
  return word.starts_with(name) &&
         number_from<int>(std::string_view(word).substr(name.size())).has_value();
}

/// Reads the lines NAME=VALUE of variables whose names begin with SLURM_.
std::map<std::string, std::string> variables_of(const std::string& text) {
  std::map<std::string, std::string> variables;
  for (const std::string& line : split_at(text, '\n')) {
    const auto sign = line.find('=');
    if (line.starts_with("SLURM_") && sign != std::string::npos) {
      variables[line.substr(0, sign)] = std::string(trimmed(line.substr(sign + 1)));
    }
  }
  return variables;
}

/// Reads the number in "8" or "8(x4)".
std::optional<int> ranks_of(const std::string& text) {
  return number_from<int>(text.substr(0, text.find('(')));
}

}  // namespace

bool is_topology(const std::string& text) {
  const std::vector<std::string> lines = split_at(text, '\n');
  return std::ranges::any_of(lines, [](const std::string& line) {
    const auto words = words_of_line(line);
    return words.size() > 2 && words[0] == "GPU0" && words[1] == "X";
  });
}

// Returns the smallest number of NVLinks from a GPU's row to any other GPU, but at most `fewest`.
int fewest_nvlinks(const std::vector<std::string>& row, const std::vector<std::string>& columns,
                   int fewest) {
  for (std::size_t i = 1; i < row.size() && i <= columns.size(); ++i) {
    if (is_numbered(columns[i - 1], "GPU") && row[i] != "X") {
      const bool nvlink = is_numbered(row[i], "NV");
      fewest = std::min(fewest, nvlink ? *number_from<int>(row[i].substr(2)) : 0);
    }
  }
  return fewest;
}

void add_topology(const std::string& text, const std::string& file, ClusterFacts& facts) {
  std::vector<std::string> columns;
  int devices = 0, cards = 0, fewest = 1 << 20;
  for (const std::string& line : split_at(text, '\n')) {
    const auto words = words_of_line(line);
    if (words.empty()) {
      continue;
    }
    const bool header = words.size() > 1 && words[0] == "GPU0" && words[1] != "X";
    if (columns.empty() && (header || words == std::vector<std::string>{"GPU0", "CPU"})) {
      columns = words;
      continue;
    }
    if (is_numbered(words[0], "GPU") && !columns.empty()) {
      ++devices;
      fewest = fewest_nvlinks(words, columns, fewest);
    }
  }
  for (const std::string& column : columns) {
    cards += is_numbered(column, "NIC") || is_numbered(column, "mlx5_") ? 1 : 0;
  }
  if (devices == 0) {
    throw UsageError(fmt::format("{}: holds no row of a GPU, as nvidia-smi topo -m has", file));
  }
  facts.has_topology = true;
  facts.devices_of_a_host = devices;
  facts.nvlinks = devices > 1 ? fewest : 0;
  facts.network_cards = cards;
}

bool is_slurm(const std::string& text) {
  const auto variables = variables_of(text);
  return variables.contains("SLURM_JOB_NODELIST") || variables.contains("SLURM_NODELIST");
}

void add_slurm(const std::string& text, const std::string& file, ClusterFacts& facts) {
  auto variables = variables_of(text);
  const std::string nodes = variables.contains("SLURM_JOB_NODELIST")
                                ? variables["SLURM_JOB_NODELIST"]
                                : variables["SLURM_NODELIST"];
  std::optional<int> slots;
  for (const char* name : {"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "SLURM_GPUS_ON_NODE"}) {
    const auto found = variables.find(name);
    if (!slots && found != variables.end()) {
      slots = ranks_of(found->second);
      if (!slots || *slots < 1 || found->second.find(',') != std::string::npos) {
        throw UsageError(
            fmt::format("{}: {}={}: must be one number of ranks a "
                        "host",
                        file, name, found->second));
      }
    }
  }
  if (!slots) {
    throw UsageError(
        fmt::format("{}: says no ranks a host: SLURM_NTASKS_PER_NODE, SLURM_TASKS_PER_NODE or "
                    "SLURM_GPUS_ON_NODE",
                    file));
  }
  facts.hosts = cluster::parse_host_list(nodes);
  for (cluster::ClusterHost& host : facts.hosts) {
    host.slots = *slots;
  }
}

}  // namespace paceline::predict
