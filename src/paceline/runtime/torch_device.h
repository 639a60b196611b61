// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <c10/core/Device.h>

#include "paceline/execution/device.h"

namespace paceline::runtime {

/// Returns the streams and events of a PyTorch device that runs asynchronously to the host; null
/// for the CPU, whose operations end before they return.
std::unique_ptr<execution::Device> make_device(at::Device device);

/// Waits until the device has done all work in the stream on which this thread computes. Does
/// nothing on the CPU.
void synchronize(at::Device device);

}  // namespace paceline::runtime
