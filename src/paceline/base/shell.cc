// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/shell.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace paceline {

std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) {
    return text;
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& argv) {
  std::string line;
  for (const auto& word : argv) {
    line += (line.empty() ? "" : " ") + shell_word(word);
  }
  return line;
}

}  // namespace paceline
