// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/adapters.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "paceline/base/file.h"
#include "paceline/cluster/toml_section.h"

namespace paceline::experiment {
namespace {

namespace fs = std::filesystem;

using cluster::Section;

constexpr std::array<std::string_view, 1> kHosts{"one"};
constexpr std::array<std::string_view, 2> kCompiles{"optional", "always"};

// `python` runs those that have no environment of their own.
void find_interpreter(const std::string& environment,
                      const fs::path& folder,
                      const std::string& python,
                      Adapter& adapter) {
  const fs::path home =
      folder.parent_path() / ".deps" / "adapters" / environment;
  adapter.python =
      environment.empty() ? python : (home / "bin" / "python").string();
  // The last thing that its installation writes.
  if (!environment.empty() && !fs::exists(home / "installed")) {
    adapter.missing = not_installed(adapter.name, environment);
  }
}

Adapter adapter_from(const Section& table,
                     const std::string& name,
                     const fs::path& folder,
                     const std::string& python) {
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
  if (const auto program = table.written("program")) {
    adapter.program = (folder / *program).string();
  } else if (adapter.missing.empty()) {
    table.refuse("program", "''", "an adapter names its program");
  }
  table.table("options", "", [&](const Section& options) {
    for (const std::string& key : options.keys()) {
      adapter.options[key] = options.text(key);
    }
  });
  if (adapter.missing.empty()) {
    find_interpreter(table.text("environment"), folder, python, adapter);
  }
  return adapter;
}

}  // namespace

std::string not_installed(const std::string& framework,
                          const std::string& environment) {
  return fmt::format("{} is not installed here: make adapters NAME={}",
                     framework,
                     environment);
}

std::vector<Adapter> read_adapters(const std::string& folder,
                                   const std::string& python) {
  const std::string path = folder + "/adapters.toml";
  std::vector<Adapter> adapters;
  const std::optional<std::string> text = read_text_if_readable(path);
  if (!text) {
    return adapters;
  }
  const toml::table parsed = cluster::parse_toml(*text, path);
  const Section file(parsed, path, "", "");
  for (const std::string& name : file.keys()) {
    file.table(name,
               "about program arguments environment unavailable engine models "
               "dtypes devices optimizers hosts compiles options",
               [&](const Section& table) {
                 adapters.push_back(adapter_from(table, name, folder, python));
               });
  }
  return adapters;
}

const Adapter* find_adapter(std::span<const Adapter> adapters,
                            const std::string& name) {
  const auto found = std::ranges::find(adapters, name, &Adapter::name);
  return found == adapters.end() ? nullptr : &*found;
}

}  // namespace paceline::experiment
