// SPDX-License-Identifier: Apache-2.0
// GoogleTest's main for tests with libtorch in the process.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

// Leaves without the destructors of statics, as ranks do (engines/run_rank.cc): threads of autograd
// and Gloo may still be on their way out while libtorch takes its statics down.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  std::fflush(nullptr);
  std::_Exit(code);
}
