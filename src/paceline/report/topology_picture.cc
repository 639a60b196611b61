// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "paceline/report/topology_text.h"

namespace paceline::report {
namespace {

constexpr int kPanel = 260;  // pixels of a step's square
constexpr int kPanelsInRow = 4;
constexpr double kRadius = 100;
constexpr auto kHeader =
    "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" "
    "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
constexpr std::array kColors{"#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951",
                             "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0"};

struct Position {
  double x = 0, y = 0;
};

/// Rank 0 at the top, the others clockwise.
Position place_of(plan::Rank rank, plan::Rank ranks, Position center) {
  const double angle = 2 * std::numbers::pi * rank / ranks;
  return {center.x + kRadius * std::sin(angle), center.y - kRadius * std::cos(angle)};
}

double radius_of(plan::Rank ranks) { return std::clamp(kRadius * 2.2 / ranks, 2.0, 10.0); }

int row_of(int step) { return step / kPanelsInRow; }

/// From the rim of one node to the rim of the other.
std::string edge_text(Position from, Position to, double rim, bool arrow) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const double dx = (to.x - from.x) / length * rim;
  const double dy = (to.y - from.y) / length * rim;
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
      "y2=\"{:.1f}\"{}/>\n",
      from.x + dx, from.y + dy, to.x - dx, to.y - dy, arrow ? " marker-end=\"url(#head)\"" : "");
}

bool sends(const TopologyView& view, plan::Rank from, plan::Rank to, plan::Step step) {
  const auto receivers = view.topology.mixing(from, step).to;
  return std::ranges::find(receivers, to) != receivers.end();
}

std::string panel(const TopologyView& view, plan::Step step, Position corner) {
  const plan::Rank ranks = view.nodes.count;
  const Position center{corner.x + kPanel / 2.0, corner.y + kPanel / 2.0 + 8};
  const double rim = radius_of(ranks);
  std::string text = fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n"
      "<g stroke=\"#555\" stroke-width=\"0.8\">\n",
      center.x, corner.y + 14,
      view.topology.period() == 1 ? std::string("every step") : fmt::format("step {}", step));
  for (plan::Rank from = 0; from < ranks; ++from) {
    for (const plan::Rank to : view.topology.mixing(from, step).to) {
      const bool both = sends(view, to, from, step);
      if (!both || from < to) {
        text += edge_text(place_of(from, ranks, center), place_of(to, ranks, center), rim, !both);
      }
    }
  }
  text += "</g>\n";
  for (plan::Rank rank = 0; rank < ranks; ++rank) {
    const Position at = place_of(rank, ranks, center);
    const auto machine = static_cast<std::size_t>(rank / view.nodes.local);
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", at.x,
                        at.y, rim, kColors[machine % kColors.size()]);
    if (rim >= 6) {
      text += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#fff\" "
          "font-size=\"{:.0f}\">{}</text>\n",
          at.x, at.y + 3.5, rim, rank);
    }
  }
  return text;
}

/// What the user wrote, as XML text.
std::string xml_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? std::string("&amp;") : c == '<' ? std::string("&lt;") : std::string(1, c);
  }
  return result;
}

}  // namespace

std::string topology_picture(const TopologyView& view) {
  const auto steps = static_cast<int>(shown_steps(view));
  const int columns = std::min(steps, kPanelsInRow);
  const int rows = (steps + kPanelsInRow - 1) / kPanelsInRow;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}, {3} "
      "ranks</title>\n{4}",
      columns * kPanel, rows * (kPanel + 10), xml_text(view.name), view.nodes.count, kHeader);
  for (int step = 0; step < steps; ++step) {
    text += panel(view, step,
                  {static_cast<double>(step % kPanelsInRow * kPanel),
                   static_cast<double>(row_of(step) * (kPanel + 10))});
  }
  return text + "</svg>\n";
}

}  // namespace paceline::report
