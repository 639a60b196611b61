// SPDX-License-Identifier: Apache-2.0
// What moves on the page: charts as wide as their places, the theme, the case
// that a table's link leads to, and the records as a file.
"use strict";

(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);

  const drawAll = () => {
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      const place = figure.querySelector(".plot");
      const width = Math.floor(place.clientWidth);
      if (width > 0 && place.dataset.width !== String(width)) {
        place.dataset.width = width;
        place.replaceChildren(
          paceline.draw(charts[Number(figure.dataset.chart)], width));
      }
    }
  };
  // Says of a table that it is wider than its place, wherever bars are hidden.
  const markWide = () => {
    for (const place of document.querySelectorAll(".scroll")) {
      place.classList.toggle("wide", place.scrollWidth > place.clientWidth + 1);
    }
  };
  const fit = () => {
    drawAll();
    markWide();
  };
  fit();
  document.addEventListener("toggle", markWide, true);
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(fit);
  });

  const theme = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const current = () =>
    document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  const say = () => {
    theme.textContent = current() === "dark" ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${theme.textContent} colors`);
  };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme =
      current() === "dark" ? "light" : "dark";
    say();
  });
  dark.addEventListener("change", say);
  say();
  theme.hidden = false;

  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") {
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  open();

  const save = document.getElementById("save");
  const records = document.getElementById("records").textContent;
  if (save) {
    save.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(
        new Blob([records], { type: "application/x-ndjson" }));
      link.download = "records.jsonl";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    save.hidden = false;
  }
})();
