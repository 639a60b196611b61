// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/cluster.h"

namespace paceline::plan {

/// The text of a cluster file with `fits` in its link `link`, and every other
/// line as it was, comments and line ends too: fits of the same operation,
/// ranks, engine, device and ranks per host are replaced, other ones stay; a
/// file's fit that is silent of one of these is the same.  `file` is what
/// errors name.  Without fits the text comes back where it can be edited.
///
/// Throws UsageError where the text is no cluster file, where it has no such
/// link, and where the fits of that link are not written as [[links.fits]].
std::string with_fits(std::string_view text,
                      std::string_view link,
                      const std::vector<LinkFit>& fits,
                      const std::string& file);

/// A cluster file's text with a `[[links]]` table appended.  A latency of 0 is
/// left out, which reads as 0 and claims nothing.
std::string with_link(std::string_view text, const ClusterLink& link);

}  // namespace paceline::plan
