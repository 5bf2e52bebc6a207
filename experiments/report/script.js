"use strict";
// Fills the page from the data that the report put into it. Nothing is fetched.
const data = JSON.parse(document.getElementById("data").textContent);
let lang = document.documentElement.lang;
const word = (key) => words[lang][key] ?? key;
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// --- claims
const verdicts = ["confirmed", "refuted", "partly", "no source found", "not run here", "cited"];
const chosen = new Set(verdicts);
let query = "";

const textOf = (claim) => (lang === "zh" && claim.claim_zh) || claim.claim;

function partItem(part) {
  const theory = part.theory === null ? "" : `; ${word("theory")} ${shortNumber(part.theory)}`;
  return make("li", {}, make("strong", { textContent: part.says }),
    ` ${word(part.holds ? "holds" : "fails")}: ${word("measured")} ${part.measured}; ` +
    `${word("wanted")} ${part.wanted} (${part.why})${theory}`);
}

function claimRow(claim) {
  const text = make("td");
  const inner = claim.parts.length
    ? make("ul", { className: "parts" }, ...claim.parts.map(partItem))
    : make("p", { className: "parts", textContent: claim.reason });
  text.append(make("details", {}, make("summary", { textContent: textOf(claim) }), inner));
  const verdict = make("td", { className: "verdict", textContent: word(claim.verdict) });
  verdict.dataset.verdict = claim.verdict;
  return make("tr", {}, make("td", { textContent: claim.id }), make("td", { textContent: claim.source }), text, verdict);
}

function showClaims() {
  const fits = (claim) => chosen.has(claim.verdict) &&
    `${claim.id} ${claim.claim} ${claim.claim_zh ?? ""} ${claim.reason}`.toLowerCase().includes(query);
  const rows = data.claims.filter(fits);
  document.querySelector("#claims tbody").replaceChildren(...rows.map(claimRow));
  document.getElementById("shown").textContent = word("shown")(rows.length, data.claims.length);
}

function showFilters() {
  const search = make("input", { type: "search", value: query, placeholder: word("search") });
  search.setAttribute("aria-label", word("search"));
  search.oninput = () => { query = search.value.toLowerCase(); showClaims(); };
  const buttons = verdicts.map((verdict) => {
    const count = data.claims.filter((claim) => claim.verdict === verdict).length;
    const button = make("button", { type: "button", className: "verdict", textContent: `${word(verdict)} ${count}` });
    button.dataset.verdict = verdict;
    button.setAttribute("aria-pressed", chosen.has(verdict));
    button.onclick = () => {
      if (!chosen.delete(verdict)) chosen.add(verdict);
      button.setAttribute("aria-pressed", chosen.has(verdict));
      showClaims();
    };
    return button;
  });
  const form = document.getElementById("filters");
  form.onsubmit = (event) => event.preventDefault();
  form.replaceChildren(search, ...buttons);
}

// --- plots
const shortNumber = (v) => (typeof v !== "number" ? String(v) : v === 0 || (Math.abs(v) >= 1e-3 && Math.abs(v) < 1e5)
  ? String(+v.toPrecision(4)) : v.toExponential(2));
const finite = (v) => typeof v === "number" && Number.isFinite(v);

// All curves on one x axis: rows of [x, [low, y, high], …], null where a curve has no point. On a logarithmic
// axis there is no zero.
function rowsOf(plot) {
  const rows = new Map();
  plot.curves.forEach((curve, i) => {
    for (const [x, low, y, high] of curve.points) {
      if (!finite(y) || (plot.log && y <= 0)) continue;
      if (!rows.has(x)) rows.set(x, [x, ...plot.curves.map(() => null)]);
      const clamp = (v) => (finite(v) && !(plot.log && v <= 0) ? v : y);
      rows.get(x)[i + 1] = [clamp(low), y, clamp(high)];
    }
  });
  return [...rows.values()].sort((a, b) => a[0] - b[0]);
}

const drawn = [];
function drawPlot(figure, plot) {
  const rows = rowsOf(plot);
  if (!rows.length) return;
  const chart = make("div", { className: "chart" }), legend = make("div", { className: "legend" });
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", plot.title);
  figure.append(chart, legend);
  const label = (curve) => (curve.role === "measured" ? curve.label : word(curve.role) +
    (curve.label === curve.role ? "" : " " + curve.label));
  const several = plot.curves.filter((curve) => curve.role === "measured").length > 1;
  const palette = ["#0b62c4", "#c2410c", "#15803d", "#7c3aed", "#be185d", "#0e7490", "#a16207", "#4d7c0f"];
  const labels = plot.curves.map(label);
  const series = {};
  plot.curves.forEach((curve, i) => {
    series[labels[i]] = {
      color: several && curve.role === "measured" ? palette[i % palette.length] : colour(curve.role),
      strokeWidth: curve.role === "printed" ? 0 : 2,
      strokePattern: curve.role === "theory" ? Dygraph.DASHED_LINE : null,
      drawPoints: curve.role !== "theory" && rows.length <= 40,
      pointSize: curve.role === "printed" ? 4 : 2,
    };
  });
  drawn.push(new Dygraph(chart, rows, {
    labels: [plot.x, ...labels], series, customBars: true, logscale: plot.log, xlabel: plot.x, ylabel: plot.y,
    legend: "always", labelsDiv: legend, connectSeparatedPoints: true, gridLineColor: colour("line"),
    axisLineColor: colour("faint"), axisLabelFontSize: 12, xRangePad: 8, highlightCircleSize: 4,
    axes: { y: { valueFormatter: shortNumber, axisLabelFormatter: shortNumber, axisLabelWidth: 64 },
            x: { valueFormatter: shortNumber, axisLabelFormatter: shortNumber } },
  }));
}

