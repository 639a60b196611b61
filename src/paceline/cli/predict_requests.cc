// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/predict_requests.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/predict.h"
#include "paceline/records/json.h"

namespace paceline::cli {
namespace {

using nlohmann::json;

/// Flags of `paceline predict` that are not keys of requests, because they do not change the
/// prediction.
constexpr std::array<std::string_view, 5> kFlagsWithoutKey{"help", "requests", "trace", "records",
                                                           "format"};

std::vector<std::string> keys_of(const CLI::App& predict) {
  std::vector<std::string> keys{"id"};
  for (const CLI::Option* option : predict.get_options()) {
    for (std::string name : option->get_lnames()) {
      if (std::ranges::find(kFlagsWithoutKey, name) == kFlagsWithoutKey.end()) {
        std::ranges::replace(name, '-', '_');
        keys.push_back(std::move(name));
      }
    }
  }
  return keys;
}

std::string text_of(const std::string& key, const json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_number()) {
    return value.dump();
  }
  throw UsageError(fmt::format("{}: {} must be a string, a number or a list of these", key,
                               shown(value.dump(-1, ' ', false, json::error_handler_t::replace))));
}

/// The words of a command line that set `key` to this value.
std::vector<std::string> flag_words_of(const CLI::App& predict, const std::string& key,
                                       const json& value) {
  std::string flag = "--" + key;
  std::ranges::replace(flag, '_', '-');
  if (!value.is_array()) {
    return {flag + "=" + text_of(key, value)};
  }
  if (value.empty()) {
    throw UsageError(fmt::format("{}: the list is empty", key));
  }
  const bool one_word = predict.get_option(flag)->get_delimiter() != '\0';
  std::vector<std::string> words;
  for (const json& element : value) {
    if (one_word && !words.empty()) {
      words.front() += "," + text_of(key, element);
    } else {
      words.push_back(flag + "=" + text_of(key, element));
    }
  }
  return words;
}

std::vector<std::string> flag_words_of(const CLI::App& predict, const json& request) {
  const std::vector<std::string> keys = keys_of(predict);
  std::vector<std::string> words;
  for (const auto& [key, value] : request.items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      throw UsageError(unknown_name_message("key", key, keys));
    }
    if (key != "id") {
      std::ranges::move(flag_words_of(predict, key, value), std::back_inserter(words));
    }
  }
  return words;
}

records::RunRecord predicted(const json& request, simulator::JobCache& jobs) {
  CLI::App app;
  const PredictCommand command(app);
  std::vector<std::string> words = flag_words_of(app, request);
  check_flags(app, words);
  std::ranges::reverse(words);  // CLI11 expects reverse order
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw UsageError(sentence_of(error));
  }
  return command.record(jobs);
}

json parsed(const std::string& line) {
  json request;
  try {
    request = json::parse(line);
  } catch (const json::exception& error) {
    throw UsageError(not_json_message(line, error.what()));
  }
  if (!request.is_object()) {
    throw UsageError("a request must be a JSON object");
  }
  return request;
}

/// Answers one line. Returns whether its record was printed; if not, an error was.
bool answer(const std::string& line, simulator::JobCache& jobs) {
  json id;
  try {
    const json request = parsed(line);
    id = request.value("id", json());
    fmt::print("{}\n", records::to_line(predicted(request, jobs)));
    return true;
  } catch (const std::exception& error) {
    const nlohmann::ordered_json rejection{{"id", id}, {"error", error.what()}};
    fmt::print("{}\n", records::to_line(rejection));
    return false;
  }
}

int answer_all(std::istream& in) {
  simulator::JobCache jobs;
  bool all = true;
  for (std::string line; std::getline(in, line);) {
    if (!trimmed(line).empty()) {
      all = answer(line, jobs) && all;
      std::fflush(stdout);
    }
  }
  return all ? 0 : kUsageErrorStatus;
}

}  // namespace

int predict_requests(const std::string& file) {
  if (file == "-") {
    return answer_all(std::cin);
  }
  std::ifstream in(file);
  if (!in || in.peek() == std::ifstream::traits_type::eof()) {
    throw UsageError(fmt::format("--requests {}: cannot be read, or is empty", file));
  }
  return answer_all(in);
}

}  // namespace paceline::cli
