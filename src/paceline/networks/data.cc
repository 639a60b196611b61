// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/data.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/networks/shipped_digits.h"

namespace paceline::networks {
namespace {

// Streams of random numbers, distinct from those of other users of base/random.h.
enum DataStream : std::uint64_t { kInputs = 0x64617461, kWeights, kNoise, kGroups };

constexpr std::int64_t kFeatures = 64;

at::Tensor normal(at::IntArrayRef sizes, std::uint64_t seed, DataStream stream) {
  Random random(seed, stream);
  at::Tensor out = at::empty(sizes, at::kDouble);
  auto* data = out.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    data[i] = random.normal();
  }
  return out;
}

std::vector<std::int64_t> numbers(const at::Tensor& targets) {
  const at::Tensor whole = targets.to(at::kLong).contiguous();
  const auto* data = whole.const_data_ptr<std::int64_t>();
  return {data, data + whole.numel()};
}

/// Loads the digits; every fifth image belongs to the test set.
DataSet digits() {
  std::vector<float> pixels[2];
  std::vector<std::int64_t> labels[2];
  std::string_view text = shipped::kDigits;
  std::int64_t line = 0;
  while (!text.empty()) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    if (row.starts_with('#') || row.empty()) {
      continue;
    }
    PACELINE_CHECK_EQ(row.size(), std::size_t{kFeatures + 2});
    const bool test = line % 5 == 4;
    for (const char c : row.substr(0, kFeatures)) {
      const int level = c <= '9' ? c - '0' : c - 'a' + 10;
      pixels[test].push_back(static_cast<float>(level) / 16);
    }
    labels[test].push_back(row.back() - '0');
    ++line;
  }
  const auto samples = [&](int which) {
    return Samples{.inputs = torch::tensor(pixels[which]).view({-1, 1, 8, 8}),
                   .targets = torch::tensor(labels[which])};
  };
  return {.train = samples(0), .test = samples(1), .groups = labels[0]};
}

/// Generates samples that a random network of two layers, with tanh between them, has labeled.
DataSet teacher(std::uint64_t seed) {
  constexpr std::int64_t kTrain = 4096, kTest = 1024, kHidden = 32;
  const at::Tensor inputs = normal({kTrain + kTest, kFeatures}, seed, kInputs);
  const at::Tensor first = normal({kFeatures, kHidden}, seed, kWeights) / 8;
  const at::Tensor second = normal({kHidden, 10}, seed, kNoise);
  const at::Tensor labels = at::matmul(at::tanh(at::matmul(inputs, first)), second).argmax(1);
  const at::Tensor images = inputs.to(at::kFloat).view({-1, 1, 8, 8});
  return {.train = {images.narrow(0, 0, kTrain), labels.narrow(0, 0, kTrain)},
          .test = {images.narrow(0, kTrain, kTest), labels.narrow(0, kTrain, kTest)},
          .groups = numbers(labels.narrow(0, 0, kTrain))};
}

/// Generates a regression whose targets in group k are t = (w + u_k / 2) x + noise / 10.
DataSet least_squares(std::uint64_t seed) {
  constexpr std::int64_t kCount = 1024, kGroupCount = 10;
  const at::Tensor inputs = normal({kCount, kFeatures}, seed, kInputs);
  const at::Tensor common = normal({kFeatures}, seed, kWeights) / 8;
  const at::Tensor own = normal({kGroupCount, kFeatures}, seed, kGroups) / 16;
  const at::Tensor groups = at::arange(kCount, at::kLong).remainder(kGroupCount);
  const at::Tensor weights = own.index_select(0, groups) + common;
  const at::Tensor targets = (inputs * weights).sum(1) + normal({kCount}, seed, kNoise) / 10;
  const Samples all{.inputs = inputs.to(at::kFloat).view({-1, 1, 8, 8}),
                    .targets = targets.to(at::kFloat)};
  return {.train = all, .test = all, .groups = numbers(groups)};
}

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw UsageError(fmt::format("--data: cannot read '{}'", path.string()));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void reject_file(const std::filesystem::path& path, std::string_view what) {
  throw UsageError(fmt::format("--data: '{}' is no {}", path.string(), what));
}

at::Tensor bytes_tensor(const std::vector<std::uint8_t>& bytes, std::size_t from) {
  const at::Tensor all =
      torch::tensor(at::ArrayRef<std::uint8_t>(bytes.data(), bytes.size()), at::kByte);
  return all.narrow(0, static_cast<std::int64_t>(from),
                    static_cast<std::int64_t>(bytes.size() - from));
}

