// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::strategies {

/// The share of the values x that a form keeps, C(x) being what is decoded:
///   E |x - factor C(x)|^2 <= (1 - share) |x|^2.
struct Contraction {
  double share = 1;
  double factor = 1;
  /// Whether some values are decoded as more than twice what they are, as where all have one size.
  bool overshoots = false;
  /// Whether a form is decoded by what the rank that decodes it drew itself.
  bool same_draws = false;
  bool whole_tensors = false;  // a form is of these alone, not of parts
  /// Whether the values do not decide what is kept, so that nothing but chance bounds for how many
  /// steps a value is left out.
  bool blind = false;

  /// How far averages may step towards the neighbors' copies.  A value that crosses in a step with
  /// probability `share` waits T steps for the next time, meanwhile moves by T gamma (1 - lambda)
  /// of its distance, lambda an eigenvalue of the weights, and comes nearer on average where
  /// E (1 - T gamma (1 - lambda))^2 < 1, that is for
  /// gamma (1 - lambda) < 2 share / (2 - share): at share / 2 for all lambda.
  double gamma() const { return blind ? share / 2 : share; }
};

}  // namespace paceline::strategies
