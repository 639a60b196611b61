// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/early_update.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {

/// Every rank trains alone, and the ranks average their parameters at the end of every H-th step.
/// With y_i = x_i - lr * opt(g(x_i)),
///   x_i <- y_i             in H - 1 of H steps
///   x_i <- average of y_j  in the H-th, over the ranks that the exchange averages
///
///   rounds per step            1/H exchange
///   bytes sent, rank and step  1/H of exchanging S = model size
///   extra memory, rank         none besides that of the exchange
///   guarantee                  ranks are equal after every H-th step, if
///                              the exchange is a mean over all of them
///
/// With H = 1 this is adapt-then-combine.  The state of the optimizer stays local.  Stich, ICLR
/// 2019, arXiv:1805.09767; Lin et al., ICLR 2020, arXiv:1808.07217.
std::unique_ptr<UpdateRule> make_local_sgd(const Options& options) {
  return std::make_unique<PeriodicRule>("local-sgd", options);
}

}  // namespace paceline::strategies
