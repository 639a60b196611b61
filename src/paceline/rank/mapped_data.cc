// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/mapped_data.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <torch/types.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"
#include "paceline/rank/training_data.h"

namespace paceline::rank {
namespace {

constexpr float kWhite = 255;

const unsigned char* map_file(const std::string& path, std::int64_t bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const at = !file.is_open() ? MAP_FAILED
                                   : mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ,
                                          MAP_SHARED, file.number(), 0);
  if (at == MAP_FAILED) {
    throw UsageError(
        fmt::format("--data mmap:{}: {}", path, std::generic_category().message(errno)));
  }
  return static_cast<const unsigned char*>(at);
}

}  // namespace

MappedData::MappedData(const cases::Case& configuration, at::Device device, at::ScalarType dtype)
    : configuration_(configuration),
      device_(device),
      dtype_(dtype),
      file_(plan::read_sample_file(configuration.data)),
      bytes_(map_file(plan::sample_file_path(configuration.data), file_.bytes())) {}

MappedData::~MappedData() {
  if (next_.valid()) {
    next_.wait();
  }
  munmap(const_cast<unsigned char*>(bytes_), static_cast<std::size_t>(file_.bytes()));
}

// Converts with plain loops, because ATen's loops in a second thread would start more threads.
networks::Samples MappedData::read(const std::vector<std::int64_t>& numbers) const {
  const auto count = static_cast<std::int64_t>(numbers.size());
  networks::Samples samples{
      .inputs = at::empty({count, file_.channels, file_.side, file_.side}, at::kFloat),
      .targets = at::empty({count}, at::kLong)};
  auto* value = samples.inputs.data_ptr<float>();
  auto* target = samples.targets.data_ptr<std::int64_t>();
  for (const std::int64_t number : numbers) {
    std::memcpy(target, bytes_ + plan::SampleFile::kHeaderBytes + 8 * number, 8);
    if (*target < 0 || *target >= file_.classes) {
      throw UsageError(fmt::format("--data {}: image {} has class {} of {}", configuration_.data,
                                   number, *target, file_.classes));
    }
    ++target;
    const unsigned char* pixel =
        bytes_ + file_.pixels_offset_bytes() + number * file_.sample_bytes();
    for (std::int64_t i = 0; i < file_.sample_bytes(); ++i) {
      *value++ = static_cast<float>(*pixel++) / kWhite;
    }
  }
  return samples;
}

networks::Batch MappedData::on_device(const networks::Samples& samples) const {
  return batch_on(device_, dtype_, configuration_.channels_last, samples);
}

networks::Batch MappedData::probe() const {
  std::vector<std::int64_t> first(static_cast<std::size_t>(configuration_.batch_size));
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<std::int64_t>(i) % file_.count;
  }
  return on_device(read(first));
}

void MappedData::deal(int ranks, int rank) {
  const std::int64_t part = file_.count / ranks;
  if (part < configuration_.batch_size) {
    throw UsageError(
        fmt::format("--batch-size {}: {} has {} images for each "
                    "of {} ranks",
                    configuration_.batch_size, configuration_.data, part, ranks));
  }
  first_ = rank * part;
  order_.emplace(part, configuration_.batch_size, configuration_.seed, rank);
  prefetch(0);
}

void MappedData::prefetch(std::int64_t step) {
  next_ = std::async(std::launch::async, [this, step] {
    std::vector<std::int64_t> numbers = order_->of(step);
    for (std::int64_t& number : numbers) {
      number += first_;
    }
    return read(numbers);
  });
}

networks::Batch MappedData::batch(std::int64_t step) {
  const networks::Samples samples = next_.get();
  prefetch(step + 1);
  return on_device(samples);
}

}  // namespace paceline::rank
