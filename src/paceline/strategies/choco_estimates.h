// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "paceline/strategies/rules.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology.h"

namespace paceline::strategies {

/// One node of a graph and the number of nodes.
struct GraphNode {
  const Topology& graph;
  Rank nodes = 1;
  Rank node = 0;
};

/// Averages with neighbors where a codec C compresses the changes that are sent.  Every node i has
/// an estimate h_i of its values x_i that its neighbors hold too, because the node sends them the
/// code of the difference x_i - h_i.  With C scaled as Contraction says, and z_i =
/// sum over j of W_ij h_j - h_i, a step does
///   q_i = C(x_i - h_i)      is sent
///   h_i <- h_i + q_i,       z_i <- z_i + sum over j of W_ij q_j - q_i
///   x_i <- x_i + gamma z_i
/// The part that a code leaves out is in the next difference (error feedback).  Estimates start as
/// the parameters, which are equal on all ranks.  Then z starts at the excess of the row's sum over
/// 1, times the parameters; that is 0 where rows of W sum to 1.  A graph with several steps in its
/// period has h and z for each of them, so that all ranks that follow an estimate receive each of
/// its changes.
///
///   bytes sent, rank and exchange  degree * the bytes of the slice's form
///   extra memory, rank             2 (1 + period) S of the model, S more if
///                                  a row does not sum to 1; 1 + degree forms
///
/// Columns of W sum to 1, so the sum over the nodes is preserved; W need not be symmetric.
/// Koloskova, Stich and Jaggi, ICML 2019, arXiv:1902.00340, algorithm 6 (CHOCO-SGD); directed
/// graphs: Toghani and Uribe, ACC 2022, arXiv:2204.08160.
class ChocoEstimates {
 public:
  /// `who` is the strategy's name for messages.  Reads the option `gamma`; 0 stands for
  /// Contraction::gamma().
  ChocoEstimates(std::string_view who, const Options& options, std::unique_ptr<CodecRule> codec);

  /// Adds the buffers of this rank, whose node in the graph is `mine`.  Throws UsageError if
  /// averages of codes do not converge to the mean on that graph.
  void extend_setup(const GraphNode& mine, SetupBuilder& builder) const;

  /// Appends the ops that send the code of `values` to the ranks that `mixing`, a row over ranks,
  /// names.
  void start(const Slice& values, const MixingRow& mixing, CommunicatorId on,
             Program& program) const;

  /// Appends the ops that receive the neighbors' codes and move `values` towards the average.
  void finish(const Slice& values, const MixingRow& mixing, Program& program) const;

  /// The consensus step size: the factor gamma in x_i <- x_i + gamma z_i.
  double gamma(const ModelShape& model) const;
  const CodecRule& codec() const { return *codec_; }

 private:
  void check(const GraphNode& mine, const ModelShape& model) const;
  /// The wire forms of a slice, in the order of the codec's rounds.
  std::vector<WireSlice> wire_forms_of(const Slice& slice, const Program& program) const;
  void add_inboxes(std::size_t degree, SetupBuilder& builder) const;
  void send(const std::vector<WireSlice>& forms, const MixingRow& mixing, CommunicatorId on,
            Program& program) const;
  /// Appends sum <- sum + weight * factor * decoded, where `factor` is that of the Contraction.
  void add(const Slice& decoded, double weight, const Slice& sum, Program& program) const;

  std::string_view strategy_name_;
  std::unique_ptr<CodecRule> codec_;
  double gamma_;  // 0: Contraction::gamma() is used
};

/// Returns the ChocoEstimates of an exchange that averages with a codec; nullopt without a codec.
/// Throws UsageError if a strategy without a codec has the option `gamma`.
std::optional<ChocoEstimates> make_choco_estimates(std::unique_ptr<CodecRule> codec,
                                                   std::string_view who, const Options& options);

}  // namespace paceline::strategies
