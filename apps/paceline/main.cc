// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "paceline/cli/cli.h"

// Leaves without the destructors of statics: a rank that is stopped early still
// has threads of its engine in libtorch, whose statics must outlive them.
int main(int argc, char** argv) {
  const int code = paceline::cli::run_program(argc, argv);
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(code);
}
