// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// Fails with a UsageError that names `option` unless `path` could be created or appended to.
/// Creates and changes nothing: meant for the moment before time is spent on what will be written
/// there.
void check_writable(std::string_view option, const std::filesystem::path& path);

/// Replaces the file's content so that a reader sees all of the old or all of the new text.  What
/// is not a regular file (a pipe, /dev/stdout) is written to directly.  Throws WorldError.
void write_atomically(const std::filesystem::path& path, std::string_view text);

/// The whole file; throws a UsageError that names the path and the reason.
std::string read_text(const std::filesystem::path& path);

/// The whole file, or nothing where it cannot be read: for /proc and /sys.
std::optional<std::string> read_text_if_readable(const std::filesystem::path& path);

/// The lines of `text`.  A last line without a newline counts; an empty text has none.
std::vector<std::string> split_lines(std::string_view text);

/// A file that a command is to write; no path: it is not asked for.
struct Output {
  std::string_view flag;
  std::string path;
};

/// Throws UsageError where two outputs are one file, of which the later one would be kept, and
/// where one is a file that is read, or cannot be written. Devices and pipes may be shared.
void check_outputs(const std::vector<Output>& outputs, const std::vector<Output>& inputs = {});

}  // namespace paceline
