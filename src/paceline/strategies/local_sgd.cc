// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/local_steps.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
void LocalSteps::start(const Bucket& bucket, StrategyProgram& program) const {
  if (program.turn() == 1) {
    Atc::start(bucket, program);
  } else {
    program.update(bucket, 1);
  }
}

void LocalSteps::finish(const Bucket& bucket, StrategyProgram& program) const {
  if (program.turn() == 1) {
    Atc::finish(bucket, program);
  }
}

Step interval_of(const Options& options, std::string_view rule) {
  const std::int64_t every = options.count("every");
  if (every < 1 || every > kLongestInterval) {
    throw UsageError(
        fmt::format("{}:every={}: a number of steps from 1 to {} is wanted, "
                    "because each step of an interval is planned by itself",
                    rule,
                    every,
                    kLongestInterval));
  }
  return every;
}

/// Every rank trains alone and the ranks average their parameters at the end of
/// every H-th step: with y_i = x_i - lr * opt(g(x_i)),
///   x_i <- y_i             in H - 1 of H steps
///   x_i <- average of y_j  in the H-th, over whatever the exchange averages
///
///   rounds per step            1/H exchange
///   bytes sent, rank and step  1/H of exchanging S = model size
///   extra memory, rank         none of its own
///   guarantee                  ranks hold the same after every H-th step, if
///                              the exchange is a mean over all of them
///
/// H = 1 is adapt-then-combine.  The state of the optimizer stays local.
/// Stich, ICLR 2019, arXiv:1805.09767; Lin et al., ICLR 2020, arXiv:1808.07217.
std::unique_ptr<UpdateRule> make_local_sgd(const Options& options) {
  return std::make_unique<LocalSteps>("local-sgd",
                                      interval_of(options, "local-sgd"));
}

}  // namespace paceline::strategies
