// SPDX-License-Identifier: Apache-2.0
// Prints the fingerprints of the random starts of the networks named as arguments, for
// python_ddp_test.py.
#include <fmt/format.h>

#include "paceline/networks/batch.h"
#include "paceline/networks/network.h"

int main(int argc, char** argv) {
  using namespace paceline::networks;
  for (int i = 1; i < argc; ++i) {
    const auto network = make_network(find_network(argv[i]), {}, /*seed=*/3);
    fmt::print("{:016x}\n", fingerprint(network->parameters()));
  }
}
