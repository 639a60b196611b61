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

// Whether the Python package `name` is installed in the environment of the interpreter `python`.
bool has_package(const std::string& python, const std::string& name) {
  std::error_code none;
  const fs::path libraries = fs::path(python).parent_path().parent_path() / "lib";
  const auto versions = fs::directory_iterator(libraries, none);
  return std::any_of(begin(versions), end(versions), [&](const fs::directory_entry& version) {
    return fs::exists(version.path() / "site-packages" / name, none) ||
           fs::exists(version.path() / "dist-packages" / name, none);
  });
}

void find_interpreter(const std::string& environment, const PythonPackage& package,
                      Adapter& adapter) {
  const fs::path home = fs::path(package.environments) / environment;
  std::string import_name = environment;  // decent_dp of decent-dp
  std::ranges::replace(import_name, '-', '_');
  adapter.python = package.python;
  if (environment.empty()) {
    return;
  }
  // `make adapters` writes the file "installed" last, so its existence means a complete
  // installation.
  if (!package.environments.empty() && fs::exists(home / "installed")) {
    adapter.python = (home / "bin" / "python").string();
  } else if (!has_package(package.python, import_name)) {
    adapter.missing =
        fmt::format("{}{}{}", adapter.name, kNotInstalled,
                    package.environments.empty()
                        ? fmt::format("pip install 'paceline[adapters-{}]'", environment)
                        : fmt::format("make adapters NAME={}", environment));
  }
}

Adapter adapter_from(const Section& table, const std::string& name, const PythonPackage& package) {
  const auto compiles = table.one_of("compiles", kCompiles);
  Adapter adapter{.name = name,
                  .about = table.text("about"),
                  .arguments = table.texts("arguments"),
                  .missing = table.text("unavailable"),
                  .engine = table.text("engine"),
                  .models = table.texts("models"),
                  .dtypes = table.texts("dtypes"),
                  .devices = table.texts("devices"),
                  .optimizers = table.texts("optimizers"),
                  .one_host = table.one_of("hosts", kHosts).has_value(),
                  .compiles = compiles.has_value(),
                  .always_compiles = compiles == "always"};
  if (const auto module = table.text_if_present("module")) {
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
