// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include <gloo/transport/device.h>

namespace gloo {

// Only ever seen behind a shared_ptr; its layout here is not the real one.
class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
