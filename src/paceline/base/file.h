// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// Throws UsageError that names `option` unless `path` could be created or appended to.  Leaves no
/// file and changes none: meant to be called before time is spent on the content.
void check_writable(std::string_view option, const std::filesystem::path& path);

/// Replaces the file's content so that a reader sees either all of the old or all of the new text.
/// A path that is no regular file (a pipe, /dev/stdout) is written to directly.  Throws WorldError.
void write_atomically(const std::filesystem::path& path, std::string_view text);

/// Returns the whole file; throws UsageError that names the path and the reason.
std::string read_text(const std::filesystem::path& path);

/// Returns the whole file, or nothing if it cannot be read; meant for /proc and /sys.
std::optional<std::string> read_text_if_readable(const std::filesystem::path& path);

/// Returns the lines of `text`.  A last line without a newline counts; an empty text has no lines.
std::vector<std::string> split_lines(std::string_view text);

/// A file that a command is to write; an empty path: the user did not ask for this file.
struct Output {
  std::string_view flag;
  std::string path;
};

/// Throws UsageError if two outputs are the same file (only the later would remain), or if an
/// output is also an input or cannot be written.  Devices and pipes may be shared.
void check_outputs(const std::vector<Output>& outputs, const std::vector<Output>& inputs = {});

}  // namespace paceline
