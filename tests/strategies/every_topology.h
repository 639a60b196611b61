// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/strategies/topology.h"

namespace paceline::strategies {

/// A file of edges, as long as the object lives.
class EdgeFile {
 public:
  explicit EdgeFile(std::string_view lines) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("paceline-edges-{}-{}.txt", getpid(), ++count);
    std::ofstream(path_) << lines;
  }
  ~EdgeFile() { std::filesystem::remove(path_); }
  EdgeFile(const EdgeFile&) = delete;
  EdgeFile& operator=(const EdgeFile&) = delete;

  /// The topology.
  std::string text() const { return fmt::format("edges:{}", path_.string()); }

 private:
  std::filesystem::path path_;
};

/// 2 .. 17 and 32.
inline std::vector<Rank> topology_worlds() {
  std::vector<Rank> worlds;
  for (Rank ranks = 2; ranks <= 17; ++ranks) {
    worlds.push_back(ranks);
  }
  worlds.push_back(32);
  return worlds;
}

/// The smallest hosts of three or more ranks, of which there are several; 0: there are none.
inline Rank local_of(Rank ranks) {
  for (Rank local = 3; local < ranks; ++local) {
    if (ranks % local == 0) {
      return local;
    }
  }
  return 0;
}

/// A line of nodes whose neighbors take a quarter of one another.
inline std::string line_of_edges(Rank ranks) {
  std::string lines;
  for (Rank rank = 0; rank + 1 < ranks; ++rank) {
    lines += fmt::format("{0} {1} 0.25\n{1} {0} 0.25\n", rank, rank + 1);
  }
  return lines;
}

/// A topology as the command line names it, with `local` ranks a host.
struct NamedTopology {
  std::string text;
  Rank local = 1;
};

/// Every row of the table that exists for so many ranks, and some parameters.
inline std::vector<NamedTopology> topologies_of(Rank ranks, const std::string& edges) {
  std::vector<NamedTopology> all{{edges},
                                 {"exp:3"},
                                 {"one-peer-exp:3"},
                                 {"symmetric-exp:2"},
                                 {"ring:left"},
                                 {"ring:right"},
                                 {"base:3"},
                                 {"base:4"},
                                 {fmt::format("star:{}", ranks - 1)}};
  const Rank local = local_of(ranks);
  for (const TopologyRow& row : topologies()) {
    const bool on_hosts = row.name.starts_with("inner-outer");
    if (row.name != "edges" && (!on_hosts || local > 0)) {
      all.push_back({std::string(row.name), on_hosts ? local : 1});
    }
  }
  return all;
}

template <class Visit>
void for_every_topology(const Visit& visit) {
  for (const Rank ranks : topology_worlds()) {
    const EdgeFile edges(line_of_edges(ranks));
    for (const auto& [text, local] : topologies_of(ranks, edges.text())) {
      SCOPED_TRACE(fmt::format("{} of {}", text, ranks));
      visit(*TopologyChoice(text).on({ranks, local}), ranks);
    }
  }
}

}  // namespace paceline::strategies
