// SPDX-License-Identifier: Apache-2.0
// How throughput grows with the number of ranks: as bars in the form of
// published charts, and as curves.
"use strict";

Object.assign(paceline, (() => {
  const { lookOf, point, printable, withWhiskers } = paceline;
  const {
    axisLabel, color, dash, extent, frameOf, scale, side, soft, symbols, tick,
  } = paceline.drawing;

  const MOST_LINES = 12; // more cannot be told apart

  // Cases that differ in their ranks alone are points of one curve.
  // A prediction's steps are whole periods of its plan, which grow with ranks.
  const curveKey = ({ source, experiment, configuration }) => JSON.stringify(
    [source, experiment, { ...configuration, label: "", ranks: 1, ranks_per_host: null,
      ...(source === "predicted" ? { steps: 0 } : {}) }]);

  const curveName = ({ source, strategy }) =>
    source === "measured" ? strategy : `${strategy} (${source})`;

  // Points of a curve say themselves that they are INVALID.
  const lookOfAll = (members) => lookOf({ ...members[0], valid: true });

  // A function from a case to the number of its color, shape and dashes, the same
  // in the charts of the group where the cases of one chart stand behind one
  // link; undefined where numbers would repeat in a chart.
  function styles(group) {
    const withoutLink = (one) => curveKey(
      { ...one, configuration: { ...one.configuration, link: null } });
    const keys = d3.groups(group.cases, withoutLink)
      .filter(([, members]) => members.length > 1)
      .map(([key]) => key);
    return (one) => keys.length > MOST_LINES ? undefined : keys.indexOf(withoutLink(one));
  }

  // Throughput by ranks; null where no strategy has two numbers of ranks.
  function scaling(group) {
    const cases = group.cases.filter((one) => one.throughput);
    const curves = d3.groups(cases, curveKey).map(([, members]) => members)
      .filter((members) => members.length > 1);
    if (!curves.length) return null;
    const links = new Set(cases.map((one) => one.configuration.link));
    const style = styles(group);
    const series = curves.map((members) => ({
      name: [curveName(members[0]),
        links.size > 1 ? members[0].configuration.link : ""].filter(Boolean).join(", "),
      look: lookOfAll(members), boxes: [],
      ...(links.size > 1 ? {} : { style: style(members[0]) }),
      points: d3.sort(members, (one) => one.ranks).map((one) =>
        point(one.label, one.throughput, { along: one.ranks, valid: one.valid })),
    }));
    const most = d3.max(cases, (one) => one.ranks);
    if (series.length <= MOST_LINES && most > 1) {
      const baselines = new Set(group.cases.map((one) => one.baseline));
      for (const { label, throughput: { value } } of
        cases.filter((one) => baselines.has(one.label))) {
        series.push({ name: `linear scaling of ${label}`, look: "reference", boxes: [],
          points: [{ along: 1, value }, { along: most, value: value * most }] });
      }
    }
    const along = series.flatMap((one) => one.points.map((it) => it.along));
    // From here on, small numbers of ranks would lie upon each other.
    const log = d3.max(along) >= 8 * d3.min(along);
    return withWhiskers({ kind: "lines", title: "Throughput by number of ranks",
      note: "Dashed lines are ideal.", mark: "", series,
      along: { label: "ranks", unit: "", log },
      value: { label: "throughput", unit: "examples/s", log, from_zero: true } });
  }

  const MOST_BARS = 12; // beside each other, of one number of ranks

  // The form of published charts: for each number of ranks a group of bars, in
  // a box as high as linear scaling of the fastest baseline; a chart for each link
  // where the cases stand behind several.  None without a baseline.
  function growingWorlds(group) {
    const cases = group.cases.filter((one) => one.throughput);
    const baselines = new Set(group.cases.map((one) => one.baseline));
    const bases = cases.filter((one) => baselines.has(one.label));
    const base = d3.greatest(bases, (one) => one.throughput.value / one.ranks);
    const others = cases.filter((one) => !bases.includes(one));
    const unlinked = others.some((one) => !one.configuration.link);
    const links = [...(unlinked ? [""] : []), ...paceline.linksOf(others)];
    const style = styles(group);
    return !base ? []
      : links.length < 2 ? [growingBars(others, base, "", style)]
      : links.map((link) => growingBars(
        others.filter((one) => one.configuration.link === link), base, link, style));
  }

  // One of these charts; null where there is nothing to compare.
  function growingBars(cases, base, link, style) {
    const curves = d3.groups(cases, curveKey)
      .map(([, members]) => members).filter((members) => members.length > 1);
    if (!curves.length || curves.length > MOST_BARS) return null;
    const series = curves.map((members) => ({
      name: curveName(members[0]), look: lookOfAll(members), boxes: [],
      style: style(members[0]),
      points: d3.sort(members, (one) => one.ranks).map((one) =>
        point(one.label, one.throughput, { along: one.ranks, valid: one.valid })),
    }));
    const worlds = d3.sort(new Set(series.flatMap((one) => one.points.map((it) => it.along))));
    const { label, ranks, throughput: { value } } = base;
    series.push({ name: `linear scaling of ${label}`, look: "reference", boxes: [],
      points: worlds.map((along) => ({ along, value: value / ranks * along })) });
    const behind = link ? `, link ${printable(link)}` : "";
    return withWhiskers({ kind: "groups", title: `Throughput of growing worlds${behind}`,
      note: "A box is as high as linear scaling of the fastest baseline.", mark: "", series,
      along: { label: "ranks", unit: "" },
      value: { label: "throughput", unit: "examples/s", from_zero: true } });
  }

  // Bars of all series beside each other, for each place along the axis, in the
  // box of the reference where there is one.
  function groups(spec, width) {
    const bars = spec.series.filter((series) => series.look !== "reference");
    const boxes = spec.series.filter((series) => series.look === "reference")
      .flatMap((series) => series.points);
    const nameOf = (d) => d.place || tick(d.along);
    const places = [...new Set(
      d3.sort(spec.series.flatMap((series) => series.points), (d) => d.along).map(nameOf))];
    const left = (d, i) => places.indexOf(nameOf(d)) + 0.1 + 0.8 * i / bars.length;
    const placed = bars.map((series, i) => series.points.map((d) =>
      ({ ...d, x1: left(d, i), x2: left(d, i + 1), x: left(d, i + 0.5) })));
    const numbers = [...placed.flat().flatMap((d) => [d.value, d.high]),
      ...boxes.map((d) => d.value)];
    const domain = extent(numbers, { ...spec.value, from_zero: true });
    const { height, rows, marginLeft } = frameOf(spec, domain, width);
    return Plot.plot({
      width, height, marginLeft, marginRight: 14, marginTop: 26, marginBottom: 44,
      x: { type: "linear", domain: [0, places.length], axis: null },
      y: scale(spec.value, domain),
      marks: [
        ...side(spec.value, rows),
        Plot.text(places, {
          x: (d, i) => i + 0.5, text: (d) => d, frameAnchor: "bottom", dy: 15, ...soft,
        }),
        Plot.text([axisLabel(spec.along)], {
          frameAnchor: "bottom-right", dy: 34, textAnchor: "end", ...soft,
        }),
        ...placed.flatMap((data, i) => [
          ...[true, false].map((valid) => Plot.rect(
            data.filter((d) => (d.valid !== false) === valid), {
              x1: "x1", x2: "x2", y1: 0, y2: "value",
              stroke: valid ? color(bars[i].style) : "var(--bad)",
              fill: !valid ? "url(#hatch)" : bars[i].look === "other"
                ? "var(--paper)" : color(bars[i].style),
              fillOpacity: valid ? 0.35 : 1, strokeDasharray: dash(bars[i].style),
              title: (d) => [d.name, d.text].filter(Boolean).join("\n"),
            })),
          Plot.ruleX(data.filter((d) => d.low !== undefined), {
            x: "x", y1: "low", y2: "high", stroke: "var(--whisker)", strokeWidth: 1.5,
          }),
          ...symbols(data, bars[i].style, bars[i].look, { x: "x", y: "value", r: 3.5 }),
        ]),
        Plot.rect(boxes, {
          x1: (d) => places.indexOf(nameOf(d)) + 0.06,
          x2: (d) => places.indexOf(nameOf(d)) + 0.94, y1: 0, y2: "value",
          fill: "none", stroke: "var(--soft)", strokeWidth: 1.5,
        }),
      ],
    });
  }

  // Beside frameworks, their report has the charts.
  const scalingCharts = (group) =>
    group.cases.some((one) => one.configuration.framework)
      ? [] : [...growingWorlds(group), scaling(group)];

  return { groups, scalingCharts };
})());
