// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/draft.h"

#include <filesystem>
#include <sstream>
#include <type_traits>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/experiment/key.h"

namespace paceline::experiment {
namespace {

/// Which part of a file a key was found in.
enum class Part { kTop, kCase, kSweep };

class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  Draft read(const toml::table& file) const {
    Draft draft;
    draft.source = name_;
    for (const auto& [key, node] : file) {
      const std::string text(key.str());
      if (text == "case") {
        read_cases(node, draft);
      } else if (text == "sweep") {
        read_sweep(node, draft);
      } else {
        read_value(text, node, Part::kTop, draft.defaults);
      }
    }
    return draft;
  }

 private:
  std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", name_, node.source().begin.line);
  }

  void read_cases(const toml::node& node, Draft& draft) const {
    const toml::array* array = node.as_array();
    if (array == nullptr || !array->is_homogeneous<toml::table>()) {
      throw UsageError(fmt::format(
          "{}: case: write every case as a table of its own, [[case]]",
          at(node)));
    }
    for (const toml::node& element : *array) {
      Values values;
      for (const auto& [key, value] : *element.as_table()) {
        read_value(std::string(key.str()), value, Part::kCase, values);
      }
      draft.cases.push_back(std::move(values));
    }
  }

  void read_sweep(const toml::node& node, Draft& draft) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      throw UsageError(fmt::format(
          "{}: sweep: write it as a table, [sweep], with a list for each key "
          "that varies",
          at(node)));
    }
    draft.sweep.emplace();
    for (const auto& [key, value] : *table) {
      read_value(std::string(key.str()), value, Part::kSweep, *draft.sweep);
    }
  }

  void read_value(const std::string& name,
                  const toml::node& node,
                  Part part,
                  Values& to) const {
    const Key* key = find_key(name);
    if (key == nullptr) {
      throw UsageError(fmt::format(
          "{}: {}", at(node), unknown_key(name, part == Part::kTop)));
    }
    if (!key->in_file) {
      throw UsageError(
          fmt::format("{}: {} is not a key of files; give the "
                      "flag {}",
                      at(node),
                      name,
                      flag_of(*key)));
    }
    if (part != Part::kTop && !is_case_key(*key)) {
      throw UsageError(fmt::format(
          "{}: {} holds for the whole experiment; write it above the first "
          "table",
          at(node),
          name));
    }
    std::vector<Given>& values = to[name];
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      values.push_back(scalar(*key, node));
      return;
    }
    if (part != Part::kSweep) {
      throw UsageError(fmt::format(
          "{}: {}: a list of values belongs under [sweep]", at(node), name));
    }
    if (list->empty()) {
      throw UsageError(
          fmt::format("{}: {}: the list is empty", at(node), name));
    }
    for (const toml::node& element : *list) {
      values.push_back(scalar(*key, element));
    }
  }

  /// The text of a TOML value whose type is one that the key can hold.
  Given scalar(const Key& key, const toml::node& node) const {
    const std::string where = fmt::format("{}: {}", at(node), key.name);
    const auto text = std::visit(
        [&](auto member) { return text_for(member, key, node); }, key.field);
    if (!text) {
      std::ostringstream shown;
      node.visit([&](const auto& value) { shown << value; });
      throw UsageError(fmt::format(
          "{}: {} is not {}", where, shown.str(), allowed_text(key)));
    }
    return {*text, where};
  }

  template <class Value, class Owner>
  static std::optional<std::string> text_for(Value Owner::*,
                                             const Key& key,
                                             const toml::node& node) {
    if constexpr (std::is_same_v<Value, bool>) {
      if (const auto* value = node.as_boolean()) {
        return value->get() ? "true" : "false";
      }
    } else if constexpr (std::is_arithmetic_v<Value>) {
      if (const auto* value = node.as_integer()) {
        return fmt::format("{}", value->get());
      }
      if (const auto* value = node.as_floating_point();
          value != nullptr && std::is_same_v<Value, double>) {
        return fmt::format("{}", value->get());
      }
      if (const auto* value = node.as_string();
          value != nullptr && !key.words.empty()) {
        return value->get();
      }
    } else if (const auto* value = node.as_string()) {
      return value->get();
    }
    return std::nullopt;
  }

  std::string name_;
};

/// "seed=2" after "topk:density=0.1,": an option of the strategy before it.
bool continues_options(std::string_view piece) {
  const std::size_t equals = piece.find('=');
  return equals != std::string_view::npos && piece.find(':') > equals;
}

/// "50us" after "1Gbit,": the latency of the link before it, well written or
/// not; rates alone have a unit with bits or bytes.
bool is_latency(std::string_view piece) {
  return piece.find_first_of("bB") == std::string_view::npos;
}

/// Whether `piece` belongs to the value before the comma.
bool continues(std::string_view key, std::string_view piece) {
  return (key == "strategy" && continues_options(piece)) ||
         (key == "link" && is_latency(piece));
}

}  // namespace

Draft parse_draft(std::string_view text, const std::string& name) {
  try {
    return Reader(name).read(toml::parse(text, name));
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: not TOML: {}",
                                 name,
                                 error.source().begin.line,
                                 error.description()));
  }
}

Draft read_draft(const std::string& path) {
  return parse_draft(read_text(path), path);
}

std::vector<Given> split_flag(const std::string& name,
                              const std::vector<std::string>& texts) {
  const Key* key = find_key(name);
  PACELINE_CHECK(key != nullptr);
  const std::string where = flag_of(*key);
  std::vector<Given> values;
  for (const std::string& text : texts) {
    if (!is_case_key(*key) || name == "label") {
      values.push_back({text, where});
      continue;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string piece = text.substr(begin, end - begin);
      if (begin > 0 && continues(name, piece)) {
        values.back().text += "," + piece;
      } else {
        values.push_back({piece, where});
      }
      begin = end + 1;
    }
  }
  return values;
}

Settings settings_of(const Draft& draft) {
  Settings settings;
  settings.name = draft.source.empty()
                      ? "command-line"
                      : std::filesystem::path(draft.source).stem().string();
  for (const Values* values : {&draft.defaults, &draft.flags}) {
    for (const auto& [name, given] : *values) {
      const Key* key = find_key(name);
      PACELINE_CHECK(key != nullptr);
      if (is_case_key(*key)) {
        continue;
      }
      if (given.size() > 1) {
        throw UsageError(fmt::format(
            "{}: given {} times", given.front().where, given.size()));
      }
      if (given.front().text.empty()) {
        throw UsageError(fmt::format("{}: is empty; leave it out, or give {}",
                                     given.front().where,
                                     key->metavar));
      }
      assign_key(*key, given.front().text, given.front().where, settings);
    }
  }
  return settings;
}

}  // namespace paceline::experiment
