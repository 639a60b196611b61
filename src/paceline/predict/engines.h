// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/cluster/machine.h"

// What software and devices cost where nothing was measured: the contents of data/engine_costs.toml
// or of a file of its form, which says of each key its unit and of each table its source and
// whether it was fitted.

namespace paceline::predict {

/// Software of an engine.
struct EngineCosts {
  std::string name, source;
  std::string version_of{};  // whose fits and traits it has; empty: its own
  bool fitted = false;
  cluster::SoftwareCosts costs{};
  cluster::Algorithm algorithm = cluster::Algorithm::kRing;  // of collectives that no fit prices
  bool from_python = false;           // the optimizer is unfused, as published
  plan::Picoseconds module_call = 0;  // host time, predict/launch_overhead.h
  double module_call_spread = 0;      // between ranks, share of it
  double tcp_s_per_byte = 0;          // of a host's own time, beside the card's
  /// What its collectives reach of the rate between a host's devices, and what is left of that
  /// while devices compute; 0: as the cluster file has it.
  double device_share = 1, under_compute = 0;
  bool published = false;  // one published program's, asked for by name
  /// The cluster's own engine, whose collectives take their bytes at the lines' rates and nothing
  /// else: a bound.
  bool bound = false;
  /// A host that computes sends and receives messages over TCP/IP at one rate together, that of its
  /// cards.
  bool tcp_copies = false;
  plan::Rank most_ranks = 0;  // that the fit saw; 0: not limited

  /// The engine that runs: its own name, or that of which it is a version.
  const std::string& runs_on() const { return version_of.empty() ? name : version_of; }
};

/// Host and device time of an optimizer's kernels.
struct OptimizerCosts {
  std::string name, source;
  bool fitted = false;
  plan::Picoseconds launch_per_tensor = 0;  // unfused; behind the last collective
  /// Over all tensors, per pass of the plan's update: of unfused and of fused kernels.
  double passes = 1, fused_passes = 1;
};

/// What programs reach of a device's data sheet.
struct RooflineCosts {
  double copy_share = 1, product_share = 1;
  double backward_per_forward = 1;
  double winograd_speedup = 1;  // of 3x3 convolutions of stride 1, ungrouped
  double strided_slowdown = 1;  // of convolutions with a stride
};

/// nccl, nccl-2.4, gloo, mpi, what one published program cost (bytescheduler, byteps, bluefog),
/// link, ideal; the update rules of plan/optimizer.h.
struct CostTable {
  std::vector<EngineCosts> engines;
  std::vector<OptimizerCosts> optimizers;
  RooflineCosts roofline;
  std::string text{};  // of the file; empty: data/engine_costs.toml

  /// Throws UsageError with the known names.
  const EngineCosts& engine(std::string_view name) const;

  /// An optimizer that is not in the table costs its passes alone.
  OptimizerCosts optimizer(std::string_view name) const;
};

/// data/engine_costs.toml, which is part of the program.
const CostTable& shipped_costs();

/// A file of the same form.  Throws UsageError, which begins with `path`, for a missing table, an
/// unknown key and a value of another type.
CostTable read_costs(const std::string& path);

/// shipped_costs().engine(name)
const EngineCosts& engine_costs_named(std::string_view name);

}  // namespace paceline::predict
