// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/adapters.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"

namespace paceline::experiment {
namespace {

namespace fs = std::filesystem;

class AdapterReader {
 public:
  AdapterReader(std::string folder, std::string python)
      : folder_(std::move(folder)), python_(std::move(python)) {}

  Adapter read(const std::string& name, const toml::table& table) {
    Adapter adapter{.name = name};
    std::string environment;
    for (const auto& [key, node] : table) {
      const std::string word(key.str());
      if (word == "about") {
        adapter.about = text(word, node);
      } else if (word == "program") {
        adapter.program = (fs::path(folder_) / text(word, node)).string();
      } else if (word == "arguments") {
        adapter.arguments = texts(word, node);
      } else if (word == "environment") {
        environment = text(word, node);
      } else if (word == "unavailable") {
        adapter.missing = text(word, node);
      } else if (word == "engine") {
        adapter.engine = text(word, node);
      } else if (word == "models") {
        adapter.models = texts(word, node);
      } else if (word == "dtypes") {
        adapter.dtypes = texts(word, node);
      } else if (word == "devices") {
        adapter.devices = texts(word, node);
      } else if (word == "optimizers") {
        adapter.optimizers = texts(word, node);
      } else if (word == "hosts") {
        adapter.one_host = is_one(word, node);
      } else if (word == "compiles") {
        const std::string when = text(word, node);
        adapter.always_compiles = when == "always";
        adapter.compiles = when == "always" || when == "optional";
      } else if (word == "options" && node.is_table()) {
        for (const auto& [option, value] : *node.as_table()) {
          adapter.options[std::string(option.str())] = text(word, value);
        }
      } else {
        refuse(word, "is not known");
      }
    }
    if (adapter.program.empty() && adapter.missing.empty()) {
      refuse(name, "names no program");
    }
    if (adapter.missing.empty()) {
      find_interpreter(environment, adapter);
    }
    return adapter;
  }

 private:
  [[noreturn]] void refuse(const std::string& word, const char* why) const {
    throw UsageError(
        fmt::format("{}/adapters.toml: {} {}", folder_, word, why));
  }

  std::string text(const std::string& word, const toml::node& node) const {
    const auto value = node.value<std::string>();
    if (!value) {
      refuse(word, "is no text");
    }
    return *value;
  }

  bool is_one(const std::string& word, const toml::node& node) const {
    if (text(word, node) != "one") {
      refuse(word, "is not \"one\"");
    }
    return true;
  }

  std::vector<std::string> texts(const std::string& word,
                                 const toml::node& node) const {
    if (!node.is_array()) {
      refuse(word, "is no list of texts");
    }
    std::vector<std::string> all;
    for (const toml::node& one : *node.as_array()) {
      all.push_back(text(word, one));
    }
    return all;
  }

  void find_interpreter(const std::string& environment, Adapter& adapter) {
    if (environment.empty()) {
      adapter.python = python_;
      return;
    }
    const fs::path home =
        fs::path(folder_).parent_path() / ".deps" / "adapters" / environment;
    adapter.python = (home / "bin" / "python").string();
    // The last thing that its installation writes.
    if (!fs::exists(home / "installed")) {
      adapter.missing = not_installed(adapter.name, environment);
    }
  }

  std::string folder_, python_;
};

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
  try {
    AdapterReader reader(folder, python);
    for (const auto& [name, node] : toml::parse(*text, path)) {
      if (node.is_table()) {
        adapters.push_back(
            reader.read(std::string(name.str()), *node.as_table()));
      }
    }
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: not TOML: {}",
                                 path,
                                 error.source().begin.line,
                                 error.description()));
  }
  return adapters;
}

const Adapter* find_adapter(std::span<const Adapter> adapters,
                            const std::string& name) {
  const auto found = std::ranges::find(adapters, name, &Adapter::name);
  return found == adapters.end() ? nullptr : &*found;
}

}  // namespace paceline::experiment
