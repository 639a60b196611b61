// SPDX-License-Identifier: Apache-2.0
// Shows cases: the charts of each table, the cases with their runs, and
// the machines.  Estimates and intervals come with the data; here, steps are
// only sorted and counted.
"use strict";

Object.assign(paceline, (() => {
  const { counted, digits, element, facts, lines, plainTable, printable } = paceline;

  const MOST_LINES = 12; // more cannot be told apart
  const MOST_OUTSIDE = 60; // single steps drawn on each side of a box
  const MISSING = "-";

  const lookOf = (one) => !one.valid ? "invalid"
    : one.source === "measured" || one.source === "external" ? "measured" : "other";

  // Returns the name of a case for places without a column of ranks; it has the
  // number of ranks if the cases of its table differ in it.
  const nameWithoutRanks = (one) => one.label.replace(new RegExp(` ranks=${one.ranks}(?= |$)`), "");
  const nameWithRanks = (one) => !one.ranks_differ ? one.label
    : `${nameWithoutRanks(one)}, ${counted(one.ranks, "rank")}`;

  const PERCENT = { factor: 100, decimals: 1 };

  // Returns an estimate of a case in the unit of a format, with the text that
  // tables show; null if there is none.
  function estimateOf(one, stem, unit, { factor, decimals }) {
    const [value, low, high] = ["", "_low", "_high"].map((end) => one[stem + end + unit]);
    if (value === null) return null;
    const shown = (number) => (number * factor).toFixed(decimals);
    if (low === null) return { value: value * factor, text: shown(value) };
    const point = high - low <= 1e-12 * Math.abs(high); // equal except for rounding
    return { value: value * factor, low: low * factor, high: high * factor,
      within_run: one[`${stem}_interval_of`] === "these runs",
      text: shown(value) + (point ? "" : ` [${shown(low)}, ${shown(high)}]`) };
  }

  // Returns a table of the data with its cases and their runs.
  function groupOf(shown, data) {
    const { time, rate } = shown;
    const ranksOf = (row) => data.cases[row.case].configuration.ranks;
    const ranks_differ = new Set(shown.cases.map(ranksOf)).size > 1;
    return { table: shown, time, cases: shown.cases.map((row) => {
      const one = data.cases[row.case];
      const { configuration, experiment, source } = one;
      const runs = row.records.map((index) => data.runs[index]);
      return { ...row, runs, configuration, experiment, source, ranks_differ,
        ranks: ranksOf(row), strategy: printable(row.strategy), label: printable(one.case),
        baseline: one.baseline && printable(one.baseline), failed: one.step_median_s === null,
        step: estimateOf(one, "step_median", "_s", time),
        throughput: estimateOf(one, "examples_per_s", "", rate),
        efficiency: estimateOf(one, "efficiency", "", PERCENT),
        exposed: estimateOf(one, "exposed_communication", "_s", time) };
    }) };
  }

  // Returns the seconds of each step of a run; none for a failed run.
  const stepsOf = (run) => run.error !== null ? [] : run.step_ns.map((ns) => ns / 1e9);

  // Makes one series for each source of the cases, and one for its INVALID
  // cases.
  function seriesBySource(cases, key, make) {
    return d3.groups(cases, (one) => `${one.source} ${one.valid}`).map(([, members]) => ({
      name: members[0].source, look: lookOf(members[0]), points: [], boxes: [],
      [key]: members.map(make),
    }));
  }

  const point = (name, estimate, more = {}) => ({ name, ...estimate, ...more });

  const WHISKERS = {
    mixed: "A solid whisker is the 95 % interval over repeated runs; a dotted " +
      "one (*) is from the steps inside the runs only: another run may lie outside.",
    within: "A dotted whisker is the 95 % interval from the steps inside the " +
      "runs; another run may lie outside.",
    runs: "A whisker is the 95 % interval over repeated runs.",
  };

  // Explains the whiskers in the chart's note.  If there are both kinds, a star
  // marks the texts of those over steps.
  function withWhiskers(chart) {
    const sure = chart.series.flatMap((series) => series.points)
      .filter((one) => one.low !== undefined);
    const within = sure.filter((one) => one.within_run);
    if (!sure.length) return chart;
    const kind = within.length === 0 ? "runs"
      : within.length < sure.length ? "mixed" : "within";
    if (kind === "mixed") for (const one of within) one.text += "*";
    chart.note = [chart.note, WHISKERS[kind]].filter(Boolean).join(" ");
    return chart;
  }

  // Makes a chart of bars for one estimate of the cases; null if no case has
  // it.
  function bars(group, key, chart, mark = () => undefined) {
    const cases = group.cases.filter((one) => one[key]);
    if (!cases.length) return null;
    return withWhiskers({ kind: "bars", ...chart,
      series: seriesBySource(cases, "points", (one) =>
        point(nameWithRanks(one), one[key], { mark: mark(one) })) });
  }

  function throughput(group) {
    const linear = (one) => {
      const base = group.cases.find((other) => other.label === one.baseline);
      return base && base !== one && base.throughput
        ? base.throughput.value / base.ranks * one.ranks : undefined;
    };
    const marked = group.cases.some((one) => one.throughput && linear(one) !== undefined);
    return bars(group, "throughput", {
      title: "Throughput, all ranks",
      note: marked ? "The dashed mark is linear scaling: the baseline's rate " +
        "times the ranks." : "",
      value: { label: "throughput", unit: "examples/s", from_zero: true },
      mark: marked ? "linear scaling" : "",
    }, linear);
  }

  // Returns the bits per second of a link's text, "10Gbit,50us"; 0 if it has
  // none.
  function rateOf(link) {
    const [, number, unit, what] =
      /^\s*([0-9.]+)\s*([KMGT]?)(bit|B)/i.exec(link) || ["", "0", "", "bit"];
    return Number(number) * (what === "bit" ? 1 : 8) *
      1000 ** " KMGT".indexOf(unit.toUpperCase() || " ");
  }

  function efficiency(group) {
    const cases = group.cases.filter((one) => one.baseline !== one.label);
    return bars({ cases }, "efficiency", {
      title: "Scaling efficiency",
      note: "Examples per second and rank as a share of the baseline's; the " +
        "dashed mark at 100 % is linear scaling.",
      value: { label: "efficiency", unit: "%", from_zero: true },
      mark: "linear scaling",
    }, () => 100);
  }

  const exposed = (group) => bars(group, "exposed", {
    title: "Exposed communication",
    note: "Median step minus that of the same step without communication: " +
      "what hiding all of it would save. Less is better.",
    value: { label: "exposed per step", unit: group.time.unit, from_zero: true },
    mark: "",
  });

  function boxOf(one, steps, decimals) {
    const quantile = (p) => d3.quantileSorted(steps, p);
    const [low, high] = [quantile(0.05), quantile(0.95)];
    return { name: nameWithRanks(one), low, high,
      lower_quartile: quantile(0.25), median: quantile(0.5),
      upper_quartile: quantile(0.75), text: quantile(0.5).toFixed(decimals),
      outside: [...steps.slice(0, MOST_OUTSIDE).filter((step) => step < low),
        ...steps.slice(-MOST_OUTSIDE).filter((step) => step > high)] };
  }

  // Makes box plots of step times.
  function stepTimes(group) {
    const { unit, factor, decimals } = group.time;
    const cases = group.cases
      .map((one) => ({ ...one,
        steps: d3.sort(one.runs.flatMap(stepsOf)).map((step) => step * factor) }))
      .filter((one) => !one.failed && one.steps.length);
    if (!cases.length) return [];
    return [{ kind: "boxes", title: "Step times", value: { label: "step time", unit }, mark: "",
      note: "Of the slowest rank in each step. Box: the middle half, with " +
        "the median; whiskers: 5th to 95th percentile; dots: steps outside.",
      series: seriesBySource(cases, "boxes", (one) => boxOf(one, one.steps, decimals)) }];
  }

  // Cases with equal keys differ only in strategy, the link's rate and stretch.
  const linkKey = ({ source, experiment, configuration }) => JSON.stringify([source, experiment,
    { ...configuration, label: "", strategy: "", link: configuration.link.split(",")[1], stretch: 1 }]);
  const linkRate = (one) => rateOf(one.configuration.link ?? "");

  // Draws median steps by the link's rate, valid cases before INVALID ones.
  // Null if there are fewer than three rates or two strategies.
  function linkChart(cases, group) {
    const strategies = d3.groups(cases, (one) => one.configuration.strategy);
    if (strategies.length < 2 || new Set(cases.map(linkRate)).size < 3) return null;
    const names = strategies.map(([strategy, [{ configuration }]]) =>
      configuration.label || strategy);
    const apart = new Set(names).size === names.length;
    const all = [true, false].flatMap((valid) => strategies.map(([strategy, members], i) => ({
      name: printable((apart ? names[i] : strategy) + (valid ? "" : " (INVALID)")),
      look: lookOf({ ...members[0], valid }), boxes: [],
      points: d3.sort(members.filter((one) => one.valid === valid), linkRate)
        .map((one) => point(one.label, one.step, { along: linkRate(one) / 1e9 })),
    }))).filter((series) => series.points.length);
    return withWhiskers({ kind: "lines", title: "Step time by link rate", mark: "",
      note: [`Median step of the slowest rank of ${cases[0].ranks}.`,
        all.some((one) => one.look === "invalid") ? "Lines marked INVALID join cases whose " +
          "engine was slower than the link: their times are this machine's." : "",
        all.length > MOST_LINES
          ? `Of ${all.length} lines, the first ${MOST_LINES} are drawn.` : "",
      ].filter(Boolean).join(" "),
      along: { label: "link rate", unit: "Gbit/s", log: true },
      value: { label: "median step time", unit: group.time.unit },
      series: all.slice(0, MOST_LINES) });
  }

  // Makes one chart for each latency.
  const linkCharts = (group) =>
    d3.groups(group.cases.filter((one) => one.step && linkRate(one)), linkKey)
      .map(([, members]) => linkChart(members, group)).filter(Boolean);

  // Returns the sections of one table: title, note, charts, table.
  function sectionsOf(group, firstCase) {
    const { title } = group.table;
    const colon = title.indexOf(": ");
    const drawn = (charts) => charts.filter(Boolean);
    const time = drawn([...stepTimes(group), exposed(group)]);
    return [
      { title: colon < 0 ? title : title.slice(0, colon),
        note: colon < 0 ? "" : title.slice(colon + 2),
        charts: drawn([throughput(group), efficiency(group), paceline.scaling(group)]),
        table: group.table,
        links: group.cases.map((_, i) => `#case-${firstCase + i}`),
        names: group.cases.map(nameWithRanks) },
      ...(time.length
        ? [{ title: "Where the time of a step goes", charts: time, inner: true }] : []),
      ...linkCharts(group).map((chart) =>
        ({ title: "Step time against the link", inner: true, charts: [chart] })),
    ];
  }

  // These facts of a host change from moment to moment.
  const MOMENTARY = ["clock_mhz", "load_average", "cpu_pressure_percent"];
  const lasting = (host) => Object.entries(host.facts)
    .filter(([name]) => !MOMENTARY.includes(name));

  // Returns the distinct machines, and the number of each environment's.
  function machinesOf(environments) {
    const keys = environments.map((environment) => JSON.stringify({ ...environment,
      hosts: environment.hosts.map((host) => ({ ...host, facts: lasting(host) })) }));
    const distinct = [...new Set(keys)];
    return {
      numbers: keys.map((key) => distinct.indexOf(key) + 1),
      environments: distinct.map((key) => environments[keys.indexOf(key)]),
    };
  }

  const words = (name) => name.replaceAll("_", " ");
  const named = (entries) => facts(entries.map(([name, text]) => [words(name), text]));
  const versioned = (version, commit) => commit ? `${version} (${commit})` : version;

  function machine(e, i, count) {
    return element("section", { class: "machine", id: `machine-${i + 1}` },
      element("h3", {}, count === 1 ? "The machine" : `Machine ${i + 1}`),
      facts([["Paceline", versioned(e.paceline_version, e.git_hash)],
        ["build", e.build_type], ["compiler", e.compiler],
        ["PyTorch", versioned(e.torch_version, (e.torch_git || "").slice(0, 12))],
        ["CUDA", e.cuda_version], ["NCCL", e.nccl_version]]),
      e.hosts.flatMap((host) => [
        element("h4", {}, `Host ${printable(host.host)}`), named(lasting(host)),
        host.topology
          ? element("pre", { class: "topology", tabindex: 0 }, lines(host.topology)) : null,
      ]),
      ...(Object.keys(e.variables).length
        ? [element("h4", {}, "Environment variables"), named(Object.entries(e.variables))]
        : []));
  }

  function runRow(run, data, machines) {
    const hostFact = (name) => {
      const [host] = data.environments[run.environment].hosts;
      return host && name in host.facts ? printable(host.facts[name]) : MISSING;
    };
    const head = [String(run.run + 1), printable(run.started_at || MISSING)];
    if (run.error !== null) return { cells: head, span:
      `${run.not_run ? "not run" : "failed"}: ${printable(run.error)}` };
    const steps = stepsOf(run);
    const checks = Object.entries(run.verified);
    const failed = checks.find(([, holds]) => !holds);
    return [...head, String(steps.length),
      steps.length ? digits(d3.median(steps) * 1e3) : MISSING,
      failed ? `${printable(failed[0])} FAILED` : checks.length ? "yes" : MISSING,
      hostFact("load_average"), hostFact("cpu_pressure_percent"),
      String(machines.numbers[run.environment])];
  }

  function caseDetails(one, number, data, machines) {
    const configuration = Object.entries(one.configuration)
      .filter(([key, value]) => value !== null && key !== "discard")
      .map(([key, value]) =>
        [words(key), typeof value === "string" ? value : JSON.stringify(value)]);
    return element("details", {
      class: "case", id: `case-${number}`, "data-case": nameWithRanks(one) },
      element("summary", {}, `${one.label} `, element("span", { class: "of" },
        `${printable(one.configuration.model)}, ${counted(one.runs.length, "run")}, ` +
        one.source)),
      one.command
        ? element("pre", { class: "command", tabindex: 0 }, printable(one.command)) : null,
      plainTable("Runs", ["run", "started (UTC)", "steps", "median step, ms",
        "values verified", "load average", "CPU pressure, %", "machine"],
      one.runs.map((run) => runRow(run, data, machines))),
      ...(one.prediction.length
        ? [element("h4", {}, "Prediction"),
          facts(one.prediction.map(({ term, text }) => [term, text]))] : []),
      element("h4", {}, "Configuration"), facts(configuration));
  }

  // Joins the distinct texts, at most `most` of them.
  function distinct(texts, most = 3) {
    const all = [...new Set(texts.filter(Boolean))];
    const left = all.length - most;
    return all.slice(0, most).join(", ") + (left > 0 ? ` and ${left} more` : "");
  }

  function machineWords({ hosts }) {
    if (!hosts.length) return "";
    const { cpu_model: cpu, cores, gpus } = hosts[0].facts;
    const text = [cpu || "", cores ? `, ${cores} cores` : "", gpus ? `, ${gpus}` : ""].join("");
    return hosts.length === 1 ? text : `${hosts.length} hosts: ${text}`;
  }

  // Returns the facts in the page's head.
  function overview({ runs, environments }, cases) {
    const days = d3.sort(new Set(
      runs.map((run) => (run.started_at || "").slice(0, 10)).filter(Boolean)));
    return [
      ["cases", runs.length ? `${cases} in ${counted(runs.length, "run")}` : ""],
      ["origin", distinct(runs.map((run) => run.source), 5)],
      ["date", days.length > 1 ? `${days[0]} to ${days.at(-1)}` : days[0]],
      ["machine", distinct(environments.map(machineWords), 2)],
      ["PyTorch", distinct(environments.map((one) => one.torch_version))],
    ];
  }

  return {
    caseDetails, groupOf, lookOf, machine, machinesOf, nameWithoutRanks, overview, point,
    sectionsOf, withWhiskers,
  };
})());
