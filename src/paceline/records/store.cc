// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/records/comm_record.h"
#include "paceline/records/json.h"

namespace paceline::records {
namespace {

// The first characters of a line of each RecordKind, by which an incomplete record is told from
// other text.
constexpr std::array<std::string_view, 2> kRecordPrefixes{R"({"version":)", R"({"kind":"comm")"};

std::string errno_text() { return std::strerror(errno); }

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

struct FileTail {
  std::string unfinished;  // the text after the last line break
  std::string whole;       // the last whole line that is not blank
};

FileTail read_tail(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  FileTail tail;
  std::string line;
  while (std::getline(in, line)) {
    if (in.eof()) {
      tail.unfinished = line;
    } else if (!is_blank(line)) {
      tail.whole.swap(line);
    }
  }
  return tail;
}

bool begins_like_a_record(std::string_view line) {
  return std::ranges::any_of(kRecordPrefixes, [&](std::string_view begin) {
    return line.starts_with(begin.substr(0, line.size()));
  });
}

bool is_record(std::string_view line) {
  try {
    if (line.starts_with(kRecordPrefixes.back())) {
      comm_record_from_line(line);
    } else {
      from_line(line);
    }
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

void require_kind(std::optional<RecordKind> kind, std::string_view line, const std::string& path) {
  if (kind && !line.empty() &&
      !line.starts_with(kRecordPrefixes.at(static_cast<std::size_t>(*kind)))) {
    throw UsageError(
        fmt::format("--records {}: holds other records than those of {}; name another file", path,
                    *kind == RecordKind::kRuns ? "runs" : "operations"));
  }
}

[[noreturn]] void reject_second_writer(const std::string& path) {
  throw UsageError(fmt::format("--records {}: another run is writing this file", path));
}

}  // namespace

RecordWriter::RecordWriter(std::string path, std::optional<RecordKind> kind)
    : path_(std::move(path)) {
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw UsageError(fmt::format("--records {}: cannot be written: {}", path_, errno_text()));
  }
  if (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(file_);
    reject_second_writer(path_);
  }
  try {
    repair_tail(kind);
  } catch (...) {
    close(file_);
    throw;
  }
}

RecordWriter::~RecordWriter() { close(file_); }

void RecordWriter::repair_tail(std::optional<RecordKind> kind) {
  struct stat info {};
  if (fstat(file_, &info) != 0 || !S_ISREG(info.st_mode)) {
    return;
  }
  const auto reject = [this] {
    throw UsageError(
        fmt::format("--records {}: its last line is no record; it is left as it is", path_));
  };
  const auto [tail, last] = read_tail(path_);
  if (!begins_like_a_record(last)) {
    reject();
  }
  const bool tail_is_whole = is_record(tail);
  require_kind(kind, tail_is_whole ? tail : last, path_);
  if (tail.empty()) {
    return;
  }
  if (tail_is_whole) {
    write_all("\n");
    return;
  }
  if (!begins_like_a_record(tail)) {
    reject();
  }
  const auto whole = info.st_size - static_cast<off_t>(tail.size());
  if (ftruncate(file_, whole) != 0) {
    throw UsageError(fmt::format("--records {}: its unfinished last line cannot be cut off: {}",
                                 path_, errno_text()));
  }
}

void RecordWriter::write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      throw WorldError(fmt::format("{}: a record could not be written: {}", path_, errno_text()));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void RecordWriter::append(const RunRecord& record) { append_line(to_line(record)); }

void RecordWriter::append_line(const std::string& line) {
  write_all(line + "\n");
  // Pipes and terminals cannot be synced (EINVAL), which is no error.
  if (fsync(file_) != 0 && errno != EINVAL && errno != EROFS) {
    throw WorldError(fmt::format("{}: a record did not reach the disk: {}", path_, errno_text()));
  }
}

RecordFile read_records(const std::string& path, BrokenTail tail) {
  std::ifstream in(path, std::ios::binary);
  const auto type = std::filesystem::status(path).type();
  const bool is_folder = type == std::filesystem::file_type::directory;
  const bool endless = type == std::filesystem::file_type::character && path != "/dev/null";
  if (!in || is_folder || endless) {
    throw UsageError(fmt::format("{}: cannot be read{}", path,
                                 !in         ? ""
                                 : is_folder ? ": it is a folder"
                                             : ": it is a device"));
  }
  return read_records(in, path, tail);
}

RecordFile read_records(std::istream& in, const std::string& path, BrokenTail tail) {
  RecordFile file;
  file.warnings = for_each_record(in, path, tail, [&](const std::string& record) {
    file.records.push_back(from_line(record));
  });
  return file;
}

std::vector<std::string> for_each_record(std::istream& in, const std::string& path, BrokenTail tail,
                                         const std::function<void(const std::string& line)>& take) {
  std::vector<std::string> warnings;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (is_blank(line)) {
      continue;
    }
    try {
      take(line);
    } catch (const UsageError& error) {
      const std::string sentence = fmt::format("{}:{}: {}", path, number, error.what());
      const bool is_cut = in.eof() && begins_like_a_record(line) && !nlohmann::json::accept(line);
      if (tail == BrokenTail::kReject || !is_cut) {
        throw UsageError(sentence);
      }
      warnings.push_back(sentence + " (unfinished last line, skipped)");
    }
  }
  if (in.bad()) {
    throw UsageError(fmt::format("{}: reading it failed", path));
  }
  return warnings;
}

void remove_if_empty(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return;
  }
  struct stat info {};
  if (flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size == 0) {
    unlink(path.c_str());
  }
  close(file);
}

std::set<std::pair<std::string, int>> completed_runs(std::span<const RunRecord> records) {
  std::set<std::pair<std::string, int>> done;
  for (const RunRecord& record : records) {
    if (!record.error || record.not_run()) {
      done.emplace(record.configuration.key() + record.error.value_or(""), record.run);
    }
  }
  return done;
}

}  // namespace paceline::records
