// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// The buffers of a codec that encodes each slice into bytes. The encoded bytes of a slice are
/// called its form; every rank gathers the forms of all ranks. One buffer holds the forms of this
/// rank, another one the forms of all ranks.
///
/// The values are divided into pieces of 64 bytes, and every slice consists of whole pieces.  The
/// buffer reserves a fixed number of encoded bytes for each piece, and the form of a slice begins
/// at the bytes reserved for the slice's first piece.  So the position of a form does not depend on
/// the buckets.
class ByteFormBuffers {
 public:
  /// `name` names the buffers.  `per_piece(n)` returns the largest number of encoded bytes of a
  /// piece of n values.
  ByteFormBuffers(std::string name, Elements (*per_piece)(Elements piece));

  void add_buffer(SetupBuilder& builder) const;

  /// Adds the buffer into which a rank gathers the forms of all ranks.
  void add_gathered(SetupBuilder& builder) const;

  /// Returns the wire form of `slice`: the `bytes` encoded bytes that represent it.
  WireSlice wire_slice(const Slice& slice, Elements bytes, const Program& program) const;

 private:
  Elements bytes_of(const SetupBuilder& builder) const;

  Elements reserved_bytes_before(Elements begin, const ModelShape& model) const;

  std::string name_;
  Elements (*per_piece_)(Elements piece);  // argument: number of values in a piece
};

}  // namespace paceline::strategies
