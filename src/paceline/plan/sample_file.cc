// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/sample_file.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::plan {
namespace {

constexpr std::string_view kMagic = "PACEDATA";
constexpr int kMostSide = 1 << 14;

int read_uint32_at(const std::array<char, SampleFile::kHeaderBytes>& head, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t byte = 4; byte-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(head[at + byte]);
  }
  return static_cast<int>(value);
}

}  // namespace

std::string sample_file_path(const std::string& data) { return data.substr(data.find(':') + 1); }

SampleFile read_sample_file(const std::string& data) {
  const std::string path = sample_file_path(data);
  std::array<char, SampleFile::kHeaderBytes> head{};
  std::ifstream in(path, std::ios::binary);
  std::error_code error;
  const auto length = std::filesystem::file_size(path, error);
  if (!in || error) {
    throw UsageError(fmt::format("--data {}: '{}' cannot be read", data, path));
  }
  if (!in.read(head.data(), head.size()) ||
      std::string_view(head.data(), kMagic.size()) != kMagic) {
    throw UsageError(
        fmt::format("--data {}: the file does not begin with {} and a head of {} bytes", data,
                    kMagic, head.size()));
  }
  const SampleFile file{.count = read_uint32_at(head, 8),
                        .channels = read_uint32_at(head, 12),
                        .side = read_uint32_at(head, 16),
                        .classes = read_uint32_at(head, 20)};
  if (file.count < 1 || (file.channels != 1 && file.channels != 3) || file.side < 1 ||
      file.side > kMostSide || file.classes < 2 ||
      file.bytes() != static_cast<std::int64_t>(length)) {
    throw UsageError(
        fmt::format("--data {}: its head says {} images of {} x {} x {} and {} classes, which is "
                    "no file of {} bytes",
                    data, file.count, file.channels, file.side, file.side, file.classes, length));
  }
  return file;
}

}  // namespace paceline::plan
