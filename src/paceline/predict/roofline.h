// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/cluster/cluster.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/profile.h"

namespace paceline::predict {

/// What copies and matrix products reach of a data sheet: an RTX 2080 Ti 500 of
/// 616 GB/s and 10 of 13.4 TFLOP/s (validate/fixed.cc), taken for every device.
inline constexpr double kCopyShare = 500.0 / 616, kProductShare = 10 / 13.4;

/// How layers of a network share the time of a device.
struct RooflineOptions {
  double flops_per_s = 10e12;
  double memory_bytes_per_s = 500e9;
  double backward = 2;     // backward costs so many forwards
  double winograd = 2.25;  // fewer operations of 3x3 convolutions of stride 1,
                           // ungrouped; 1: as many as written
  double strided = 1.5;    // more time of convolutions with a stride
  double launch_s = 0;     // at least this long per layer and pass
};

/// Layer times from operations and bytes: each layer takes the longer of its
/// arithmetic and its memory traffic.
///
///   forward   max(batch * flops / F, (batch * bytes + weights) / B)
///   backward  `backward` times that
///
/// F2x2_3x3 Winograd convolution needs 4/9 of the multiplications: Lavin and
/// Gray, CVPR 2016, arXiv:1509.09308, section 4.1.  The roofline: Williams,
/// Waterman and Patterson, CACM 2009, doi:10.1145/1498765.1498785.
///
/// A module's backward counts to the first of its gradients; the others are
/// final at the same time.
plan::LayerProfile roofline_profile(const plan::NetworkShape& network,
                                    int batch_size,
                                    const RooflineOptions& options = {});

/// The same shape with forward and backward summing to exactly `total`, above
/// 0: a measured throughput spread over the layers.
plan::LayerProfile stretched(plan::LayerProfile profile,
                             plan::Picoseconds total);

/// Forward and backward, each in its shape, taking so long.
plan::LayerProfile stretched(plan::LayerProfile profile,
                             plan::Picoseconds forward,
                             plan::Picoseconds backward);

/// What programs reach of the device's figures; what these lack stays as it is.
RooflineOptions roofline_of(const cluster::ClusterDevice& device);

}  // namespace paceline::predict
