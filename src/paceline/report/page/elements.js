// SPDX-License-Identifier: Apache-2.0
// Makes tables, lists of facts and paragraphs as elements.  Texts become text
// nodes, so that no text of a record becomes markup.
"use strict";

Object.assign(paceline, (() => {
  // Matches control characters, and characters that turn the direction of text.
  const UNSEEN =
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

  const printable = (text) =>
    String(text).replace(/[\n\r\t]/g, " ").replace(UNSEEN, "?");

  // Makes each line of a text printable.
  const lines = (text) => text.split("\n").map(printable).join("\n");

  // Makes an element; null and empty children are left out.
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      made.setAttribute(key, value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== ""));
    return made;
  }

  // Shows a number with four significant digits.
  const digits = (value) => String(Number(value.toPrecision(4)));

  // Returns a number with its noun: "3 runs".
  const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  const heading = (axis) => axis.unit ? `${axis.label}, ${axis.unit}` : axis.label;

  // Splits "90.9 [85.0, 95.4]", with the interval in a separate element.
  function cellParts(cell) {
    const found = /^(.*) (\[[^[]*\]\*?)$/.exec(cell);
    return found
      ? [`${found[1]} `, element("span", { class: "interval" }, found[2])]
      : [cell];
  }

  // Makes a row with one heading above adjacent columns that share it.
  function headingRow(columns) {
    const row = element("tr", { class: "groups" });
    for (let begin = 0, end = 0; begin < columns.length; begin = end) {
      const text = columns[begin].heading;
      while (end < columns.length && columns[end].heading === text) ++end;
      const span = end - begin > 1 ? { colspan: end - begin } : {};
      row.append(text
        ? element("th", { scope: "colgroup", ...span }, text)
        : element("td", span));
    }
    return row;
  }

  // Allows line breaks in a name after + : and ,
  const breakable = (name) => name.split(/(?<=[+:,])/)
    .flatMap((piece, i) => i === 0 ? [piece] : [element("wbr"), piece]);

  function bodyRow(row, columns, link, name) {
    const [first, ...rest] = row.cells;
    return element("tr", name ? { "data-case": name } : {},
      element("th", { scope: "row" },
        link ? element("a", { href: link }, breakable(first)) : breakable(first)),
      rest.map((cell) => element("td", {}, cellParts(cell))),
      row.span
        ? element("td", { class: "sentence", colspan: columns.length - row.cells.length },
          row.span)
        : null);
  }

  // Makes a table of report/table.h.  `links[i]` is the link target of row i,
  // `names[i]` the name of its case.
  function table({ title, columns, rows }, links = [], names = []) {
    const grouped = columns.some((column) => column.heading);
    return element("div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
      element("table", {},
        element("caption", {}, title),
        element("thead", {},
          grouped ? headingRow(columns) : null,
          element("tr", {},
            columns.map((column) => element("th", { scope: "col" }, column.header)))),
        element("tbody", {},
          rows.map((row, i) => bodyRow(row, columns, links[i], names[i])))));
  }

  // Makes a table whose columns have no headings that group them.
  const plainTable = (title, headers, rows) => table({
    title,
    columns: headers.map((header) => ({ heading: "", header })),
    rows: rows.map((row) => Array.isArray(row) ? { cells: row, span: "" } : row),
  });

  // Makes entries of a <dl> from [term, text] pairs; empty texts are left out.
  const terms = (pairs) => pairs
    .filter(([, text]) => text !== null && text !== undefined && text !== "")
    .map(([term, text]) => element("div", {},
      element("dt", {}, printable(term)), element("dd", {}, printable(text))));

  const facts = (pairs, name = "facts") => element("dl", { class: name }, terms(pairs));

  const note = (text) => text ? element("p", { class: "note" }, text) : null;

  // Shows the points of a chart of lines as a table.
  function numbers(spec) {
    const headers = ["series", heading(spec.along), heading(spec.value)];
    const rows = spec.series.flatMap((series) => series.points.map((point) =>
      [series.name, digits(point.along), point.text || digits(point.value)]));
    return element("details", { class: "numbers" },
      element("summary", {}, "Numbers"), plainTable(spec.title, headers, rows));
  }

  // Makes the element for chart number `index`; page.js draws all but rows at their width.
  const figure = (spec, index) => element("figure", { "data-chart": index },
    element("figcaption", {}, spec.title), note(spec.note),
    paceline.isRows(spec) ? paceline.rows(spec)
      : [element("div", { class: "plot" }), numbers(spec)]);

  return {
    printable, lines, element, breakable, digits, counted, table, plainTable, terms, facts, note, figure,
  };
})());
