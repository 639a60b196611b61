// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace paceline::experiment {

/// A framework that a program of adapters/ trains, one process per rank
/// (docs/adapters.md): a table of adapters/adapters.toml.
struct Adapter {
  std::string name{};                    // as in `framework`
  std::string about{};                   // one line
  std::string program{};                 // path of the Python program
  std::vector<std::string> arguments{};  // of the program
  std::string python{};                  // path of the interpreter that runs it
  std::string missing{};                 // empty, or why it cannot run here
  std::string engine{};  // what moves the bytes on CPUs; empty: gloo, nccl
  std::vector<std::string> models{};      // that it has; empty: Paceline's
  std::vector<std::string> dtypes{};      // that it has; empty: all
  std::vector<std::string> devices{};     // that it trains on; empty: all
  std::vector<std::string> optimizers{};  // that it has; empty: all
  bool one_host = false;                  // its ranks must be on one host
  bool compiles = false;                  // `compiled` may be true
  bool always_compiles = false;           // `compiled` is always true
  std::map<std::string, std::string> options{};  // added to the case
};

/// The adapters of a folder.  An adapter's interpreter lies in
/// .deps/adapters/ENVIRONMENT beside the folder, where `make adapters` puts it;
/// adapters without an environment of their own run in `python`.  Instead of a
/// program a table may say why the framework is `unavailable`.  None where
/// the folder has no adapters.toml; throws UsageError where that is wrong.
std::vector<Adapter> read_adapters(const std::string& folder,
                                   const std::string& python);

/// The adapter of this name, or null.
const Adapter* find_adapter(std::span<const Adapter> adapters,
                            const std::string& name);

/// Its name among the frameworks where Paceline itself trains.
inline constexpr const char* kPaceline = "paceline";

/// "jax is not installed here: make adapters NAME=jax".
std::string not_installed(const std::string& framework,
                          const std::string& environment);

}  // namespace paceline::experiment
