// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/base/python_package.h"

namespace paceline::cases {

/// A framework that a module of paceline.adapters trains, one process per rank (docs/adapters.md):
/// a table of its adapters.toml.
struct Adapter {
  std::string name{};                            // as in `framework`
  std::string about{};                           // one line
  std::string module{};                          // "paceline.adapters.jax_train", or a file's path
  std::vector<std::string> arguments{};          // of the module
  std::string python{};                          // path of the interpreter that runs it
  std::string missing{};                         // empty, or why it cannot run here
  std::string environments{};                    // as in PythonPackage
  std::string engine{};                          // what moves the bytes on CPUs; empty: gloo, nccl
  std::vector<std::string> models{};             // that it has; empty: Paceline's
  std::vector<std::string> dtypes{};             // that it has; empty: all
  std::vector<std::string> devices{};            // that it trains on; empty: all
  std::vector<std::string> optimizers{};         // that it has; empty: all
  bool one_host = false;                         // its ranks must be on one host
  bool compiles = false;                         // `compiled` may be true
  bool always_compiles = false;                  // `compiled` is always true
  std::map<std::string, std::string> options{};  // added to the case
};

/// The adapters of a package.  An adapter that needs an environment runs in the one that `make
/// adapters` made for it, else in the package's own interpreter where the framework is installed
/// there; the others run in that one.  Instead of a module a table may say why the framework is
/// `unavailable`.  None where the package has no adapters.toml; throws UsageError where that is
/// wrong.
std::vector<Adapter> read_adapters(const PythonPackage& package);

/// Whether the name of a framework is the path of an adapter outside of the package: it has a '/'
/// or ends in .py.
bool is_adapter_path(const std::string& name);

/// The adapter of this name: one of `adapters`, or the file that the name is the path of, which the
/// package's own interpreter runs. Nothing where there is neither.
std::optional<Adapter> find_adapter(std::span<const Adapter> adapters, const std::string& name);

/// Its name among the frameworks where Paceline itself trains.
inline constexpr const char* kPaceline = "paceline";

/// Whether the environment of the interpreter has a package in its own folder.
bool has_package(const std::string& python, const std::string& name);

inline constexpr std::string_view kNotInstalled = " is not installed here: ";

/// "jax is not installed here: make adapters NAME=jax", or what pip installs where there are no
/// `environments`.
std::string not_installed(const std::string& framework, const std::string& environment,
                          const std::string& environments);

}  // namespace paceline::cases
