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

/// A node of a graph.
struct GraphNode {
  const Topology& graph;
  Rank nodes = 1;
  Rank node = 0;
};

/// Averages with neighbors of which a codec C carries the changes.  Every node has a public copy
/// h_i of its values x_i, which its neighbors can follow, and sends them the code of what the copy
/// lacks.  With C scaled as Contraction says, and z_i = sum over j of W_ij h_j - h_i,
///   q_i = C(x_i - h_i)      crosses
///   h_i <- h_i + q_i,       z_i <- z_i + sum over j of W_ij q_j - q_i
///   x_i <- x_i + gamma z_i
/// What a code leaves out is in the next difference: error feedback.  Copies start as the
/// parameters, which the ranks have in common; z starts at what the rows of W then add, 0 where
/// they sum to 1.  A graph of several steps
/// has h and z for each of them, so that all that follow a copy receive each of its changes.
///
///   bytes sent, rank and exchange  degree * those of a form of the slice
///   extra memory, rank             2 (1 + period) S of the model, S more where
///                                  a row does not sum to 1; 1 + degree forms
///
/// Columns of W sum to 1, so the sum over the nodes is kept; W need not be symmetric.  Koloskova,
/// Stich and Jaggi, ICML 2019, arXiv:1902.00340, algorithm 6 (CHOCO-SGD); directed graphs: Toghani
/// and Uribe, ACC 2022, arXiv:2204.08160.
class PublicCopies {
 public:
  /// `who` averages.  Option `gamma`; 0: Contraction::gamma().
  PublicCopies(std::string_view who, const Options& options, std::unique_ptr<CodecRule> codec);

  /// Adds the buffers of this rank, which averages as `mine` does.  Throws UsageError where the
  /// codes do not lead to the mean on that graph.
  void extend(const GraphNode& mine, SetupBuilder& builder) const;

  /// Appends what sends the code of `values` to those whom `mixing`, a row of ranks, names.
  void start(const Slice& values, const Mixing& mixing, CommunicatorId on, Program& program) const;

  /// Appends what takes the neighbors' codes and moves `values`.
  void finish(const Slice& values, const Mixing& mixing, Program& program) const;

  /// The step of an average.
  double gamma(const ModelShape& model) const;
  const CodecRule& codec() const { return *codec_; }

 private:
  void check(const GraphNode& mine, const ModelShape& model) const;
  /// What crosses of a slice, in the order of the codec's rounds.
  std::vector<WireSlice> forms_of(const Slice& slice, const Program& program) const;
  void add_inboxes(std::size_t degree, SetupBuilder& builder) const;
  void send(const std::vector<WireSlice>& forms, const Mixing& mixing, CommunicatorId on,
            Program& program) const;
  /// sum <- sum + weight * the decoded form, as the Contraction scales it
  void add(const Slice& decoded, double weight, const Slice& sum, Program& program) const;

  std::string_view who_;
  std::unique_ptr<CodecRule> codec_;
  double gamma_;  // 0: Contraction::gamma()
};

/// The averages of an exchange that a codec carries; nothing without a codec. Throws UsageError
/// where a strategy without a codec has the option `gamma`.
std::optional<PublicCopies> copies_with(std::unique_ptr<CodecRule> codec, std::string_view who,
                                        const Options& options);

}  // namespace paceline::strategies
