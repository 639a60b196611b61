// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// The buffers of a codec whose wire forms are bytes that every rank gathers: one buffer holds the
/// forms of this rank, another one the forms of all ranks.
///
/// Values lie in pieces of 64 bytes, and every slice consists of whole pieces.  Each piece of
/// values has room for a fixed number of bytes in the buffer, and the form of a slice begins at the
/// room of its first piece.  So a slice finds its form whatever the buckets are.
class ByteWire {
 public:
  /// `name` names the buffers.  `per_piece` returns the most bytes that a form has for each piece.
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
