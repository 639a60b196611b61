// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "paceline/base/error.h"
#include "paceline/cli/cli.h"

// Leaves without the destructors of statics: a rank that is stopped early still has threads of its
// engine in libtorch, whose statics must outlive them.
int main(int argc, char** argv) {
  int code = paceline::cli::run_program(argc, argv);
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "paceline: standard output could not be written%s%s\n",
                 errno == 0 ? "" : ": ", errno == 0 ? "" : std::strerror(errno));
    code = code == 0 ? paceline::kWorldErrorStatus : code;
  }
  std::fflush(nullptr);
  std::_Exit(code);
}
