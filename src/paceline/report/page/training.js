// SPDX-License-Identifier: Apache-2.0
// Shows the accuracy and loss of cases that trained on data: curves against steps, bytes, measured
// time and predicted time, and a table of steps, bytes and time to the target.
"use strict";

Object.assign(paceline, (() => {
  const MOST_LINES = 12; // more cannot be told apart

  const classifies = (group) => group.cases[0].points[0].accuracy !== null;

  // Makes a dashed line at the target, along the used part of the axis.
  function targetLine(value, along) {
    return { name: "target", look: "reference", boxes: [],
      points: [{ along: 0, value }, { along: d3.max(along), value }] };
  }

  // Makes charts of accuracies or losses, all with the same axes.  Each chart has at most as many
  // cases as a reader can distinguish.  `reach` returns the position of a case's point along the
  // axis, or null.
  function charts(group, title, along, reach, accuracies) {
    const value = accuracies
      ? { label: "accuracy", unit: "%" } : { label: "loss", unit: "", log: true };
    const drawn = (y) => y !== null && (accuracies || y > 0);
    const shown = accuracies
      ? (point) => point.accuracy === null ? null : 100 * point.accuracy
      : (point) => point.loss;
    const all = group.cases.map((one, i) => ({
      name: one.name, look: "measured", boxes: [], style: i % MOST_LINES,
      points: one.points.filter((point) => drawn(shown(point)))
        .map((point) => ({ along: reach(point, one), value: shown(point) }))
        .filter((point) => point.along !== null),
    }));
    const points = all.flatMap((one) => one.points);
    const places = points.map((point) => point.along);
    if (!d3.max(places)) return [];
    const target = group.target && accuracies === classifies(group)
      ? [targetLine(accuracies ? 100 * group.target : group.target, places)] : [];
    return d3.range(0, all.length, MOST_LINES).map((first) => {
      const last = Math.min(first + MOST_LINES, all.length);
      const series = all.slice(first, last).filter((one) => one.points.length);
      const part = all.length > MOST_LINES ? `, cases ${first + 1} to ${last}` : "";
      return series.length ? { kind: "lines", title: title + part, mark: "",
        along: { ...along, reach: d3.extent(places) },
        value: { ...value, reach: d3.extent(points, (point) => point.value) },
        series: [...series, ...target], note: "" } : null;
    });
  }

  // Makes the charts of one quantity: accuracies or losses.
  function chartsOf(group, accuracies) {
    const what = accuracies ? "Accuracy" : "Loss";
    const draw = (by, along, reach) =>
      charts(group, `${what} by ${by}`, along, reach, accuracies);
    return [
      draw("step", { label: "steps", unit: "" }, (point) => point.step),
      draw("bytes sent", { label: "sent by the rank that sends most", unit: "MB" },
        (point) => point.sent_bytes / 1e6),
      draw("time here", { label: "time in steps", unit: "s" }, (point) => point.s),
      ...group.clusters.map((cluster, c) =>
        draw(`predicted time on ${cluster}`, { label: "predicted time in steps", unit: "s" },
          (point, one) => one.predicted_step_s[c] === null
            ? null : point.step * one.predicted_step_s[c])),
    ].flat().filter(Boolean);
  }

  // Makes the section of one table of trained cases.
  function trainingSection(group) {
    return { title: group.table.title, table: group.table,
      charts: [true, false].filter((accuracies) => classifies(group) || !accuracies)
        .flatMap((accuracies) => chartsOf(group, accuracies)),
      note: "On the test samples, the mean over the ranks' own networks; of " +
        "several runs the median." };
  }

  return { trainingSection };
})());
