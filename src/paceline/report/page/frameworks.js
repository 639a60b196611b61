// SPDX-License-Identifier: Apache-2.0
// The comparison of frameworks in the form of DLPerf's report: the frameworks,
// the options, and for each model and number type the tables of throughput and
// speed-up, their footnotes, a chart of each, and remarks on what is wrong with
// the figures.
"use strict";

Object.assign(paceline, (() => {
  const { element, facts, note, table, withWhiskers } = paceline;

  const titled = (title, one) => [element("h4", {}, title), table(one)];

  // Makes a table whose cells hold texts, which wrap.
  function wordTable(one) {
    const made = table(one);
    made.classList.add("words");
    return made;
  }

  const lookOf = (group) => group.imported ? "other" : "measured";

  function throughputChart(group) {
    return withWhiskers({ kind: "lines", title: `Throughput: ${group.title}`, mark: "",
      note: "", along: { label: "devices", unit: "" },
      value: { label: "throughput", unit: group.unit, from_zero: true },
      series: group.series.map(({ name, points }) => ({ name, look: lookOf(group), boxes: [],
        points: points.map((one) => ({ ...one, name })) })) });
  }

  function speedUpChart(group) {
    const series = group.series.map(({ name, points }) => ({
      name, look: lookOf(group), boxes: [],
      points: points.filter((one) => one.speed_up !== null).map((one) =>
        ({ name, along: one.along, value: one.speed_up, text: one.speed_up.toFixed(2) })),
    })).filter((one) => one.points.length);
    if (!series.length) return null;
    const most = d3.max(series.flatMap((one) => one.points), (one) => one.along);
    series.push({ name: "ideal", look: "reference", boxes: [],
      points: [{ along: 1, value: 1 }, { along: most, value: most }] });
    return { kind: "lines", title: `Speed-up: ${group.title}`, mark: "", series,
      note: "Against one device of the same column. The dashed line is ideal.",
      along: { label: "devices", unit: "", from_zero: true },
      value: { label: "speed-up", unit: "", from_zero: true } };
  }

  // With a single number of devices a chart would show no more than the table.
  const chartsOf = (group) => group.rows > 1 && group.series.length
    ? [throughputChart(group), speedUpChart(group)].filter(Boolean) : [];

  function leftOut({ left_out: columns }) {
    const words = columns.map(({ column, why }) => `${column} (${why})`).join("; ");
    return note(words ? `Left out of the charts: ${words}.` : "");
  }

  function resultSection(group) {
    return { title: group.title, note: "", inner: true, charts: chartsOf(group),
      head: [
        ...titled(`Throughput, ${group.unit}`, group.throughput),
        ...titled("Speed-up and efficiency against one device of the same column",
          group.speed_up),
        ...group.footnotes.map((text, i) => note(`(${i + 1}) ${text}`)),
      ],
      tail: [leftOut(group), facts(group.findings.map(({ column, text }) =>
        [column || "All columns", text]), "reading")] };
  }

  // Returns the sections of the report; none if there is no framework.
  function frameworkSections(report) {
    if (!report) return [];
    const pairs = (notes) => notes.map(({ term, text }) => [term, text]);
    return [
      { title: "Frameworks side by side", note: `Period: ${report.period}.`, charts: [],
        head: [wordTable(report.table),
          facts([...pairs(report.options), ...pairs(report.remarks)], "reading")] },
      ...report.results.map(resultSection),
    ];
  }

  return { frameworkSections };
})());
