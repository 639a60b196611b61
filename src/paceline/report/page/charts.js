// SPDX-License-Identifier: Apache-2.0
// Draws a chart specification (page/sections.js) as SVG with Observable Plot.
// Colors are variables of the style sheet, so that a change of theme needs no
// new drawing.  Series also differ by shape and dashes, never by color alone.
"use strict";

const paceline = (() => {
  const COLORS = 6;
  // There are more dashes and symbols than colors, so that twelve series differ
  // in both.
  const DASHES = [
    null, "7 3", "2 3", "9 3 2 3", "14 4", "5 2 1 2 1 2", "1 4", "14 3 4 3",
    "4 6", "10 2 10 6", "2 2 6 2", "1 2 1 6",
  ];
  const SYMBOLS = [
    "circle", "square", "triangle", "diamond2", "cross", "star", "times",
    "asterisk", "wye", "plus", "square2", "triangle2",
  ];

  const color = (i) => `var(--c${i % COLORS})`;
  const dash = (i) => DASHES[i % DASHES.length];
  const symbol = (i) => SYMBOLS[i % SYMBOLS.length];
  const axisLabel = (axis) =>
    axis.unit ? `${axis.label}, ${axis.unit}` : axis.label;

  // Returns the text at a tick: 1200 -> "1,200", 0.25 -> "0.25".
  const tick = (value) => {
    const size = Math.abs(value);
    if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toPrecision(2);
    return value.toLocaleString("en-US", { maximumFractionDigits: 3 });
  };

  // Returns the least and greatest of the numbers, with some margin; from zero
  // if the axis asks for it.
  const extent = (numbers, axis, room = 0.05) => {
    let [low, high] = d3.extent(numbers.filter(Number.isFinite));
    if (low === undefined) [low, high] = [0, 1];
    if (axis.log && low > 0) return [low / 1.1, high * 1.1];
    if (axis.from_zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
    const gap = (high - low || Math.abs(high) || 1) * room;
    return [
      axis.from_zero && low === 0 ? 0 : low - gap,
      axis.from_zero && high === 0 ? 0 : high + gap,
    ];
  };

  const soft = { fill: "var(--soft)", fontSize: 11 };

  // Returns the ticks of a logarithmic axis: at 1, 2 and 5 of every decade; at
  // powers of ten if these are more than `most`; evenly spaced if they are too
  // few.
  const logTicks = ([low, high], most) => {
    const decades = d3.range(Math.floor(Math.log10(low)), Math.log10(high) + 1)
      .map((e) => 10 ** e);
    const inside = (v) => v >= low && v <= high;
    const fine = decades.flatMap((d) => [d, 2 * d, 5 * d]).filter(inside);
    if (fine.length < 2) return d3.ticks(low, high, most).filter(inside);
    return fine.length <= most ? fine : decades.filter(inside);
  };

  // Returns the ticks of an axis of `size` pixels, at least `step` pixels
  // apart.
  const ticksOf = (axis, domain, size, step) => {
    const most = Math.max(3, Math.floor(size / step));
    return axis.log ? logTicks(domain, most) : d3.ticks(...domain, most)
      .filter((v) => v >= domain[0] && v <= domain[1]);
  };

  // Returns `stops` without those whose labels would touch the label before.
  const apart = (stops, place, pixels) => {
    const kept = [];
    for (const stop of stops) {
      if (!kept.length || place(stop) - place(kept.at(-1)) >= pixels) kept.push(stop);
    }
    return kept;
  };

  const scale = (axis, domain) =>
    ({ type: axis.log ? "log" : "linear", domain, axis: null });

  // Draws ticks and grid of a horizontal axis, and its name with the unit
  // below.
  const bottom = (axis, ticks) => [
    Plot.gridX(ticks, { stroke: "var(--grid)", strokeOpacity: 1 }),
    Plot.text(ticks, { x: (d) => d, text: tick, frameAnchor: "bottom", dy: 15, ...soft }),
    Plot.text([axisLabel(axis)], {
      frameAnchor: "bottom-right", dy: 34, textAnchor: "end", ...soft,
    }),
  ];

  // Draws ticks and grid of a vertical axis, and its name with the unit above.
  const side = (axis, ticks) => [
    Plot.gridY(ticks, { stroke: "var(--grid)", strokeOpacity: 1 }),
    Plot.text(ticks, {
      y: (d) => d, text: tick, frameAnchor: "left", textAnchor: "end", dx: -8, ...soft,
    }),
    Plot.text([axisLabel(axis)], {
      frameAnchor: "top-left", dy: -18, textAnchor: "start", ...soft,
    }),
  ];

  // A whisker is dotted if its interval is over steps, not over runs.
  const DOTTED = "1.5 2.5";
  const solid = (data) => data.filter((d) => !d.within_run);
  const dotted = (data) => data.filter((d) => d.within_run);

  // Returns height, ticks and left margin of a chart with a vertical axis.
  function frameOf(spec, domain, width) {
    const height = Math.round(Math.min(340, Math.max(240, width * 0.62)));
    const rows = ticksOf(spec.value, domain, height, 50);
    const letters = Math.max(3, d3.max(rows, (d) => tick(d).length));
    return { height, rows, marginLeft: 22 + 7 * letters };
  }

  // Returns the symbol of a point: filled if it was measured, else hollow; if
  // it is INVALID, hollow, in another color and crossed.
  const symbolStyle = (i, look) => ({
    symbol: symbol(i), strokeWidth: 1.6,
    stroke: look === "invalid" ? "var(--bad)" : color(i),
    fill: look === "measured" ? color(i) : "var(--paper)",
  });
  function symbols(data, i, look, options) {
    const lookAt = (d) => d.valid === false ? "invalid" : look;
    const crossed = data.filter((d) => lookAt(d) === "invalid");
    const plain = data.filter((d) => lookAt(d) !== "invalid");
    return [
      Plot.dot(plain, { ...options, ...symbolStyle(i, look) }),
      Plot.dot(crossed, { ...options, ...symbolStyle(i, "invalid") }),
      Plot.dot(crossed, {
        ...options, symbol: "times", stroke: "var(--bad)", strokeWidth: 1.6, r: 5,
      }),
    ];
  }

  // Draws the points of one series in the look that it asks for.
  function seriesMarks(series) {
    const i = series.style;
    const stroke = series.look === "reference" ? "var(--soft)" : color(i);
    const strokeDasharray = series.look === "reference" ? "5 4" : dash(i);
    const data = series.points;
    const sure = data.filter((d) => d.low !== undefined);
    const line = Plot.lineY(data, {
      x: "along", y: "value", stroke, strokeDasharray, strokeWidth: 1.5,
    });
    if (series.look === "reference") return [line];
    const ends = ["low", "high"].map((y) => Plot.dot(sure, {
      x: "along", y, symbol: { draw: (c) => { c.moveTo(-4, 0); c.lineTo(4, 0); } },
      stroke, strokeWidth: 1.5,
    }));
    return [
      line,
      Plot.ruleX(solid(sure), {
        x: "along", y1: "low", y2: "high", stroke, strokeWidth: 1.5,
      }),
      Plot.ruleX(dotted(sure), {
        x: "along", y1: "low", y2: "high", stroke, strokeWidth: 1.5,
        strokeDasharray: DOTTED, className: "dotted",
      }),
      ...ends,
      ...symbols(data, i, series.look, {
        x: "along", y: "value", r: 4,
        title: (d) => [d.name || series.name, d.text].filter(Boolean).join("\n"),
      }),
    ];
  }

  function plane(spec, width) {
    const points = spec.series.flatMap((series) => series.points);
    const along = points.map((d) => d.along);
    const value = points.flatMap((d) => [d.value, d.low, d.high]);
    // `axis.reach` is the range that other charts beside this one show.
    const within = (numbers, axis) => extent([...numbers, ...(axis.reach || [])], axis);
    const domain = within(value, spec.value);
    const reach = within(along, spec.along);
    const { height, rows, marginLeft } = frameOf(spec, domain, width);
    const place = (spec.along.log ? d3.scaleLog : d3.scaleLinear)(
      reach, [marginLeft, width - 14]);
    // An axis of numbers of ranks has its ticks at these numbers.
    const stops = [...new Set(along)].sort((a, b) => a - b);
    const columns = stops.length <= 12 && stops.every(Number.isInteger)
      ? apart(stops, place, 26)
      : apart(ticksOf(spec.along, reach, width, 60), place, 40);
    return Plot.plot({
      width, height, marginLeft, marginRight: 14, marginTop: 26, marginBottom: 44,
      x: scale(spec.along, reach),
      y: scale(spec.value, domain),
      marks: [
        ...bottom(spec.along, columns),
        ...side(spec.value, rows),
        ...spec.series.flatMap(seriesMarks),
      ],
    });
  }

  function shape(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  // Makes the small picture of an entry of a legend.
  function swatch({ style: i, look }) {
    const reference = look === "reference";
    const symbolOf = (name, size, style) => shape("path", {
      d: d3.symbol(d3[`symbol${name[0].toUpperCase()}${name.slice(1)}`], size)(),
      transform: "translate(15,6)", style,
    });
    const { symbol: own, stroke, fill } = symbolStyle(i ?? 0, look);
    return shape("svg", { width: 30, height: 12, "aria-hidden": "true" },
      ...(i === undefined ? [] : [shape("line", {
        x1: 0, x2: 30, y1: 6, y2: 6, "stroke-width": 2,
        "stroke-dasharray": reference ? "5 4" : dash(i),
        style: `stroke:${reference ? "var(--soft)" : color(i)}`,
      })]),
      ...(i === undefined || reference ? []
        : [symbolOf(own, 48, `stroke:${stroke};fill:${fill}`)]),
      ...(look === "invalid" ? [symbolOf("times", 60, `stroke:${stroke};fill:none`)] : []));
  }

  function legend(spec) {
    const isInvalid = (series) => series.look === "invalid" ||
      series.points.some((one) => one.valid === false);
    const entries = [...spec.series, ...spec.series.some(isInvalid)
      ? [{ look: "invalid", name: paceline.INVALID }] : []];
    return paceline.element("div", { class: "legend" }, entries.map((one) =>
      paceline.element(one.style === undefined ? "b" : "span", {}, swatch(one), one.name)));
  }

  // Returns the chart as an element of this width.  A series without a style
  // gets its index as its style.
  function draw(spec, width) {
    spec.series.forEach((series, i) => { series.style ??= i; });
    const svg = plane(spec, width);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", spec.title);
    return paceline.element("div", {}, legend(spec), svg);
  }

  return { draw, drawing: { axisLabel, extent, tick } };
})();
