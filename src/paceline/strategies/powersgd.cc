// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/error_feedback.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// The gradient and the residual of a tensor of several dimensions add up to a matrix M.  Two
/// factors of low rank are sent in place of M: first P = M Q, summed and orthonormalized, then
/// Q = M^T P, summed.  The result is P Q^T, and M minus the mean of the results stays in the
/// residual.  The next step starts from Q.
///
///   rounds         2
///   bytes sent     2 (P-1)/P 4 r (rows + columns) per matrix in float32; other
///                  tensors unchanged
///   extra memory   a residual as large as the model, the factors
///   guarantee      every rank has the same result; the gradient is compressed
///
/// In averages with neighbors, M is the change of one rank's parameters.  P and Q are then those of
/// that rank alone, and Q is drawn anew in each step: P Q^T = P P^T M is a projection onto r
/// directions that lean towards the largest singular vectors of M.
///
/// The rows of M are the first dimension, the columns all others.  Tensors of one dimension, and
/// matrices that the factors would not make smaller, are sent in the first round as plain sums.
/// Vogels et al., NeurIPS 2019, arXiv:1905.13727.
class PowerSgd final : public CodecRule {
 public:
  explicit PowerSgd(std::int64_t rank) : rank_(rank) {}

  WireFormat format(const PlanInput& input) const override {
    return {.type = input.model.dtype, .combination = Combination::kUncuttableSum};
  }

  int rounds(const PlanInput&) const override { return 2; }

  void extend_setup(const PlanInput& input, SetupBuilder& builder) const override {
    add_residual(input, "powersgd", builder);
    Elements left = 0, right = 0;
    for (const ParameterShape& parameter : input.model.parameters) {
      left += factors_of(parameter).left();
      right += factors_of(parameter).right();
    }
    builder.add_buffer({.name = kLeft, .dtype = input.model.dtype, .elements = left});
    builder.add_buffer({.name = kRight, .dtype = input.model.dtype, .elements = right});
  }

  std::vector<WireSlice> wire_slices(const Slice& slice, int round,
                                     const Program& program) const override {
    const FactorSlices parts = factor_slices_of(slice, program);
    const Slice& mine = round == 0 ? parts.left : parts.right;
    if (mine.count == 0) {
      return {};
    }
    return {{.format = format(program.input()), .of = slice, .mine = mine}};
  }

  void encode(const Slice& slice, int round, Program& program) const override {
    FactorSlices parts = factor_slices_of(slice, program);
    const Slice residual = residual_of(slice, program);
    std::vector<Access> right;
    if (parts.right.count > 0) {
      right.push_back({parts.right});
    }
    if (round == 0) {
      program.kernel("powersgd_left", joined({{slice}, {residual}}, right),
                     joined({{parts.left}, {residual}}, right), std::move(parts.shapes));
    } else if (!right.empty()) {
      program.kernel("powersgd_right", {{parts.left}, {residual}}, {{parts.left}, {parts.right}},
                     std::move(parts.shapes));
    }
  }

  void decode(const Slice& slice, Program& program) const override {
    FactorSlices parts = factor_slices_of(slice, program);
    const Slice residual = residual_of(slice, program);
    std::vector<Access> right;
    if (parts.right.count > 0) {
      right.push_back({parts.right});
    }
    parts.shapes.push_back(program.input().world);
    program.kernel("powersgd_outer", joined({{parts.left}}, joined(right, {{residual}})),
                   {{slice}, {residual}}, std::move(parts.shapes));
  }

  /// P is M Q for a Q of normal random numbers, so its columns lean towards the left singular
  /// vectors of the largest singular values of M.  On average they keep at least as much as r
  /// directions drawn uniformly in the column space of M, which has at most min(rows, columns)
  /// dimensions.
  std::optional<Contraction> contraction(const ModelShape& model) const override {
    Contraction least{.whole_tensors = true};
    for (const ParameterShape& parameter : model.parameters) {
      const Factors factors = factors_of(parameter);
      if (factors.rank > 0) {
        least.share =
            std::min(least.share, static_cast<double>(factors.rank) /
                                      static_cast<double>(std::min(factors.rows, factors.columns)));
      }
    }
    return least;
  }

  void forget(const Slice& slice, Program& program) const override {
    CodecRule::forget(slice, program);
    const FactorSlices parts = factor_slices_of(slice, program);
    if (parts.right.count > 0) {
      program.kernel("scatter", {}, {{parts.right}});  // encode() draws it anew
    }
  }

  void decode_from(const std::vector<Slice>& forms, const Slice& slice,
                   Program& program) const override {
    std::vector<Access> factors;
    for (const Slice& form : forms) {
      factors.push_back({form});
    }
    program.kernel("powersgd_outer", std::move(factors), {{slice}},
                   factor_slices_of(slice, program).shapes);
  }

 private:
  static constexpr auto kLeft = "powersgd_p";
  static constexpr auto kRight = "powersgd_q";

  static std::vector<Access> joined(std::vector<Access> first, const std::vector<Access>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }

  struct Factors {
    Elements rows = 0, columns = 1, rank = 0;  // rank 0: the rows are sent as a plain sum

    Elements left() const { return rank == 0 ? rows : rows * rank; }
    Elements right() const { return columns * rank; }
  };

  Factors factors_of(const ParameterShape& parameter) const {
    if (parameter.sizes.size() > 1 && parameter.elements > 0) {
      const Elements rows = parameter.sizes.front();
      const Elements columns = parameter.elements / rows;
      const Elements rank = std::min({rank_, rows, columns});
      if (rank * (rows + columns) < parameter.elements) {
        return {rows, columns, rank};
      }
    }
    return {.rows = parameter.elements};
  }

  struct FactorSlices {
    Slice left, right;
    std::vector<double> shapes;  // for each tensor: begin, rows, columns, rank
  };

  /// The factors of the tensors of a slice; they lie one after the other in ready order.
  FactorSlices factor_slices_of(const Slice& slice, const Program& program) const {
    const ModelShape& model = program.input().model;
    FactorSlices parts{
        {buffer_named(program.setup(), kLeft)}, {buffer_named(program.setup(), kRight)}, {}};
    for (const ParameterId id : model.ready_order) {
      const ParameterShape& parameter = model.parameters[index_of(id)];
      const Slice& tensor = program.setup().parameters[index_of(id)].value;
      const Factors factors = factors_of(parameter);
      const Elements begin = tensor.begin - slice.begin;
      if (begin + tensor.count <= 0) {
        parts.left.begin += factors.left();
        parts.right.begin += factors.right();
      } else if (begin < slice.count) {
        if (begin < 0 || begin + tensor.count > slice.count) {
          throw UsageError(
              fmt::format("powersgd takes whole tensors, and the schedule cuts '{}'; "
                          "take larger partitions or another schedule",
                          parameter.name));
        }
        parts.left.count += factors.left();
        parts.right.count += factors.right();
        for (const Elements number : {begin, factors.rows, factors.columns, factors.rank}) {
          parts.shapes.push_back(static_cast<double>(number));
        }
      }
    }
    return parts;
  }

  std::int64_t rank_;
};

}  // namespace

std::unique_ptr<CodecRule> make_powersgd(const Options& options) {
  const std::int64_t rank = options.count("rank");
  if (rank < 1) {
    throw UsageError("strategy option powersgd:rank=0: a whole number from 1 on is wanted");
  }
  return std::make_unique<PowerSgd>(rank);
}

}  // namespace paceline::strategies
