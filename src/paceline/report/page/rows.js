// SPDX-License-Identifier: Apache-2.0
// Draws charts whose cases are rows, one below the other: bars and boxes, each with its full name
// above it.  A chart is cut into short panels, so that each row is near a scale.
"use strict";

Object.assign(paceline, (() => {
  const { bottom, extent, picture, scale, shape, ticksOf, whiskerX } = paceline.drawing;

  const ROW = 46; // pixels of a bar with its name above it
  const text = (options) => ({ fill: "currentColor", fontSize: 12, ...options });

  // Returns the width of `words` in a chart's font, in pixels.
  const pen = document.createElement("canvas").getContext("2d");
  const textWidth = (words) => {
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(words).width;
  };

  // Splits `words` into lines of at most `pixels`, after + : , and blanks.  A
  // longer piece is cut anywhere; nothing is left out.
  const wrapped = (words, pixels) => {
    const all = [];
    let line = "";
    const add = (piece) => {
      if (line && textWidth(line + piece.trimEnd()) > pixels) {
        all.push(line);
        line = "";
      }
      line += piece;
    };
    for (const piece of words.split(/(?<=[+:, ])/)) {
      if (textWidth(piece.trimEnd()) <= pixels) add(piece);
      else [...piece].forEach(add);
    }
    return [...all, line].map((one) => one.trimEnd());
  };

  const LINE = 15; // pixels of each further line of a name
  const PANEL = 760; // pixels of the rows above one scale

  // Lays out the rows of a chart: returns the lines of each name, and the
  // pixels that the lines after the first take.
  function layoutOf(rows, width) {
    const values = d3.max(rows, (d) => textWidth(d.text)) || 0;
    const names = rows.map((d) => wrapped(d.name, Math.max(80, width - values - 36)));
    return { names, more: LINE * (d3.max(names, (one) => one.length) - 1) };
  }

  // Draws the name on the left and the value on the right, above each row.
  const rowTexts = (rows, names, more) => [
    Plot.text(rows, text({
      y: "row", frameAnchor: "left", textAnchor: "start", lineAnchor: "top",
      lineHeight: LINE / 12, dy: -21 - more / 2,
      text: (d, i) => names[i].join("\n"), className: "name",
    })),
    Plot.text(rows, text({
      y: "row", frameAnchor: "right", textAnchor: "end", lineAnchor: "top",
      dy: -21 - more / 2, text: "text", className: "value",
    })),
  ];

  // Draws the rows in panels, each with a scale; `marksOf` draws the rows of
  // one panel.
  function rowPlots(spec, all, domain, width, marksOf) {
    const { names, more } = layoutOf(all, width);
    const most = Math.max(4, Math.floor(PANEL / (ROW + more)));
    return d3.range(0, all.length, most).map((first) => {
      const rows = all.slice(first, first + most);
      return Plot.plot({
        width,
        height: rows.length * (ROW + more) + 46,
        marginLeft: 6, marginRight: 10, marginTop: 2, marginBottom: 44,
        x: scale(spec.value, domain),
        y: { type: "band", domain: rows.map((d) => d.row), axis: null, padding: 0 },
        marks: [
          ...bottom(spec.value, ticksOf(spec.value, domain, width, 60)),
          ...marksOf(rows, more),
          ...rowTexts(rows, names.slice(first, first + most), more),
        ],
      });
    });
  }

  // Returns the style of a bar or box: full if it was measured, light if not, hatched if it is
  // INVALID.
  const BARS = {
    measured: { fill: "var(--bar)", fillOpacity: 0.75 },
    other: { fill: "var(--bar-soft)", stroke: "var(--bar)", strokeDasharray: "4 2" },
    invalid: { fill: "url(#hatch)", stroke: "var(--bad)" },
  };

  // Returns all points (or boxes) of a chart, one below the other.
  const rowsOf = (spec, what) =>
    spec.series
      .flatMap((series) => series[what].map((d) => ({ ...d, look: series.look })))
      .map((d, row) => ({ ...d, row }));

  function bars(spec, width) {
    const all = rowsOf(spec, "points");
    const numbers = all.flatMap((d) => [d.value, d.low, d.high, d.mark]);
    const domain = extent(numbers, { ...spec.value, from_zero: true });
    return rowPlots(spec, all, domain, width, (rows, more) => {
      const top = 20 + more;
      const sure = rows.filter((d) => d.low !== undefined);
      const marked = rows.filter((d) => d.mark !== undefined);
      return [
        ...Object.entries(BARS).map(([look, style]) =>
          Plot.barX(rows.filter((d) => d.look === look), {
            y: "row", x1: 0, x2: "value", insetTop: top, insetBottom: 10, ...style,
          })),
        Plot.tickX(rows, {
          x: 0, y: "row", stroke: "var(--soft)", insetTop: top - 1, insetBottom: 5,
        }),
        Plot.tickX(marked, {
          x: "mark", y: "row", stroke: "var(--c1)", strokeWidth: 2,
          strokeDasharray: "3 2", insetTop: top - 1, insetBottom: 5,
        }),
        ...whiskerX(sure, {
          y: "row", x1: "low", x2: "high", stroke: "var(--whisker)", dy: 5 + more / 2,
          insetTop: 19 + more / 2, insetBottom: 19 + more / 2,
        }),
      ];
    });
  }

  function boxes(spec, width) {
    const all = rowsOf(spec, "boxes");
    const numbers = all.flatMap((d) => [d.low, d.high, ...d.outside]);
    return rowPlots(spec, all, extent(numbers, spec.value), width, (rows, more) => {
      const inset = { insetTop: 20 + more, insetBottom: 10 };
      const dots = rows.flatMap((d) =>
        d.outside.map((value) => ({ row: d.row, value })));
      return [
        ...whiskerX(rows, {
          y: "row", x1: "low", x2: "high", stroke: "var(--whisker)", dy: 5 + more / 2,
          insetTop: 19 + more / 2, insetBottom: 19 + more / 2,
        }),
        ...[[false, { fill: "var(--bar-soft)", stroke: "var(--bar)" }],
          [true, BARS.invalid]].map(([invalid, style]) =>
          Plot.barX(rows.filter((d) => (d.look === "invalid") === invalid), {
            y: "row", x1: "lower_quartile", x2: "upper_quartile", ...inset, ...style,
          })),
        Plot.tickX(rows, {
          y: "row", x: "median", stroke: "var(--whisker)", strokeWidth: 2.5, ...inset,
        }),
        Plot.dot(dots, {
          y: "row", x: "value", r: 2.2, dy: 5 + more / 2, fill: "var(--bar)",
          fillOpacity: 0.55,
        }),
      ];
    });
  }

  const INVALID = "INVALID: not a figure of the case; the notes of its row say why";

  // Explains a look, beside a sample of it.
  function lookEntry(look, name, inRows) {
    const { fill, stroke, strokeDasharray } = BARS[look];
    const entry = document.createElement("b");
    entry.append(picture(22, inRows
      ? shape("rect", { x: 1, y: 1, width: 20, height: 10,
        style: `fill:${fill};stroke:${stroke ?? fill};stroke-dasharray:${strokeDasharray ?? "none"}` })
      : shape("path", { d: d3.symbol(d3.symbolTimes, 60)(), transform: "translate(11,6)",
        style: "stroke:var(--bad);stroke-width:1.6;fill:none" })), name);
    return entry;
  }

  const invalidEntry = () => lookEntry("invalid", INVALID, false);

  // Explains the looks of bars and boxes, if there are several or one is
  // INVALID.
  function rowLegend(spec) {
    const looks = d3.groups(spec.series, (series) => series.look);
    if (looks.length < 2 && looks[0]?.[0] !== "invalid") return [];
    const box = document.createElement("div");
    box.className = "legend";
    box.append(...looks.map(([look, members]) => lookEntry(look, look === "invalid"
      ? INVALID : members.map((series) => series.name).join(", "), true)));
    return [box];
  }

  return { bars, boxes, invalidEntry, rowLegend };
})());
