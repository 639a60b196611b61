// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// What the tables' authors publish of their set-ups and the models take as it
// stands: inputs, never scored.  A test holds all of it equal to reference/.

namespace paceline::validate {

/// A network of the survey on one device: reference/ddl_benchmarks_setup.csv,
/// single_gpu_throughput and optimizer.
struct Published {
  std::string_view model;
  std::string_view shape;  // of network_shape()
  int batch_size = 1;
  double samples_per_s = 0;
  bool adam = false;
};

std::span<const Published> published_models();

/// Throws UsageError for a model that the survey has not.
const Published& published(std::string_view model);

/// An all-reduce among `ranks`: alpha + beta * bytes.
struct PublishedLine {
  int ranks = 0;
  double alpha = 0, beta = 0;  // seconds, seconds a byte
};

/// What the published MG-WFBP runs planned with over "10GbE" or "56GbIB", fudge
/// factors included: reference/ddl_benchmarks_setup.csv, alpha_beta_table.
std::span<const PublishedLine> planning_lines(std::string_view network);

/// BlueFog's ResNet-50 on one device, at batch sizes 64 and 32, samples/s:
/// reference/setup_other_systems.csv, ideal_per_gpu.
double bluefog_alone(int batch_size);

}  // namespace paceline::validate
