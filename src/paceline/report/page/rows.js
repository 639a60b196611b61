// SPDX-License-Identifier: Apache-2.0
// Draws charts whose cases are rows, one below the other: bars and boxes, each with its full name
// above it.  Places along the axis are shares of the width, so the browser lays the rows out, and
// the axis stays in view below them (page.css).
"use strict";

Object.assign(paceline, (() => {
  const { breakable, element } = paceline;
  const { axisLabel, extent, tick } = paceline.drawing;

  const INVALID = "INVALID: not a figure of the case; the notes of its row say why";

  const isRows = (spec) => spec.kind === "bars" || spec.kind === "boxes";

  // Explains the looks of bars and boxes, if there are several or one is INVALID.
  function legend(spec) {
    const looks = d3.groups(spec.series, (series) => series.look);
    return looks.length < 2 && looks[0]?.[0] !== "invalid" ? null
      : element("div", { class: "legend" }, looks.map(([look, members]) =>
        element("span", {}, element("i", { class: `sample ${look}` }), look === "invalid"
          ? INVALID : members.map((series) => series.name).join(", "))));
  }

  function rows(spec) {
    const all = spec.series.flatMap(({ look, points, boxes }) =>
      [...points, ...boxes].map((d) => ({ ...d, look })));
    const domain = extent(all.flatMap((d) => [d.value, d.low, d.high, d.mark, ...d.outside ?? []]),
      { ...spec.value, from_zero: spec.kind === "bars" });
    const percent = (value) => 100 * (value - domain[0]) / (domain[1] - domain[0]);
    // Makes a mark from one value to another.
    const mark = (name, from, to = from) => element("i", { class: name,
      style: `left:${percent(Math.min(from, to))}%;width:${Math.abs(percent(to) - percent(from))}%` });
    const marks = (d) => [
      spec.kind === "bars" ? mark(`bar ${d.look}`, 0, d.value) : null,
      d.low === undefined ? null : mark(d.within_run ? "whisker within" : "whisker", d.low, d.high),
      ...spec.kind === "bars" ? [mark("zero", 0)]
        : [mark(`bar ${d.look === "invalid" ? d.look : "other"}`, d.lower_quartile,
          d.upper_quartile), mark("median", d.median)],
      ...(d.outside ?? []).map((value) => mark("outside", value)),
      d.mark === undefined ? null : mark("ideal", d.mark)];
    const ticks = d3.ticks(...domain, 4).filter((at) => at >= domain[0] && at <= domain[1]);
    return [legend(spec), element("div", { class: "rows", role: "img", "aria-label": spec.title },
      ticks.map((at) => mark("grid", at)),
      all.map((d) => element("div", { class: "row", "data-case": d.name },
        element("span", { class: "name" }, breakable(d.name)),
        element("span", { class: "value" }, d.text),
        element("div", { class: "track" }, marks(d)))),
      element("div", { class: "axis" }, ticks.map((at) =>
        element("span", { style: `left:${percent(at)}%` }, tick(at))),
      element("b", {}, axisLabel(spec.value))))];
  }

  return { INVALID, isRows, rows };
})());
