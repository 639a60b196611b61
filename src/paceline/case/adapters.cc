// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/adapters.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "paceline/base/file.h"
#include "paceline/cluster/toml_section.h"

namespace paceline::cases {
namespace {

namespace fs = std::filesystem;

using cluster::Section;

constexpr std::array<std::string_view, 1> kHosts{"one"};
constexpr std::array<std::string_view, 2> kCompiles{"optional", "always"};

// The name by which Python imports the package of an environment: decent_dp of decent-dp.
std::string import_name(std::string environment) {
  std::ranges::replace(environment, '-', '_');
  return environment;
}

void find_interpreter(const std::string& environment, const PythonPackage& package,
                      Adapter& adapter) {
  const fs::path home = fs::path(package.environments) / environment;
  adapter.python = package.python;
  if (environment.empty()) {
    return;
  }
  // The file "installed" is the last thing that `make adapters` writes.
  if (!package.environments.empty() && fs::exists(home / "installed")) {
    adapter.python = (home / "bin" / "python").string();
  } else if (!has_package(package.python, import_name(environment))) {
    adapter.missing = not_installed(adapter.name, environment, package.environments);
  }
}

Adapter adapter_from(const Section& table, const std::string& name, const PythonPackage& package) {
  const auto compiles = table.one_of("compiles", kCompiles);
  Adapter adapter{.name = name,
                  .about = table.text("about"),
                  .arguments = table.texts("arguments"),
                  .missing = table.text("unavailable"),
                  .environments = package.environments,
                  .engine = table.text("engine"),
                  .models = table.texts("models"),
                  .dtypes = table.texts("dtypes"),
                  .devices = table.texts("devices"),
                  .optimizers = table.texts("optimizers"),
                  .one_host = table.one_of("hosts", kHosts).has_value(),
                  .compiles = compiles.has_value(),
                  .always_compiles = compiles == "always"};
  if (const auto module = table.written("module")) {
    adapter.module = "paceline.adapters." + *module;
  } else if (adapter.missing.empty()) {
    table.reject("module", "''", "an adapter names its module");
  }
  table.table("options", "", [&](const Section& options) {
    for (const std::string& key : options.keys()) {
      adapter.options[key] = options.text(key);
    }
  });
  if (adapter.missing.empty()) {
    find_interpreter(table.text("environment"), package, adapter);
  }
  return adapter;
}

}  // namespace

bool has_package(const std::string& python, const std::string& name) {
  std::error_code none;
  const fs::path libraries = fs::path(python).parent_path().parent_path() / "lib";
  for (const auto& version : fs::directory_iterator(libraries, none)) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      if (fs::exists(version.path() / packages / name, none)) {
        return true;
      }
    }
  }
  return false;
}

std::string not_installed(const std::string& framework, const std::string& environment,
                          const std::string& environments) {
  const std::string how = environments.empty()
                              ? fmt::format("pip install 'paceline[adapters-{}]'", environment)
                              : fmt::format("make adapters NAME={}", environment);
  return fmt::format("{}{}{}", framework, kNotInstalled, how);
}

std::vector<Adapter> read_adapters(const PythonPackage& package) {
  const std::string path = package.folder + "/adapters/adapters.toml";
  std::vector<Adapter> adapters;
  const std::optional<std::string> text = read_text_if_readable(path);
  if (!text) {
    return adapters;
  }
  const toml::table parsed = cluster::parse_toml(*text, path);
  const Section file(parsed, path, "", "");
  for (const std::string& name : file.keys()) {
    file.table(
        name,
        "about module arguments environment unavailable engine models dtypes devices optimizers "
        "hosts compiles options",
        [&](const Section& table) { adapters.push_back(adapter_from(table, name, package)); });
  }
  return adapters;
}

bool is_adapter_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".py");
}

std::optional<Adapter> find_adapter(std::span<const Adapter> adapters, const std::string& name) {
  const auto found = std::ranges::find(adapters, name, &Adapter::name);
  if (found != adapters.end()) {
    return *found;
  }
  std::error_code none;
  if (!is_adapter_path(name) || !fs::is_regular_file(name, none)) {
    return std::nullopt;
  }
  return Adapter{.name = name,
                 .module = fs::absolute(name).string(),
                 .python = python_package().python,
                 .compiles = true};
}

}  // namespace paceline::cases
