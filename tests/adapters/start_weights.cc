// SPDX-License-Identifier: Apache-2.0
// Prints the fingerprint of every network's random start, for
// python_ddp_test.py.
#include <fmt/format.h>

#include "paceline/model/batch.h"

int main() {
  using namespace paceline::model;
  for (const NetworkInfo& info : networks()) {
    const auto network = make_network(info, {}, /*seed=*/3);
    fmt::print("{} {:016x}\n", info.name, fingerprint(network->parameters()));
  }
}
