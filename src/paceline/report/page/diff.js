// SPDX-License-Identifier: Apache-2.0
// Shows a comparison: a chart of the changes with their intervals, and its
// tables.
"use strict";

Object.assign(paceline, (() => {
  const { estimateOf, printable, withWhiskers } = paceline;

  const LOOKS = { slower: ["proven", "measured"], faster: ["proven", "measured"],
    INVALID: ["INVALID", "invalid"] };
  const lookOf = ({ verdict }) => LOOKS[verdict] ?? ["not proven", "other"];

  function changeChart(diff) {
    const cases = diff.cases.filter((one) => one.change !== null);
    if (!cases.length) return null;
    const models = new Set(cases.map((one) => one.model)).size;
    const point = (one) => ({ ...estimateOf(one, "change", "", { factor: 100, decimals: 1 }, "+"),
      name: printable(models > 1 ? `${one.model} ${one.case}` : one.case) });
    const margin = diff.until ? diff.until.within : diff.threshold;
    return withWhiskers({ kind: "bars", title: `Change of the ${diff.compared}`, mark: "",
      note: "Test over base, less 1: positive is slower." +
        (margin > 0 ? ` Up to ${100 * margin} % counts as no change.` : ""),
      value: { label: "change", unit: "%", from_zero: true },
      series: d3.groups(cases, (one) => lookOf(one).join()).map(([, members]) => {
        const [name, look] = lookOf(members[0]);
        return { name, look, boxes: [], points: members.map(point) };
      }) });
  }

  function diffSections(diff) {
    if (!diff) return [];
    const chart = changeChart(diff);
    return diff.tables.map((shown, i) => ({ title: shown.title, note: "", table: shown,
      charts: i === 0 && chart ? [chart] : [] }));
  }

  return { diffSections };
})());
