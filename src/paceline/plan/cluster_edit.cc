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
  if (!fit.ranks_per_host.empty()) {
    text += fmt::format("ranks_per_host = [{}]\n",
                        fmt::join(fit.ranks_per_host, ", "));
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

// The table that a line begins, without blanks: "[[links]]" of
// "[[ links ]]  # see [1]"; empty where it begins none.
std::string header_of(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("[")) {
    return "";
  }
  const std::string_view close = line.starts_with("[[") ? "]]" : "]";
  const auto at = line.find(close);
  if (at == std::string_view::npos) {
    return "";
  }
  const auto rest = trimmed(line.substr(at + close.size()));
  std::string header(line.substr(0, at + close.size()));
  if ((!rest.empty() && !rest.starts_with("#")) ||
      header.find_first_of("\"'{,") != std::string::npos) {
    return "";
  }
  std::erase_if(header, [](char c) { return c == ' ' || c == '\t'; });
  return header;
}

// Whether every line ends as on Windows.
bool has_crlf(std::string_view text) {
  std::size_t ends = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      if (i == 0 || text[i - 1] != '\r') {
        return false;
      }
      ++ends;
    }
  }
  return ends > 0;
}

std::string without_crlf(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!text.substr(i).starts_with("\r\n")) {
      out += text[i];
    }
  }
  return out;
}

std::string with_crlf(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '\n' ? "\r\n" : std::string(1, c);
  }
  return out;
}

// `edit` of the text with plain line ends; the file's come back.
template <class Edit>
std::string edited(std::string_view text, Edit edit) {
  return has_crlf(text) ? with_crlf(edit(without_crlf(text)))
                        : edit(std::string(text));
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
    const std::string found = header_of(lines[i]);
    if (found.empty()) {
      continue;
    }
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
         same_or_unsaid(fresh.device, written.device) &&
         (written.ranks_per_host.empty() ||
          written.ranks_per_host == fresh.ranks_per_host);
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

std::string link_text(const ClusterLink& link) {
  std::string text = fmt::format(
      "[[links]]\nname = \"{}\"\njoins = \"{}\"\nsharing = \"{}\"\nrate = "
      "\"{:.0f}B/s\"\n",
      link.name,
      link.scope == LinkScope::kHosts ? "hosts" : "devices",
      link.sharing == LinkSharing::kHost     ? "host"
      : link.sharing == LinkSharing::kDevice ? "device"
                                             : "all",
      link.bytes_per_s);
  if (link.latency_ps > 0) {
    text += fmt::format("latency = \"{}ps\"\n", link.latency_ps);
  }
  for (const LinkFit& fit : link.fits) {
    text += fmt::format("\n{}", fit_text(fit));
  }
  return text;
}

std::string fitted(const std::string& text,
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

}  // namespace

std::string with_link(std::string_view text, const ClusterLink& link) {
  return edited(text, [&](std::string plain) {
    plain += plain.empty() || plain.ends_with('\n') ? "\n" : "\n\n";
    return plain + link_text(link);
  });
}

std::string with_fits(std::string_view text,
                      std::string_view link,
                      const std::vector<LinkFit>& fits,
                      const std::string& file) {
  return edited(text, [&](const std::string& plain) {
    return fitted(plain, link, fits, file);
  });
}

}  // namespace paceline::plan
