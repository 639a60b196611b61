// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace paceline::plan {

/// The header of a file of decoded images, which ranks map into memory.  Numbers are little-endian.
/// The file contains:
///
///   8 bytes   "PACEDATA"
///   4 x 4     count, channels, side, classes
///   40 bytes  zero
///   count x 8                      the classes, from 0
///   count x channels x side x side the pixels, 0 to 255
struct SampleFile {
  static constexpr std::int64_t kHeaderBytes = 64;

  std::int64_t count = 0;
  int channels = 0, side = 0, classes = 0;

  std::int64_t sample_bytes() const { return static_cast<std::int64_t>(channels) * side * side; }
  std::int64_t pixels_offset_bytes() const { return kHeaderBytes + 8 * count; }
  std::int64_t bytes() const { return pixels_offset_bytes() + count * sample_bytes(); }
};

/// Reads the header of the file that "mmap:FILE" names.  Throws UsageError if the file cannot be
/// read, is not of this format, or does not have the length that follows from its header.
SampleFile read_sample_file(const std::string& data);

/// Returns the FILE of "mmap:FILE".
std::string sample_file_path(const std::string& data);

}  // namespace paceline::plan
