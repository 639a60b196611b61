// SPDX-License-Identifier: Apache-2.0
// Builds the page from its data, then draws each chart at the width of its place
// and serves the links to cases.
"use strict";

(() => {
  const { caseDetails, element, facts, figure, groupOf, machine, machinesOf, note, overview,
    sectionsOf, table, terms, trainingSection } = paceline;
  const data = JSON.parse(document.getElementById("data").textContent);
  const groups = data.tables.map((shown) => groupOf(shown, data));
  const cases = groups.flatMap((group) => group.cases);
  const charts = []; // indexed by a figure's data-chart
  const main = document.getElementById("main");

  const sectionElement = (section) => element("section",
    section.inner ? { class: "inner" } : {},
    element(section.inner ? "h3" : "h2", {}, section.title),
    note(section.note),
    section.head || [],
    section.charts.length
      ? element("div", { class: "charts" },
        section.charts.map((chart) => figure(chart, charts.push(chart) - 1)))
      : null,
    section.table ? table(section.table, section.links, section.names) : null,
    section.tail || []);

  function build() {
    document.getElementById("facts").append(...terms(overview(data, cases.length)));
    let firstCase = 1;
    for (const group of groups) {
      main.append(...sectionsOf(group, firstCase).map(sectionElement));
      firstCase += group.cases.length;
    }
    main.append(...data.training.map((group) => sectionElement(trainingSection(group))));
    if (data.notes.length) {
      main.append(element("section", {}, element("h2", {}, "How to read the tables"),
        facts(data.notes.map(({ term, text }) => [term, text]), "reading")));
    }
    if (!data.runs.length) return;
    const machines = machinesOf(data.environments);
    main.append(element("section", {}, element("h2", {}, "Behind the figures"),
      note("Every case with the command that measures it again, its configuration and its runs."),
      cases.map((one, i) => caseDetails(one, i + 1, data, machines)),
      machines.environments.map((one, i, all) => machine(one, i, all.length))));
  }
  build();

  // Lists the headings of a long page, each as a link.
  const MOST_HEADINGS = 3;
  const MOST_CASES = 12;
  function contents() {
    const headings = [...main.querySelectorAll("h2, h3")];
    if (headings.length <= MOST_HEADINGS) return;
    headings.forEach((heading, i) => { heading.id = `part-${i + 1}`; });
    const links = headings.map((heading) => element("li",
      { class: heading.tagName.toLowerCase() },
      element("a", { href: `#${heading.id}` }, heading.textContent)));
    main.before(element("nav", { "aria-label": "contents" }, element("ol", {}, links)));
  }
  contents();

  // A field that shows only the cases whose names have all of its words.
  let wanted = [];
  const isWanted = (name) => wanted.every((word) => name.toLowerCase().includes(word));
  const filtered = (chart) => {
    chart.series.forEach((series, i) => { series.style ??= i; });
    return { ...chart, series: chart.series.filter((one) => one.look === "reference" ||
      isWanted(one.name) || one.points.some(({ name }) => name && isWanted(name))) };
  };
  function filter() {
    if (cases.length <= MOST_CASES) return;
    const field = element("input", { type: "search", id: "filter",
      placeholder: "words of their names" });
    const found = element("output", { for: "filter" });
    field.addEventListener("input", () => {
      wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const all = [...document.querySelectorAll("[data-case]")];
      for (const one of all) one.hidden = !isWanted(one.dataset.case);
      const shown = all.filter((one) => one.tagName === "DETAILS" && !one.hidden).length;
      found.textContent = wanted.length ? `${shown} of ${cases.length}` : "";
      for (const place of document.querySelectorAll(".plot")) delete place.dataset.width;
      fit();
    });
    main.before(element("p", { class: "filter" },
      element("label", { for: "filter" }, "Show only the cases with "), field, found));
  }

  const drawAll = () => {
    for (const place of document.querySelectorAll("figure > .plot")) {
      const width = Math.floor(place.clientWidth);
      if (width > 0 && place.dataset.width !== String(width)) {
        place.dataset.width = width;
        const chart = charts[Number(place.parentElement.dataset.chart)];
        place.replaceChildren(paceline.draw(wanted.length ? filtered(chart) : chart, width));
      }
    }
  };
  // Marks tables that are wider than their place, for systems that hide scroll
  // bars.
  const markWide = () => {
    for (const place of document.querySelectorAll(".scroll")) {
      place.classList.toggle("wide", place.scrollWidth > place.clientWidth + 1);
    }
  };
  const fit = () => {
    drawAll();
    markWide();
  };
  filter();
  fit();
  document.addEventListener("toggle", markWide, true);
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(fit);
  });

  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") {
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  open();
})();
