// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace paceline::engines {

/// The calling thread uses `device` from now on; on the CPU nothing happens.
/// A thread that does not say so has device 0 as its own: what it calls for streams and events of
/// another device then starts CUDA on device 0 as well.
inline void set_thread_device(c10::Device device) {
  if (!device.is_cpu()) {
    c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
  }
}

}  // namespace paceline::engines
