// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <c10/core/Device.h>

#include "paceline/execution/device.h"

namespace paceline::runtime {

/// The streams and events of a device of PyTorch that runs behind the host; null for the CPU, whose
/// operations end before they return.
std::unique_ptr<execution::Device> make_device(at::Device device);

/// Waits until the device has done all that was put into the stream on which this thread computes.
/// On the CPU nothing happens.
void synchronize(at::Device device);

}  // namespace paceline::runtime
