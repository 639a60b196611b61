// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/cluster_edit.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"

namespace paceline::plan {
namespace {

std::string fit_text(const LinkFit& fit) {
  std::string text =
      fmt::format("[[links.fits]]\noperation = \"{}\"\nranks = {}\n",
                  fit.operation,
                  fit.ranks);
  if (!fit.engine.empty()) {
    text += fmt::format("engine = \"{}\"\n", fit.engine);
  }
  if (!fit.device.empty()) {
    text += fmt::format("device = \"{}\"\n", fit.device);
  }
  if (fit.error_percent) {
    text += fmt::format("error_percent = {:.2f}\n", *fit.error_percent);
  }
  text += "pieces = [\n";
  for (const AlphaBetaPiece& piece : fit.line.pieces) {
    text += fmt::format(
        "  {{ from_bytes = {}, alpha = \"{}ps\", beta_ps_per_byte = {:.4f} "
        "}},\n",
        piece.from_bytes,
        piece.alpha,
        piece.beta_ps_per_byte);
  }
  return text + "]\n";
}

// The table that a line begins: "[[links]]" of "[[links]]  # the network".
std::string_view header_of(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("[")) {
    return "";
  }
  const auto last = line.find_last_of(']');
  return last == std::string_view::npos ? "" : line.substr(0, last + 1);
}

bool is_header(const std::string& line) {
  const auto header = header_of(line);
  return header.size() > 2 && header.find('"') == std::string_view::npos &&
         header.find('{') == std::string_view::npos &&
         line.find_first_not_of(" \t") != std::string::npos &&
         header.find(',') == std::string_view::npos;
}

// A link's lines: its own keys, then its fits; lines [begin, end).
struct Range {
  std::size_t begin = 0, end = 0;
};

std::vector<Range> ranges_of(const std::vector<std::string>& lines,
                             std::string_view header,
                             std::string_view inner) {
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_header(lines[i])) {
      continue;
    }
    const auto found = header_of(lines[i]);
    const bool inside = !inner.empty() && found.starts_with(inner);
    if (!ranges.empty() && ranges.back().end == lines.size() && !inside) {
      ranges.back().end = i;
    }
    if (found == header) {
      ranges.push_back({i, lines.size()});
    }
  }
  return ranges;
}

std::string joined(const std::vector<std::string>& lines, Range range) {
  std::string text;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    text += lines[i] + "\n";
  }
  return text;
}

// Blank lines and comments before a header belong to what it begins.
std::size_t without_tail(const std::vector<std::string>& lines, Range range) {
  std::size_t end = range.end;
  while (end > range.begin + 1) {
    const auto line = trimmed(lines[end - 1]);
    if (!line.empty() && !line.starts_with("#")) {
      break;
    }
    --end;
  }
  return end;
}

// What a file does not say is the same as what is measured now.
bool same_or_unsaid(const std::string& fresh, const std::string& written) {
  return written.empty() || written == fresh;
}

bool replaces(const LinkFit& fresh, const LinkFit& written) {
  return fresh.operation == written.operation && fresh.ranks == written.ranks &&
         same_or_unsaid(fresh.engine, written.engine) &&
         same_or_unsaid(fresh.device, written.device);
}

// The link's lines without the fits that `fits` replace.
std::vector<std::string> kept_lines(const std::vector<std::string>& lines,
                                    const ClusterLink& link,
                                    const std::vector<LinkFit>& fits,
                                    const std::string& file) {
  const auto written = ranges_of(lines, "[[links.fits]]", "[[links.fits.");
  if (written.size() != link.fits.size()) {
    throw UsageError(fmt::format(
        "{}: the fits of link '{}' are not written as [[links.fits]]; write "
        "them so, or remove them",
        file,
        link.name));
  }
  std::vector<std::string> kept;
  std::size_t next = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const Range range{written[i].begin, without_tail(lines, written[i])};
    kept.insert(kept.end(),
                lines.begin() + static_cast<std::ptrdiff_t>(next),
                lines.begin() + static_cast<std::ptrdiff_t>(range.begin));
    next = range.begin;
    if (std::ranges::any_of(fits, [&](const LinkFit& fit) {
          return replaces(fit, link.fits[i]);
        })) {
      next = range.end;
    }
  }
  kept.insert(kept.end(),
              lines.begin() + static_cast<std::ptrdiff_t>(next),
              lines.end());
  while (!kept.empty() && trimmed(kept.back()).empty()) {
    kept.pop_back();
  }
  return kept;
}

}  // namespace

std::string link_text(const ClusterLink& link) {
  std::string text = fmt::format(
      "[[links]]\nname = \"{}\"\njoins = \"{}\"\nsharing = \"{}\"\nrate = "
      "\"{:.0f}B/s\"\nlatency = \"{}ps\"\n",
      link.name,
      link.scope == LinkScope::kHosts ? "hosts" : "devices",
      link.sharing == LinkSharing::kHost     ? "host"
      : link.sharing == LinkSharing::kDevice ? "device"
                                             : "all",
      link.bytes_per_s,
      link.latency_ps);
  for (const LinkFit& fit : link.fits) {
    text += fmt::format("\n{}", fit_text(fit));
  }
  return text;
}

std::string with_fits(std::string_view text,
                      std::string_view link,
                      const std::vector<LinkFit>& fits,
                      const std::string& file) {
  const Cluster cluster = parse_cluster(text, file);
  const auto found = std::ranges::find(cluster.links, link, &ClusterLink::name);
  if (found == cluster.links.end()) {
    throw UsageError(fmt::format("{}: it has no link '{}'", file, link));
  }
  const std::vector<std::string> lines = split_lines(text);
  const auto ranges = ranges_of(lines, "[[links]]", "[[links.");
  if (ranges.size() != cluster.links.size()) {
    throw UsageError(
        fmt::format("{}: its links are not written as [[links]]", file));
  }
  const Range range = ranges[static_cast<std::size_t>(
      std::distance(cluster.links.begin(), found))];
  const std::size_t end = without_tail(lines, range);
  const std::vector<std::string> own(
      lines.begin() + static_cast<std::ptrdiff_t>(range.begin),
      lines.begin() + static_cast<std::ptrdiff_t>(end));
  std::string out = joined(lines, {0, range.begin});
  for (const std::string& line : kept_lines(own, *found, fits, file)) {
    out += line + "\n";
  }
  for (const LinkFit& fit : fits) {
    out += fmt::format("\n{}", fit_text(fit));
  }
  out += joined(lines, {end, lines.size()});
  parse_cluster(out, file);  // what is written can be read
  return out;
}

}  // namespace paceline::plan
