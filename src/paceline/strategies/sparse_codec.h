// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// A codec that sends a share of each bucket's values, with their places or without, and adds what
/// it leaves to the next step's gradient (error feedback).
///
/// What is selected of the buckets lies one after the other in a buffer, a part of a bucket with
/// the share of the bucket's that its elements have of all. The padding between tensors is no
/// element.
class SparseCodec : public CodecRule {
 public:
  /// `name`: of the codec, in errors.  `density`: the share of a bucket's
  /// values that cross, at least one.  `selections`: names of buffers.
  SparseCodec(std::string_view name, Combination how, double density,
              std::vector<std::string_view> selections)
      : name_(name), how_(how), density_(density), selections_(std::move(selections)) {}

  WireFormat format(const PlanInput& input) const override {
    return {.type = input.model.dtype, .combination = how_};
  }

  /// Adds the residual and the buffers of the selections.
  void extend(const PlanInput& input, SetupBuilder& builder) const override;

 protected:
  /// Values, and where in the slice they belong.
  struct Selection {
    Slice values, places;
  };

  double density() const { return density_; }

  /// Adds buffers for `copies` selections of all buckets.
  void add_selection(std::string_view name, SetupBuilder& builder, Elements copies = 1) const;

  /// What is selected of `slice`, in the buffers of this name.
  Selection selection(std::string_view name, const Slice& slice, const Program& program) const;

  /// Values and places as they cross; nothing where none are selected.
  std::vector<WireSlice> selected_slices(const Slice& slice, const Selection& mine,
                                         const Selection& all, const Program& program,
                                         Rank peer = -1) const;

  /// Appends the kernel that selects from the slice and its residual; `numbers` are the kernel's.
  static void select(std::string_view kernel, const Slice& slice, const Selection& selected,
                     Program& program, std::vector<double> numbers = {});

  /// Appends what puts the values at their places, and zero elsewhere.
  static void scatter(const Selection& selected, const Slice& slice, Program& program);

 private:
  Elements kept_of(const Bucket& bucket, const ModelShape& model) const;

  std::string_view name_;
  Combination how_;
  double density_;
  std::vector<std::string_view> selections_;
};

}  // namespace paceline::strategies
