// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::strategies {

/// A bound on the error of a codec, where C(x) is the decoded form of the values x:
///   E |x - factor C(x)|^2 <= (1 - share) |x|^2.
struct Contraction {
  double share = 1;
  double factor = 1;
  /// Whether some values are decoded as more than twice their size, as happens where all values are
  /// decoded with one magnitude.
  bool can_overshoot = false;
  /// Whether the decoding rank must make the same random draws as the encoding rank.
  bool needs_same_draws = false;
  bool whole_tensors = false;  // the codec encodes whole tensors only, never parts
  /// Whether the choice of the elements to send does not depend on their values.  The number of
  /// steps in which an element is left out then has no bound other than chance.
  bool ignores_values = false;

  /// The consensus step size that this contraction allows.  A value that is sent in a step with
  /// probability `share` waits T steps for the next time and meanwhile moves by
  /// T gamma (1 - lambda) of its distance, where lambda is an eigenvalue of the weights.  It comes
  /// nearer on average where E (1 - T gamma (1 - lambda))^2 < 1, that is for
  /// gamma (1 - lambda) < 2 share / (2 - share).  A gamma of share / 2 satisfies this for all
  /// lambda.
  double gamma() const { return ignores_values ? share / 2 : share; }
};

}  // namespace paceline::strategies
