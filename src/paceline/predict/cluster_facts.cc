// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

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

/// Throws UsageError where a variable says another number than the node list and the ranks a host.
void check_slurm(const std::map<std::string, std::string>& variables, const std::string& file,
                 int hosts, int slots) {
  const auto check = [&](const char* name, const std::string& expected, const char* what) {
    const auto found = variables.find(name);
    if (found != variables.end() && found->second != expected) {
      throw UsageError(fmt::format("{}: {}={}, but {} it would be {}", file, name, found->second,
                                   what, expected));
    }
  };
  const std::string nodes = std::to_string(hosts);
  constexpr auto kByNodes = "by the node list";
  check("SLURM_NNODES", nodes, kByNodes);
  check("SLURM_JOB_NUM_NODES", nodes, kByNodes);
  if (!variables.contains("SLURM_NTASKS_PER_NODE") && !variables.contains("SLURM_TASKS_PER_NODE")) {
    return;  // the ranks a host are the GPUs
  }
  constexpr auto kByTasks = "by the node list and the tasks of a node";
  const std::string each = std::to_string(slots);
  const auto tasks = variables.find("SLURM_TASKS_PER_NODE");
  if (tasks != variables.end() && tasks->second != each) {
    check("SLURM_TASKS_PER_NODE", fmt::format("{}(x{})", each, hosts), kByTasks);
  }
  check("SLURM_NTASKS", std::to_string(hosts * slots), kByTasks);
  check("SLURM_NPROCS", std::to_string(hosts * slots), kByTasks);
}

}  // namespace

bool is_topology(const std::string& text) {
  const std::vector<std::string> lines = split_at(text, '\n');
  return std::ranges::any_of(lines, [](const std::string& line) {
    const auto words = words_of_line(line);
    return words.size() > 2 && words[0] == "GPU0" && words[1] == "X";
  });
}

namespace {

/// Returns the devices and cards that have a row and a column in the matrix below the header.
std::vector<std::string> columns_of(const std::vector<std::string>& header) {
  return {header.begin(), std::ranges::find(header, "CPU")};
}

/// Returns the cells of the matrix.  Throws UsageError unless it is square.
std::vector<std::vector<std::string>> matrix_of(const std::string& text, const std::string& file,
                                                std::vector<std::string>& columns) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split_at(text, '\n')) {
    const auto words = words_of_line(line);
    if (columns.empty() && words.size() > 1 && words[0] == "GPU0" && words[1] != "X") {
      columns = columns_of(words);
      continue;
    }
    if (words.empty() || rows.size() == columns.size() || words[0] != columns[rows.size()]) {
      continue;
    }
    if (words.size() <= columns.size() || words[rows.size() + 1] != "X") {
      throw UsageError(fmt::format("{}: {}: the row has no X below {}, or ends before {}", file,
                                   line, words[0], columns.back()));
    }
    rows.emplace_back(words.begin() + 1, words.begin() + 1 + std::ssize(columns));
  }
  if (columns.empty()) {
    throw UsageError(fmt::format("{}: holds no row of a GPU, as nvidia-smi topo -m has", file));
  }
  if (rows.size() < columns.size()) {
    throw UsageError(fmt::format(
        "{}: the matrix of nvidia-smi topo -m has {} columns, to {}, and {} rows in their order: "
        "it is cut off",
        file, columns.size(), columns.back(), rows.size()));
  }
  return rows;
}

/// Returns the number of NVLinks in a cell: 18 of "NV18", 0 of "SYS".
int nvlinks_in(const std::string& cell) {
  return is_numbered(cell, "NV") ? *number_from<int>(cell.substr(2)) : 0;
}

}  // namespace

void add_topology(const std::string& text, const std::string& file, ClusterFacts& facts) {
  std::vector<std::string> columns;
  const auto cells = matrix_of(text, file, columns);
  const auto is_card = [](const std::string& name) {
    return is_numbered(name, "NIC") || is_numbered(name, "mlx5_");
  };
  const auto devices = static_cast<std::size_t>(std::ranges::count_if(
      columns, [](const std::string& name) { return is_numbered(name, "GPU"); }));
  facts.has_topology = true;
  facts.devices_per_host = static_cast<int>(devices);
  facts.network_cards = static_cast<int>(std::ranges::count_if(columns, is_card));
  facts.nvlinks = devices > 1 ? nvlinks_in(cells[0][1]) : 0;
  facts.most_nvlinks = facts.nvlinks_of_a_device = 0;
  for (std::size_t i = 0; i < devices; ++i) {
    int sum = 0;
    for (std::size_t k = 0; k < devices; ++k) {
      if (cells[i][k] != cells[k][i]) {
        throw UsageError(fmt::format("{}: {} has {} to {}, and {} has {} to {}", file, columns[i],
                                     cells[i][k], columns[k], columns[k], cells[k][i], columns[i]));
      }
      if (i != k) {
        const int nvlinks = nvlinks_in(cells[i][k]);
        facts.nvlinks = std::min(facts.nvlinks, nvlinks);
        facts.most_nvlinks = std::max(facts.most_nvlinks, nvlinks);
        sum += nvlinks;
      }
    }
    facts.nvlinks_of_a_device = std::max(facts.nvlinks_of_a_device, sum);
  }
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
  check_slurm(variables, file, static_cast<int>(facts.hosts.size()), *slots);
}

}  // namespace paceline::predict
