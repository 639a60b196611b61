// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// The buffers of a codec whose wire forms are bytes that every rank gathers: one buffer holds the
/// forms of this rank, another one the forms of all ranks.
///
/// The values are divided into pieces of 64 bytes, and every slice consists of whole pieces.  The
/// buffer reserves a fixed number of bytes for each piece of values, and the form of a slice begins
/// at the bytes of its first piece.  So the position of a slice's form does not depend on the
/// buckets.
class ByteWire {
 public:
  /// `name` names the buffers.  `per_piece` returns the largest number of bytes of a form per
  /// piece.
  ByteWire(std::string name, Elements (*per_piece)(Elements piece));

  void add_buffer(SetupBuilder& builder) const;

  /// Adds the buffer for the forms of all ranks.
  void add_gathered(SetupBuilder& builder) const;

  /// The wire form of `slice`, which is `bytes` long.
  WireSlice wire_slice(const Slice& slice, Elements bytes, const Program& program) const;

 private:
  Elements bytes_of(const SetupBuilder& builder) const;

  Elements places_before(Elements begin, const ModelShape& model) const;

  std::string name_;
  Elements (*per_piece_)(Elements piece);  // argument: the values of a piece
};

}  // namespace paceline::strategies
