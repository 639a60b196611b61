// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/request_profile.h"

#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/predict/roofline.h"

namespace paceline::predict {
namespace {

/// The micro-batches of one step, of `size` samples each.
struct MicroBatches {
  int count = 1, size = 1;
};

constexpr double kLongestStep = 3600;  // seconds; picoseconds can hold a thousand such steps

/// Returns how long one device takes for a batch.
plan::Picoseconds step_of(int batch_size, double samples_per_s) {
  if (!is_device_rate(samples_per_s)) {
    throw UsageError(fmt::format("{:g} samples/s of one device: must be from {} to {:.0f}",
                                 samples_per_s, kLeastDeviceRate, kMostDeviceRate));
  }
  const double seconds = batch_size / samples_per_s;
  if (seconds > kLongestStep) {
    throw UsageError(fmt::format(
        "{:g} samples/s of one device: a step of {} samples takes {:g} s, at most {} can be",
        samples_per_s, batch_size, seconds, kLongestStep));
  }
  return plan::picoseconds_of(seconds);
}

/// Returns the forward and backward time of one of the micro-batches on one device. `samples_per_s`
/// was measured with one update, of `update_s` seconds, for every `of.count` micro-batches.
plan::Picoseconds model_work_of(const PredictRequest& request, double samples_per_s,
                                const MicroBatches& of, double update_s) {
  const plan::Picoseconds step = step_of(of.count * of.size, samples_per_s);
  const plan::Picoseconds update = plan::picoseconds_of(update_s);
  if (update >= step) {
    throw UsageError(fmt::format(
        "{:.6g} samples/s of one device, a step of {:.3f} ms: the update alone takes "
        "{:.3f} ms{}",
        samples_per_s, 1e3 * plan::seconds_of(step), 1e3 * update_s,
        request.unfused ? "; leave out --unfused, which launches the update of each tensor" : ""));
  }
  return (step - update) / of.count;
}

/// Throws UsageError if the device lacks a rate on which layer times depend that no measurement
/// scales.
void check_rates(const cluster::ClusterDevice& device, plan::DType dtype) {
  const bool in_8_bits = dtype == plan::DType::kF8;
  const bool has_flops =
      in_8_bits ? device.fp8_flops_per_s.has_value() : device.flops_per_s.has_value();
  if (!has_flops || !device.memory_bytes_per_s) {
    throw UsageError(fmt::format(
        "{}nothing says how fast the device computes; give --device-rate, a profile, or {} and "
        "memory_bandwidth of the cluster file's device",
        in_8_bits ? "--dtype fp8: " : "", in_8_bits ? "fp8_flops" : "flops"));
  }
}

}  // namespace

const cluster::DeviceThroughput* throughput_of(const PredictRequest& request) {
  const cluster::DeviceThroughput* found = nullptr;
  if (request.network.sequence_length != 0 || request.network.model.dtype == plan::DType::kF8) {
    return nullptr;  // the file's rates are for a network's own samples, and not for 8 bits
  }
  for (const auto& row : request.cluster.device.throughputs) {
    if (row.model == request.network.model.name &&
        (request.batch_size == 0 || row.batch_size * request.accumulate == request.batch_size)) {
      found = &row;
    }
  }
  return found;
}

bool has_measured_times(const PredictRequest& request) {
  return request.profile || request.samples_per_s || throughput_of(request) != nullptr;
}

plan::LayerProfile profile_of(const PredictRequest& request, int batch_size, double update_s,
                              std::vector<records::Warning>& warnings) {
  if (request.profile) {
    plan::check_profile(request.network.model, *request.profile);
    if (!request.samples_per_s) {
      return *request.profile;
    }
    return profile_scaled_to(
        *request.profile, model_work_of(request, *request.samples_per_s,
                                        {request.micro_batches_of_rate(), batch_size}, update_s));
  }
  const plan::DType dtype = request.network.model.dtype;
  plan::LayerProfile profile =
      roofline_profile(request.network, batch_size,
                       roofline_of(request.cluster.device, request.cost_table().roofline, dtype));
  const cluster::DeviceThroughput* row = throughput_of(request);
  std::optional<double> rate = request.samples_per_s;
  MicroBatches of{request.micro_batches_of_rate(), batch_size};
  if (!rate && row != nullptr) {
    rate = row->samples_per_s;
    of.count = 1;  // the file's rates are of steps without accumulation
  }
  if (rate) {
    return profile_scaled_to(std::move(profile), model_work_of(request, *rate, of, update_s));
  }
  check_rates(request.cluster.device, dtype);
  warnings.push_back(
      {.code = "no-throughput",
       .seen = fmt::format("no throughput of {} at batch size {} is known",
                           request.network.model.name, batch_size),
       .why =
           "layer times follow from the device's data sheet, which programs reach more or less of",
       .advice = "measure one device and give --device-rate"});
  return profile;
}

}  // namespace paceline::predict
