// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// Where the wire forms of a codec lie that are bytes, and that every rank gathers: in a buffer for
/// this rank's and one for those of all ranks.
///
/// Values lie in pieces of 64 bytes, and every slice is made of whole pieces. Each piece has a
/// place for some bytes, and a form begins at the place of its slice's first piece.  So a slice
/// finds its form whatever the buckets are.
class ByteWire {
 public:
  /// `name`: of the buffers; `per_piece`: a slice's form has at most as many
  /// bytes a piece.
  ByteWire(std::string name, Elements (*per_piece)(Elements piece));

  void add_buffer(SetupBuilder& builder) const;

  /// The buffer for those of all ranks.
  void add_gathered(SetupBuilder& builder) const;

  /// The form of `slice`, `bytes` long.
  WireSlice wire_slice(const Slice& slice, Elements bytes, const Program& program) const;

 private:
  Elements bytes_of(const SetupBuilder& builder) const;

  Elements places_before(Elements begin, const ModelShape& model) const;

  std::string name_;
  Elements (*per_piece_)(Elements piece);  // of so many values
};

}  // namespace paceline::strategies
