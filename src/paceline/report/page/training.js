// SPDX-License-Identifier: Apache-2.0
// How cases that trained on data came to their accuracy and loss: curves against
// steps, bytes, time here and predicted time, with the table of what it took to
// reach the target.
"use strict";

Object.assign(paceline, (() => {
  const MOST_LINES = 12; // more cannot be told apart

  // A dashed line at the target, as long as the axis is used.
  function targetLine(value, along) {
    return { name: "target", look: "reference", boxes: [],
      points: [{ along: 0, value }, { along: d3.max(along), value }] };
  }

  // One chart of accuracies, or losses; `reach` is how far along a point of a
  // case lies, or null.
  function chart(group, title, along, reach, accuracies) {
    const value = accuracies
      ? { label: "accuracy", unit: "%" } : { label: "loss", unit: "", log: true };
    const drawn = (y) => y !== null && (accuracies || y > 0);
    const shown = accuracies ? 4 : 3;
    const series = group.cases.slice(0, MOST_LINES).map((one, i) => ({
      name: one.name, look: "measured", boxes: [], style: i,
      points: one.points.filter((point) => drawn(point[shown]))
        .map((point) => ({ along: reach(point, one, i), value: point[shown] }))
        .filter((point) => point.along !== null),
    })).filter((one) => one.points.length);
    const places = series.flatMap((one) => one.points.map((point) => point.along));
    if (!series.length || !d3.max(places)) return null;
    if (group.target && accuracies === group.classifies) {
      series.push(targetLine(group.classifies ? 100 * group.target : group.target, places));
    }
    return { kind: "lines", title, mark: "", along, value, series, note: "" };
  }

  // The charts of one value, accuracies or losses.
  function chartsOf(group, accuracies) {
    const what = accuracies ? "Accuracy" : "Loss";
    const draw = (by, along, reach) => chart(group, `${what} by ${by}`, along, reach, accuracies);
    return [
      draw("step", { label: "steps", unit: "" }, (point) => point[0]),
      draw("bytes sent", { label: "sent by the rank that sends most", unit: "MB" },
        (point) => point[2]),
      draw("time here", { label: "time in steps", unit: "s" }, (point) => point[1]),
      ...group.clusters.map((cluster, c) =>
        draw(`predicted time on ${cluster}`, { label: "predicted time in steps", unit: "s" },
          (point, one) => one.predicted_step_s[c] === null
            ? null : point[0] * one.predicted_step_s[c])),
    ].filter(Boolean);
  }

  // The section of one table of trained cases.
  function trainingSection(group) {
    const charts = [true, false].filter((accuracies) => group.classifies || !accuracies)
      .flatMap((accuracies) => chartsOf(group, accuracies));
    const left = group.cases.length - MOST_LINES;
    return { title: group.table.title, charts, table: group.table,
      note: "On the test samples, the mean over the ranks' own networks; of " +
        "several runs the median." +
        (left > 0 ? ` Of ${group.cases.length} cases the first ${MOST_LINES} are drawn.` : "") };
  }

  return { trainingSection };
})());
