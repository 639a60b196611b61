// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/csv.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"

namespace paceline::validate {
namespace {

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

Csv Csv::read(const std::filesystem::path& path) {
  return parse(read_text(path), path.string());
}

Csv Csv::parse(std::string_view text, const std::string& name) {
  Csv csv;
  csv.name_ = name;
  std::size_t number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    std::vector<std::string> fields = fields_of(line);
    if (number == 1) {
      csv.columns_ = std::move(fields);
    } else if (fields.size() != csv.columns_.size()) {
      throw UsageError(fmt::format("{}:{}: {} fields, the header has {}",
                                   name,
                                   number,
                                   fields.size(),
                                   csv.columns_.size()));
    } else {
      csv.rows_.push_back(std::move(fields));
    }
  }
  return csv;
}

const std::string& Csv::text(std::size_t row, std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  if (found == columns_.end()) {
    throw UsageError(fmt::format("{} has no column '{}'", name_, column));
  }
  return rows_.at(row)[static_cast<std::size_t>(found - columns_.begin())];
}

std::optional<double> Csv::number(std::size_t row,
                                  std::string_view column) const {
  const std::string& field = text(row, column);
  if (field.empty()) {
    return std::nullopt;
  }
  double value = 0;
  const char* const end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (error != std::errc{} || stop != end) {
    throw UsageError(fmt::format(
        "{}:{}: {} is no number: '{}'", name_, row + 2, column, field));
  }
  return value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    if (c == separator) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

}  // namespace paceline::validate
