// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/text.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace paceline::report {
namespace {

// Returns the number of bytes of the UTF-8 character at the start of `text` if it would move a
// cursor (C1 controls) or change the direction of the text around it; else 0.
std::size_t invisible_character_bytes(std::string_view text) {
  const auto byte = [&text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) {
    return 2;
  }
  const bool turns =
      byte(0) == 0xE2 && ((byte(1) == 0x80 && ((byte(2) >= 0xAA && byte(2) <= 0xAE) ||
                                               byte(2) == 0x8E || byte(2) == 0x8F)) ||
                          (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9));
  return turns ? 3 : 0;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t unseen = byte < 0x20 || byte == 0x7F ? 1 : invisible_character_bytes(text);
    if (c == '\n' || c == '\t' || c == '\r') {
      out += ' ';
    } else {
      out += unseen > 0 ? '?' : c;
    }
    text.remove_prefix(std::max<std::size_t>(unseen, 1));
  }
  return out;
}

std::string with_hanging_indent(std::string_view head, std::string_view text, std::size_t width) {
  const std::size_t indent = display_width(head);
  std::string out(head);
  std::size_t column = indent;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const std::size_t length = display_width(word);
    if (column > indent && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += " ";
      ++column;
    }
    out += word;
    column += length;
  }
  return out + "\n";
}

std::string format_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace paceline::report
