// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/cli.h"

int main(int argc, char** argv) {
  return paceline::cli::run_program(argc, argv);
}
