// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gloo {
namespace transport {

class Device;  // opaque

// unique_ptr members of c10d's send and receive work delete it through the virtual destructor,
// which libtorch_cpu.so defines.
class UnboundBuffer {
 public:
  virtual ~UnboundBuffer();
};

}  // namespace transport
}  // namespace gloo
