// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// A codec that sends a fraction of each bucket's values, with or without their indices, and adds
/// the rest to the gradient of the next step (error feedback).
///
/// The selections of the buckets lie one after the other in a buffer.  The selection of a part of a
/// bucket is proportional to its number of elements.  The padding between tensors does not count as
/// elements.
class SparseCodec : public CodecRule {
 public:
  /// `name` is the codec's name in errors.  `density` is the fraction of a bucket's values that are
  /// sent; at least one value is.  `selections` are the names of the buffers.
  SparseCodec(std::string_view name, Combination how, double density,
              std::vector<std::string_view> selections)
      : name_(name), combination_(how), density_(density), selections_(std::move(selections)) {}

  WireFormat format(const PlanInput& input) const override {
    return {.type = input.model.dtype, .combination = combination_};
  }

  /// Adds the residual and the buffers of the selections.
  void extend_setup(const PlanInput& input, SetupBuilder& builder) const override;

 protected:
  /// The selected values and their indices in the slice.
  struct Selection {
    Slice values, places;
  };

  double density() const { return density_; }

  /// Adds buffers for the values and indices of `copies` selections of all buckets.
  void add_selection_buffers(std::string_view name, SetupBuilder& builder,
                             Elements copies = 1) const;

  /// The selection of `slice`, in the buffers of this name.
  Selection selection(std::string_view name, const Slice& slice, const Program& program) const;

  /// The wire slices of values and indices; empty if no value is selected.
  std::vector<WireSlice> selected_slices(const Slice& slice, const Selection& mine,
                                         const Selection& all, const Program& program,
                                         Rank peer = -1) const;

  /// Appends the kernel that selects values from the sum of the slice and its residual; `numbers`
  /// are the numeric arguments of the kernel.
  static void select(std::string_view kernel, const Slice& slice, const Selection& selected,
                     Program& program, std::vector<double> numbers = {});

  /// Appends the kernel that writes the values to their indices in `slice` and zero elsewhere.
  static void scatter(const Selection& selected, const Slice& slice, Program& program);

 private:
  Elements selected_count(const Bucket& bucket, const ModelShape& model) const;

  std::string_view name_;
  Combination combination_;
  double density_;
  std::vector<std::string_view> selections_;
};

}  // namespace paceline::strategies
