// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"

namespace paceline {
namespace {

std::string errno_text(int error) { return std::strerror(error); }

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int error) {
  throw WorldError(fmt::format("cannot {} {}: {}", action, path.string(), errno_text(error)));
}

/// An open file.
class File {
 public:
  File(std::filesystem::path path, int flags)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {}

  bool is_open() const { return descriptor_.is_open(); }

  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_.number(), text.data(), text.size());
      if (written < 0 && errno != EINTR) {
        fail("write to", path_, errno);
      }
      text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
  }

  // A pipe or a terminal cannot be synced, and does not need it.
  void sync() const {
    if (::fsync(descriptor_.number()) != 0 && errno != EINVAL && errno != EROFS) {
      fail("sync", path_, errno);
    }
  }

  // Appends the file's content to `text`. Returns 0, or errno of the failed read.
  int read_into(std::string& text) const {
    std::array<char, 1 << 14> buffer;
    for (;;) {
      const ssize_t count = ::read(descriptor_.number(), buffer.data(), buffer.size());
      if (count == 0) {
        return 0;
      }
      if (count > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
      } else if (errno != EINTR) {
        return errno;
      }
    }
  }

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
};

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  return parent.empty() ? "." : parent;
}

// A new file name is durable only after its folder is synced.
void sync_folder_of(const std::filesystem::path& path) {
  const File folder(folder_of(path), O_RDONLY | O_DIRECTORY);
  if (folder.is_open()) {
    folder.sync();
  }
}

void check_distinct(const std::vector<Output>& outputs) {
  std::map<std::filesystem::path, std::string_view> taken;
  for (const auto& [flag, path] : outputs) {
    std::error_code error;
    if (path.empty() || std::filesystem::is_other(path, error)) {
      continue;
    }
    const auto [other, is_new] = taken.emplace(
        std::filesystem::weakly_canonical(std::filesystem::absolute(path), error), flag);
    if (!is_new) {
      throw UsageError(fmt::format("{} {}: is the file of {} too", flag, path, other->second));
    }
  }
}

}  // namespace

void check_writable(std::string_view option, const std::filesystem::path& path) {
  const auto reject = [&](const std::string& why) {
    throw UsageError(fmt::format("{} {}: {}", option, path.string(), why));
  };
  if (path.empty()) {
    reject("a file name is needed");
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    reject("is a folder; a file name is needed");
  }
  if (std::filesystem::exists(status)) {
    if (::access(path.c_str(), W_OK) != 0) {
      reject("cannot be written: " + errno_text(errno));
    }
    return;
  }
  const auto folder = folder_of(path);
  if (!path.has_filename() || !std::filesystem::is_directory(folder, error)) {
    reject(std::filesystem::exists(folder, error) ? folder.string() + " is no folder"
                                                  : "there is no folder " + folder.string());
  }
  // Tries to create a file, because permissions are not enough: root may enter every folder, and a
  // file system may be read-only or refuse new files.
  auto trial = path;
  trial += fmt::format(".{}.tmp", ::getpid());
  if (!File(trial, O_WRONLY | O_CREAT | O_EXCL).is_open()) {
    const std::string why = errno_text(errno);
    reject(fmt::format("no file can be made in the folder {}: {}", folder.string(), why));
  }
  ::unlink(trial.c_str());
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    const File target(path, O_WRONLY);
    if (!target.is_open()) {
      fail("open", path, errno);
    }
    target.write(text);
    return;
  }
  // A symbolic link stays a link: its target is replaced.
  auto target = std::filesystem::weakly_canonical(path, error);
  if (error) {
    target = path;
  }
  auto temporary = target;
  temporary += fmt::format(".{}.tmp", ::getpid());
  try {
    const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.is_open()) {
      fail("create", temporary, errno);
    }
    file.write(text);
    file.sync();
    if (::rename(temporary.c_str(), target.c_str()) != 0) {
      fail("replace", target, errno);
    }
  } catch (const WorldError&) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder_of(target);
}

std::string read_text(const std::filesystem::path& path) {
  const File file(path, O_RDONLY);
  int error = file.is_open() ? 0 : errno;
  std::string text;
  if (error == 0) {
    error = file.read_into(text);
  }
  if (error != 0) {
    throw UsageError(fmt::format("cannot read {}: {}", path.string(), errno_text(error)));
  }
  return text;
}

std::optional<std::string> read_text_if_readable(const std::filesystem::path& path) {
  const File file(path, O_RDONLY);
  std::string text;
  if (!file.is_open() || file.read_into(text) != 0) {
    return std::nullopt;
  }
  return text;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

void check_outputs(const std::vector<Output>& outputs, const std::vector<Output>& inputs) {
  check_distinct(outputs);
  for (const Output& output : outputs) {
    for (const Output& input : inputs) {
      if (!output.path.empty()) {
        check_distinct({input, output});
      }
    }
  }
  for (const auto& [flag, path] : outputs) {
    if (!path.empty()) {
      check_writable(flag, path);
    }
  }
}

}  // namespace paceline
