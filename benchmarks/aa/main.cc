// SPDX-License-Identifier: Apache-2.0
// aa            how often a comparison of equals finds a difference, and how
//               many runs find a planted one
// aa coverage   how often the intervals hold the true value
// aa tables     the same of tables of operations by size
// aa until      the same of runs that go on until a change is proven
//
// The tables of docs/measuring.md; simulations with fixed seeds, so that they come out the same
// each time.
#include <string>

#include <fmt/format.h>

#include "aa/aa.h"

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (argc == 1) {
    paceline::aa::print_false_positives();
    paceline::aa::print_power();
    return 0;
  }
  if (argc == 2 && mode == "coverage") {
    paceline::aa::print_coverage();
    return 0;
  }
  if (argc == 2 && mode == "tables") {
    paceline::aa::print_tables();
    return 0;
  }
  if (argc == 2 && mode == "until") {
    paceline::aa::print_until();
    return 0;
  }
  fmt::print(stderr, "usage: aa [coverage|tables|until]\n");
  return 2;
}
