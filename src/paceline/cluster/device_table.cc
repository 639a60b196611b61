// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/device_table.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "paceline/cluster/device_data.h"
#include "paceline/cluster/toml_section.h"

namespace paceline::cluster {
namespace {

constexpr auto kDeviceFile = "data/devices.toml";

struct DataSheet {
  std::vector<std::string> words;  // words that identify the device's name, in upper case
  std::optional<double> memory_bytes_per_s;
};

/// Returns the words of a name in upper case: "A100", "SXM4" and "80GB" of "A100-SXM4-80GB".
std::vector<std::string> name_words(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else {
      words.emplace_back();
    }
  }
  return words;
}

std::vector<DataSheet> read_table() {
  constexpr double kGiga = 1e9;
  const toml::table parsed = parse_toml(shipped::kDevices, kDeviceFile);
  std::vector<DataSheet> sheets;
  Section(parsed, kDeviceFile, "the table of devices", "")
      .each("devices", "[[devices]]", "words memory source", [&](const Section& entry) {
        DataSheet sheet;
        for (const std::string& word : entry.texts("words")) {
          sheet.words.push_back(name_words(word).front());
        }
        if (const auto memory = entry.non_negative("memory")) {
          sheet.memory_bytes_per_s = *memory * kGiga;
        }
        sheets.push_back(std::move(sheet));
      });
  return sheets;
}

}  // namespace

std::string device_model(std::string_view device) {
  for (std::string& word : name_words(device)) {
    if (word.find_first_of("0123456789") != std::string::npos) {
      return std::move(word);
    }
  }
  return "";
}

std::optional<double> data_sheet_memory_rate(std::string_view device) {
  static const std::vector<DataSheet> sheets = read_table();
  const std::vector<std::string> words = name_words(device);
  for (const DataSheet& sheet : sheets) {
    if (std::ranges::all_of(sheet.words, [&](const std::string& word) {
          return std::ranges::find(words, word) != words.end();
        })) {
      return sheet.memory_bytes_per_s;
    }
  }
  return std::nullopt;
}

}  // namespace paceline::cluster
