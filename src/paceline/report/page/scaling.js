// SPDX-License-Identifier: Apache-2.0
// Shows how throughput grows with the number of ranks.
"use strict";

Object.assign(paceline, (() => {
  const { lookOf, nameWithoutRanks, point, withWhiskers } = paceline;

  const MOST_LINES = 12; // more cannot be told apart

  // Cases that differ only in their ranks are points of one curve.  The number
  // of steps of a prediction may differ too: it is whole periods of the plan,
  // which grow with ranks.
  const curveKey = ({ source, experiment, configuration }) => JSON.stringify(
    [source, experiment, { ...configuration, label: "", ranks: 1, ranks_per_host: null,
      ...(source === "predicted" ? { steps: 0 } : {}) }]);

  const curveName = (one) => one.configuration.framework ? nameWithoutRanks(one)
    : one.source === "measured" ? one.strategy : `${one.strategy} (${one.source})`;

  // Draws throughput by ranks.  Null if no strategy has two numbers of ranks.
  function scaling(group) {
    const cases = group.cases.filter((one) => one.throughput);
    const curves = d3.groups(cases, curveKey).map(([, members]) => members)
      .filter((members) => members.length > 1);
    if (!curves.length) return null;
    const links = new Set(cases.map((one) => one.configuration.link));
    // Each point of a curve shows by itself whether it is INVALID.
    const series = curves.map((members) => ({
      name: [curveName(members[0]),
        links.size > 1 ? members[0].configuration.link : ""].filter(Boolean).join(", "),
      look: lookOf({ ...members[0], valid: true }), boxes: [],
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
    // From this ratio on, small numbers of ranks would overlap on a linear
    // axis.
    const log = d3.max(along) >= 8 * d3.min(along);
    return withWhiskers({ kind: "lines", title: "Throughput by number of ranks",
      note: "Dashed lines are ideal.", mark: "", series,
      along: { label: "ranks", unit: "", log },
      value: { label: "throughput", unit: "examples/s", log, from_zero: true } });
  }

  return { scaling };
})());
