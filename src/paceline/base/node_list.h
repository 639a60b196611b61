// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// Returns the hosts of a Slurm node list, in its order: "n[1-3,07],m2" is n1, n2, n3, n07, m2.  A
/// range keeps the leading zeros of its lower end; several brackets in one name give all
/// combinations. Throws UsageError for any other text.
std::vector<std::string> expand_node_list(std::string_view list);

/// Splits a node list at the commas outside of brackets.
std::vector<std::string_view> split_node_list(std::string_view list);

/// Returns the counts of Slurm's tasks per node: "2(x3),1" is 2, 2, 2, 1.
std::vector<int> expand_tasks_per_node(std::string_view list);

}  // namespace paceline
