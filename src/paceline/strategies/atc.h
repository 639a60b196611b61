// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// Parameters cross, adapt then combine: every rank applies its own gradient
/// to a bucket, then the bucket is averaged, beside the rest of backward.
///
/// Lian et al., NeurIPS 2017, arXiv:1705.09056; Cattivelli and Sayed, IEEE TSP
/// 2010, doi:10.1109/TSP.2009.2033729 (ATC diffusion).
class Atc : public UpdateRule {
 public:
  explicit Atc(std::string_view name = "atc") : name_(name) {}

  void compute(StrategyProgram& program) const override;
  void start(const Bucket& bucket, StrategyProgram& program) const override;
  void finish(const Bucket& bucket, StrategyProgram& program) const override;

 private:
  std::string_view name_;
};

}  // namespace paceline::strategies
