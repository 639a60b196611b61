// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::aa {

/// Comparisons of equals: the share in which any of three cases is found different, beside what
/// testing the steps one by one would find.
void print_false_positives();

/// Comparisons in which one of three cases is 1 % slower: how often it is found, at the number of
/// runs that `stats::runs_for_power` states.
void print_power();

/// How often the intervals of stats/interval.h hold the true value, and how often a steady series
/// is said to change.
void print_coverage();

/// Runs in turns until a change is proven (stats/sequential.h): how often equals are claimed to
/// differ, how often a planted change is found, and how many runs that takes beside a fixed plan of
/// equal power.
void print_until();

/// Comparisons of tables of operations of engines: how often equals have a claim, and how often a
/// change planted in one range of sizes is found.
void print_tables();

}  // namespace paceline::aa
