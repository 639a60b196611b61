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

/// A framework (such as jax) whose training a module of paceline.adapters runs, one process per
/// rank (docs/adapters.md). Each adapter is one table of adapters.toml.
struct Adapter {
  std::string name{};                            // the value of `framework` that selects it
  std::string about{};                           // a description of one line
  std::string module{};                          // "paceline.adapters.jax_train", or a file's path
  std::vector<std::string> arguments{};          // command-line arguments of the module
  std::string python{};                          // path of the interpreter that runs it
  std::string missing{};                         // why it cannot run on this machine; empty: it can
  std::string engine{};                          // communication library of cases on CPUs; empty:
                                                 // that of the case
  std::vector<std::string> models{};             // supported models; empty: Paceline's
  std::vector<std::string> dtypes{};             // supported dtypes; empty: all
  std::vector<std::string> devices{};            // supported devices; empty: all
  std::vector<std::string> optimizers{};         // supported optimizers; empty: all
  bool one_host = false;                         // its ranks must be on one host
  bool compiles = false;                         // whether the case may set `compiled`
  bool always_compiles = false;                  // whether `compiled` is true in every case
  std::map<std::string, std::string> options{};  // further keys of PACELINE_CASE, with their values
};

/// Reads the adapters of a package. An adapter that names an environment runs in that environment
/// if `make adapters` has made it, else in the package's own interpreter if the framework is
/// installed there. An adapter that names no environment runs in the package's own interpreter. A
/// table may give, instead of a module, the reason why the framework is `unavailable`. Returns an
/// empty list if the package has no adapters.toml; throws UsageError if that file is invalid.
std::vector<Adapter> read_adapters(const PythonPackage& package);

/// Whether the name of a framework is the path of an adapter outside of the package: it contains a
/// '/' or ends in .py.
bool is_adapter_path(const std::string& name);

/// The adapter of this name: one of `adapters`, or, if the name is the path of an existing file, an
/// adapter that runs this file in the package's own interpreter. Nothing if neither exists.
std::optional<Adapter> find_adapter(std::span<const Adapter> adapters, const std::string& name);

/// The value of `framework` for which Paceline itself trains.
inline constexpr const char* kPaceline = "paceline";

/// The text that Adapter::missing contains if the framework is not installed.
inline constexpr std::string_view kNotInstalled = " is not installed here: ";

}  // namespace paceline::cases
