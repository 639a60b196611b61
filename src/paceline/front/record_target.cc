// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/record_target.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"

namespace paceline::front {

namespace fs = std::filesystem;

namespace {

/// Creates the file.  Returns false only if it exists already.
bool make_new(const std::string& path) {
  return Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666)).is_open() ||
         errno != EEXIST;
}

bool is_device_or_pipe(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  return fs::exists(status) && fs::is_other(status);
}

}  // namespace

std::string default_records_path(const std::string& experiment) {
  std::string name = experiment;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') {
      c = '-';
    }
  }
  const std::string stem =
      fmt::format("results/{}-{:%Y%m%dT%H%M%SZ}", name, fmt::gmtime(std::time(nullptr)));
  std::string path = stem + ".jsonl";
  for (int copy = 2; fs::exists(path); ++copy) {
    path = fmt::format("{}-{}.jsonl", stem, copy);
  }
  return path;
}

std::string named_records(const std::string& flag) {
  const char* const named = std::getenv(kRecordsVariable);
  return flag.empty() && named != nullptr ? named : flag;
}

RecordTarget::RecordTarget(const std::string& named, const std::string& experiment,
                           records::RecordKind kind)
    : path_(named_records(named)) {
  if (path_.empty()) {
    std::error_code error;
    makes_folder_ = fs::create_directories("results", error);
    do {  // another run may begin in the same second
      path_ = default_records_path(experiment);
      check_writable("--records", path_);
      makes_file_ = make_new(path_);
    } while (!makes_file_);
  } else if (is_device_or_pipe(path_)) {
    is_stream_ = true;
  } else {
    makes_file_ = !fs::exists(path_) && make_new(path_);
  }
  if (path_ != "/dev/null") {
    writer_.emplace(path_, kind);
  }
}

RecordTarget::~RecordTarget() {
  writer_.reset();
  if (makes_file_) {
    records::remove_if_empty(path_);
  }
  if (makes_folder_) {
    rmdir("results");  // fails if the folder is not empty
  }
}

void RecordTarget::append(const std::string& line) {
  if (writer_) {
    writer_->append_line(line);
  }
}

}  // namespace paceline::front
