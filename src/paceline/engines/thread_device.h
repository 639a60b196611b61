// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace paceline::engines {

/// Makes `device` the calling thread's current device; does nothing on the CPU.  Otherwise the
/// thread's current device is device 0, and its calls for streams and events of another device
/// would start CUDA on device 0 as well.
inline void set_thread_device(c10::Device device) {
  if (!device.is_cpu()) {
    c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
  }
}

}  // namespace paceline::engines