// --- heatmaps
// Dark blue over green to yellow, evenly lighter (stops of viridis).
const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function shade(share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return `rgb(${stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * (at - i))).join(" ")})`;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function drawHeatmap(figure, map) {
  const scale = (v) => (map.log ? Math.log10(v) : v);
  const usable = (v) => finite(v) && !(map.log && v <= 0);
  const all = map.values.flat().filter(usable);
  if (!all.length) return;
  const low = Math.min(...all), high = Math.max(...all), length = scale(high) - scale(low) || 1;
  const left = 230, height = 14, width = 600 / map.columns.length, bottom = map.rows.length * height;
  const root = svg("svg", { class: "heat", viewBox: `0 0 ${left + 610} ${bottom + 52}`, role: "img",
    "aria-label": map.title, "font-size": 11, fill: "currentColor" });
  map.rows.forEach((name, r) => {
    root.append(svg("text", { x: left - 6, y: r * height + 11, "text-anchor": "end" }, name));
    map.columns.forEach((column, c) => {
      const value = map.values[r][c];
      if (!usable(value)) return;
      root.append(svg("rect", { x: left + c * width, y: r * height, width: width + 0.3, height: height - 1,
        fill: shade((scale(value) - scale(low)) / length) },
        svg("title", {}, `${name}, ${map.x} ${column}: ${shortNumber(value)}`)));
    });
  });
  const last = map.columns.length - 1;
  for (const c of new Set([0, Math.floor(last / 2), last]))
    root.append(svg("text", { x: left + (c + 0.5) * width, y: bottom + 13, "text-anchor": "middle" }, map.columns[c]));
  root.append(svg("text", { x: left - 6, y: bottom + 13, "text-anchor": "end" }, map.x));
  for (let i = 0; i < 60; ++i)
    root.append(svg("rect", { x: left + i * 5, y: bottom + 24, width: 5.3, height: 9, fill: shade(i / 59) }));
  root.append(svg("text", { x: left, y: bottom + 47 }, shortNumber(low)),
    svg("text", { x: left + 300, y: bottom + 47, "text-anchor": "end" }, shortNumber(high)),
    svg("text", { x: left - 6, y: bottom + 33, "text-anchor": "end" }, map.value));
  figure.append(root);
}

function showPlots() {
  while (drawn.length) drawn.pop().destroy();
  const section = document.getElementById("plots");
  section.querySelectorAll("h3, .plots").forEach((old) => old.remove());
  for (const run of data.runs) {
    if (!run.plots.length && !run.heatmaps.length) continue;
    section.hidden = false;
    const grid = make("div", { className: "plots" });
    section.append(make("h3", { textContent: run.name }), grid);
    for (const plot of run.plots) {
      const figure = make("figure", {}, make("figcaption", { textContent: plot.title }));
      grid.append(figure);
      drawPlot(figure, plot);
    }
    for (const map of run.heatmaps) {
      const figure = make("figure", {}, make("figcaption", { textContent: map.title }));
      grid.append(figure);
      drawHeatmap(figure, map);
    }
  }
}

// --- runs
function showRuns() {
  const section = document.getElementById("runs");
  section.querySelectorAll("details").forEach((old) => old.remove());
  for (const run of data.runs) {
    const met = run.expectations.filter((e) => e.ok).length;
    const line = `${run.name}: ${run.program}; ${met}/${run.expectations.length} ${word("expectations")}`;
    const parts = ["configuration", "environment", "timing"].map((name) =>
      make("div", {}, make("h3", { textContent: word(name) }),
        make("pre", { textContent: JSON.stringify(run[name], null, 1) })));
    section.append(make("details", {}, make("summary", { textContent: line }), ...parts));
  }
}

function show() {
  document.documentElement.lang = lang;
  document.querySelectorAll("[data-word]").forEach((e) => { e.textContent = word(e.dataset.word); });
  document.querySelectorAll("[data-lang]").forEach((b) => b.setAttribute("aria-pressed", b.dataset.lang === lang));
  if (data.claims.length) {
    document.getElementById("claims").hidden = false;
    showFilters();
    showClaims();
  }
  showPlots();
  showRuns();
}
document.querySelectorAll("[data-lang]").forEach((button) => {
  button.onclick = () => { lang = button.dataset.lang; show(); };
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
show();