/// Reads an IDX file: bytes 0, 0, 8 (type byte), number of dimensions, then each size as 4 bytes,
/// big-endian.
at::Tensor read_idx(const std::filesystem::path& path, int dimensions) {
  const std::vector<std::uint8_t> bytes = read_bytes(path);
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(dimensions);
  if (bytes.size() < header || bytes[2] != 8 || bytes[3] != dimensions) {
    reject_file(path, fmt::format("unpacked IDX file of {} dimensions", dimensions));
  }
  std::vector<std::int64_t> sizes;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    std::int64_t size = 0;
    for (std::size_t b = 0; b < 4; ++b) {
      size = 256 * size + bytes[4 + 4 * d + b];
    }
    sizes.push_back(size);
    count *= size;
  }
  if (std::ssize(bytes) - std::ssize(sizes) * 4 - 4 != count) {
    reject_file(path, "complete IDX file");
  }
  return bytes_tensor(bytes, header).view(sizes);
}

DataSet mnist(const std::filesystem::path& folder) {
  const auto samples = [&](const std::string& part) {
    const at::Tensor images = read_idx(folder / (part + "-images-idx3-ubyte"), 3);
    const at::Tensor labels = read_idx(folder / (part + "-labels-idx1-ubyte"), 1);
    if (images.size(0) != labels.size(0) || images.size(1) != 28) {
      reject_file(folder / part, "set of as many images of 28 x 28 as labels");
    }
    return Samples{.inputs = images.to(at::kFloat).div_(255).sub_(0.1307).div_(0.3081).unsqueeze(1),
                   .targets = labels.to(at::kLong)};
  };
  DataSet set{.train = samples("train"), .test = samples("t10k"), .groups = {}};
  set.groups = numbers(set.train.targets);
  return set;
}

/// Reads records of one label byte and 3 x 32 x 32 image bytes.
Samples cifar_batches(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  constexpr std::int64_t kRecord = 1 + 3 * 32 * 32;
  std::vector<at::Tensor> records;
  for (const std::string& name : names) {
    const std::vector<std::uint8_t> bytes = read_bytes(folder / name);
    if (bytes.empty() || std::ssize(bytes) % kRecord != 0) {
      reject_file(folder / name, "batch of the binary version of CIFAR-10");
    }
    records.push_back(bytes_tensor(bytes, 0).view({-1, kRecord}));
  }
  const at::Tensor all = at::cat(records);
  const auto channel = [](const std::vector<double>& values) {
    return torch::tensor(values).to(at::kFloat).view({3, 1, 1});
  };
  return {.inputs = all.narrow(1, 1, kRecord - 1)
                        .to(at::kFloat)
                        .div_(255)
                        .view({-1, 3, 32, 32})
                        .sub_(channel({0.4914, 0.4822, 0.4465}))
                        .div_(channel({0.2470, 0.2435, 0.2616})),
          .targets = all.select(1, 0).to(at::kLong)};
}

DataSet cifar10(const std::filesystem::path& folder) {
  DataSet set{
      .train = cifar_batches(folder, {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                      "data_batch_4.bin", "data_batch_5.bin"}),
      .test = cifar_batches(folder, {"test_batch.bin"}),
      .groups = {}};
  set.groups = numbers(set.train.targets);
  return set;
}

}  // namespace

Samples Samples::take(const std::vector<std::int64_t>& numbers) const {
  const at::Tensor index = torch::tensor(numbers, at::kLong);
  return {.inputs = inputs.index_select(0, index), .targets = targets.index_select(0, index)};
}

DataSet load_data(const std::string& data, std::uint64_t seed) {
  const plan::DataTraits* traits = plan::find_data_traits(data);
  PACELINE_CHECK(traits != nullptr);  // the experiment was checked before
  const std::size_t colon = data.find(':');
  const std::filesystem::path folder = colon == std::string::npos ? "" : data.substr(colon + 1);
  if (traits->name == "digits") {
    return digits();
  }
  if (traits->name == "teacher") {
    return teacher(seed);
  }
  if (traits->name == "least-squares") {
    return least_squares(seed);
  }
  return traits->name == "mnist" ? mnist(folder) : cifar10(folder);
}

double least_squares_loss(const Samples& samples) {
  const at::Tensor inputs = samples.inputs.flatten(1).to(at::kDouble);
  const at::Tensor ones = at::ones({inputs.size(0), 1}, inputs.options());
  const at::Tensor design = at::cat({inputs, ones}, 1);
  const at::Tensor targets = samples.targets.to(at::kDouble).unsqueeze(1);
  const at::Tensor gram = at::matmul(design.t(), design);
  const at::Tensor weights = at::linalg_solve(gram, at::matmul(design.t(), targets));
  return (at::matmul(design, weights) - targets).square().mean().item<double>() / 2;
}

}  // namespace paceline::networks
