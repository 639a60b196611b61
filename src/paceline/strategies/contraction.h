// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::strategies {

/// How much of the values x a codec's form keeps, where C(x) is the decoded form:
///   E |x - factor C(x)|^2 <= (1 - share) |x|^2.
struct Contraction {
  double share = 1;
  double factor = 1;
  /// Whether some values are decoded as more than twice their size, as happens where all values are
  /// decoded with one magnitude.
  bool overshoots = false;
  /// Whether decoding needs random draws that the decoding rank must have made identically.
  bool same_draws = false;
  bool whole_tensors = false;  // a form stands for whole tensors only, never for parts
  /// Whether the kept places do not depend on the values.  Then only chance bounds the number of
  /// steps in which a value is left out.
  bool blind = false;

  /// The consensus step size that this contraction allows.  A value that is sent in a step with
  /// probability `share` waits T steps for the next time and meanwhile moves by
  /// T gamma (1 - lambda) of its distance, where lambda is an eigenvalue of the weights.  It comes
  /// nearer on average where E (1 - T gamma (1 - lambda))^2 < 1, that is for
  /// gamma (1 - lambda) < 2 share / (2 - share).  A gamma of share / 2 satisfies this for all
  /// lambda.
  double gamma() const { return blind ? share / 2 : share; }
};

}  // namespace paceline::strategies
