// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/record_target.h"

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

namespace paceline::measure {

namespace fs = std::filesystem;

namespace {

/// Makes the file; false where it is there already.
bool make_new(const std::string& path) {
  return Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666))
             .is_open() ||
         errno != EEXIST;
}

bool is_device_or_pipe(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  return fs::exists(status) && fs::is_other(status);
}

std::string make_aside() {
  std::string path =
      (fs::temp_directory_path() / "paceline-records-XXXXXX").string();
  const Descriptor file(mkstemp(path.data()));
  if (!file.is_open()) {
    throw WorldError(fmt::format(
        "no file can be made in {}: {}", path, std::strerror(errno)));
  }
  return path;
}

}  // namespace

std::string default_records_path(const std::string& experiment) {
  std::string name = experiment;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' &&
        c != '_') {
      c = '-';
    }
  }
  const std::string stem = fmt::format(
      "results/{}-{:%Y%m%dT%H%M%SZ}", name, fmt::gmtime(std::time(nullptr)));
  std::string path = stem + ".jsonl";
  for (int copy = 2; fs::exists(path); ++copy) {
    path = fmt::format("{}-{}.jsonl", stem, copy);
  }
  return path;
}

RecordTarget::RecordTarget(const std::string& named,
                           const std::string& experiment)
    : path_(named) {
  if (named.empty()) {
    std::error_code error;
    makes_folder_ = fs::create_directories("results", error);
    do {  // another run may begin in the same second
      path_ = default_records_path(experiment);
      check_writable("--records", path_);
      makes_file_ = make_new(path_);
    } while (!makes_file_);
  } else if (is_device_or_pipe(named)) {
    named_ = named;
    path_ = make_aside();
  } else {
    makes_file_ = !fs::exists(named) && make_new(named);
  }
  claim_ = records::RecordClaim(path_);
}

RecordTarget::~RecordTarget() {
  std::error_code error;
  if (is_aside()) {
    fs::remove(path_, error);
  }
  if (makes_file_) {
    records::remove_if_empty(path_);
  }
  if (makes_folder_) {
    rmdir("results");  // fails where something is in it
  }
}

void RecordTarget::pass_on(const records::RunRecord& record) {
  if (!is_aside() || named_ == "/dev/null") {
    return;
  }
  if (passed_on_ == nullptr) {
    passed_on_ = std::make_unique<records::RecordWriter>(named_);
  }
  passed_on_->append(record);
}

}  // namespace paceline::measure
