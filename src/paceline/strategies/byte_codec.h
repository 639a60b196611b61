// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// A codec that encodes each slice into bytes. The encoded bytes of a slice are called its form;
/// every rank gathers the forms of all ranks. One buffer holds the forms of this rank, another one
/// the forms of all ranks.
///
/// The values are divided into pieces of 64 bytes, and every slice consists of whole pieces.  The
/// buffer reserves a fixed number of encoded bytes for each piece, and the form of a slice begins
/// at the bytes reserved for the slice's first piece.  So the position of a form does not depend on
/// the buckets.
class ByteCodec : public CodecRule {
 public:
  /// `name` names the buffers.  `per_piece(n)` returns the largest number of encoded bytes of a
  /// piece of n values.
  ByteCodec(std::string name, Elements (*per_piece)(Elements piece));

  WireFormat format(const PlanInput&) const override {
    return {.type = DType::kI8, .combination = Combination::kGather};
  }

  /// Adds the buffer of this rank's forms.
  void extend_setup(const PlanInput& input, SetupBuilder& builder) const override;

  void add_gathered(SetupBuilder& builder) const override;

 protected:
  /// Returns the wire form of `slice`: the `bytes` encoded bytes that represent it.
  WireSlice wire_slice(const Slice& slice, Elements bytes, const Program& program) const;

 private:
  Elements bytes_of(const SetupBuilder& builder) const;

  Elements reserved_bytes_before(Elements begin, const ModelShape& model) const;

  std::string name_;
  Elements (*per_piece_)(Elements piece);  // argument: number of values in a piece
};

}  // namespace paceline::strategies
