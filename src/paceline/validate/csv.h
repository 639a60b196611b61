// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::validate {

/// A CSV file with a header row.  Fields may be quoted; "" within a quoted
/// field is a quote.  No field holds a line break.
class Csv {
 public:
  /// Throws UsageError that names the file and line of what is no table.
  static Csv read(const std::filesystem::path& path);
  static Csv parse(std::string_view text, const std::string& name);

  std::size_t rows() const { return rows_.size(); }

  /// Throws UsageError for a column that the file does not have.
  const std::string& text(std::size_t row, std::string_view column) const;

  /// Nothing for an empty field; throws UsageError for what is no number.
  std::optional<double> number(std::size_t row, std::string_view column) const;

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The pieces between separators; "a||b" has three.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace paceline::validate
