// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/cluster/cluster.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/profile.h"
#include "paceline/predict/engines.h"

namespace paceline::predict {

/// The device rates and factors from which layer times follow.
struct RooflineOptions {
  double flops_per_s = 10e12;
  double memory_bytes_per_s = 500e9;
  double backward = shipped_costs().roofline.backward_per_forward;
  double winograd = shipped_costs().roofline.winograd_speedup;
  double strided = shipped_costs().roofline.strided_slowdown;
};

/// Returns layer times from operations and bytes: each layer takes the longer of its arithmetic and
/// its memory traffic.
///
///   forward   max(batch * flops / F, (batch * bytes + weights) / B)
///   backward  `backward` times that
///
/// F2x2_3x3 Winograd convolution needs 4/9 of the multiplications: Lavin and Gray, CVPR 2016,
/// arXiv:1509.09308, section 4.1.  The roofline: Williams, Waterman and Patterson, CACM 2009,
/// doi:10.1145/1498765.1498785.
///
/// A module's backward time counts with the module's first gradient; its other gradients are final
/// at the same time.
plan::LayerProfile roofline_profile(const plan::NetworkShape& network, int batch_size,
                                    const RooflineOptions& options = {});

/// Returns `profile` with all times scaled by one factor, so that forward and backward sum to
/// exactly `total`, above 0.  This spreads a measured throughput over the layers.
plan::LayerProfile profile_scaled_to(plan::LayerProfile profile, plan::Picoseconds total);

/// Scales forward and backward each by its own factor, so that they sum to these times.
plan::LayerProfile profile_scaled_to(plan::LayerProfile profile, plan::Picoseconds forward,
                                     plan::Picoseconds backward);

/// Returns the rates that programs achieve on the device for numbers of type `dtype`.  Rates that
/// the device does not give keep their defaults, by which only proportions between layer times can
/// be told.  If it gives no 8-bit rate, that of the usual precision is used.
RooflineOptions roofline_of(const cluster::ClusterDevice& device, const RooflineCosts& costs,
                            plan::DType dtype);

}  // namespace paceline::predict
