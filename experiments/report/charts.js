"use strict";
// Charts and heatmaps of the runs, and charts that lay several runs over each other.
const shortNumber = (v) => (typeof v !== "number" ? String(v) : v === 0 || (Math.abs(v) >= 1e-3 && Math.abs(v) < 1e5)
  ? String(+v.toPrecision(4)) : v.toExponential(2));
const finite = (v) => typeof v === "number" && Number.isFinite(v);

// All curves on one x axis: rows of [x, [low, y, high], …], null where a curve has no point. On a logarithmic
// axis there is no zero. Where x counts things, curves stand beside each other.
function rowsOf(plot) {
  const rows = new Map();
  const measured = plot.curves.filter((curve) => curve.role === "measured");
  plot.curves.forEach((curve, i) => {
    const apart = plot.ticks.length && curve.role === "measured"
      ? 0.14 * (measured.indexOf(curve) - (measured.length - 1) / 2) : 0;
    for (const [at, low, y, high] of curve.points) {
      if (!finite(y) || (plot.log && y <= 0)) continue;
      const x = at + apart;
      if (!rows.has(x)) rows.set(x, [x, ...plot.curves.map(() => null)]);
      const clamp = (v) => (finite(v) && !(plot.log && v <= 0) ? v : y);
      rows.get(x)[i + 1] = [clamp(low), y, clamp(high)];
    }
  });
  return [...rows.values()].sort((a, b) => a[0] - b[0]);
}

// A dot with its range, for things without an order.
function drawRanges({ points, drawingContext: pen, plotArea: area, color }) {
  pen.strokeStyle = pen.fillStyle = color;
  pen.lineWidth = 2;
  for (const point of points) {
    if (!finite(point.canvasy)) continue;
    pen.beginPath();
    pen.moveTo(point.canvasx, area.y + area.h * point.y_bottom);
    pen.lineTo(point.canvasx, area.y + area.h * point.y_top);
    pen.stroke();
    pen.beginPath();
    pen.arc(point.canvasx, point.canvasy, 4, 0, 2 * Math.PI);
    pen.fill();
  }
}

const labelOf = (curve) => (curve.role === "measured" ? curve.label
  : word(curve.role) + (curve.label === curve.role ? "" : " " + curve.label));

// How a curve looks. One alone has the colour of its role, several have their own; a curve may bring its own
// number.
function styleOf(plot, curve, i, points) {
  const several = plot.curves.filter((other) => other.role === curve.role).length > 1;
  const number = curve.colour ?? (several ? i : null);
  return {
    color: number === null ? colour(curve.role) : colour("c" + number % 8),
    strokeWidth: curve.role === "printed" ? 0 : 2,
    strokePattern: curve.role === "theory" ? Dygraph.DASHED_LINE : null,
    drawPoints: curve.role !== "theory" && points <= 40,
    pointSize: curve.role === "printed" ? 4 : 2,
    ...(plot.ticks.length && curve.role === "measured" ? { plotter: drawRanges } : {}),
  };
}

// The x axis, where names stand in place of numbers.
function namedAxis(ticks) {
  if (!ticks.length) return { options: {}, axis: { valueFormatter: shortNumber, axisLabelFormatter: shortNumber } };
  return {
    options: { dateWindow: [-0.5, ticks.length - 0.5], xAxisHeight: 44 },
    axis: { valueFormatter: (x) => ticks[Math.round(x)] ?? "", axisLabelWidth: 74, drawGrid: false,
            ticker: () => ticks.map((name, i) => ({ v: i, label: name.replace(".", ". ") })) },
  };
}

let drawn = [];
function drawPlot(figure, plot) {
  const rows = rowsOf(plot);
  if (!rows.length) return null;
  const chart = make("div", { className: "chart" }), legend = make("div", { className: "legend" });
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", plot.title);
  figure.append(chart, legend);
  const labels = plot.curves.map(labelOf);
  const series = {};
  plot.curves.forEach((curve, i) => { series[labels[i]] = styleOf(plot, curve, i, rows.length); });
  const { options, axis } = namedAxis(plot.ticks);
  const graph = new Dygraph(chart, rows, {
    labels: [plot.x, ...labels], series, customBars: true, logscale: plot.log, xlabel: plot.x, ylabel: plot.y,
    legend: "always", labelsDiv: legend, connectSeparatedPoints: true, gridLineColor: colour("line"),
    axisLineColor: colour("faint"), axisLabelFontSize: 12, xRangePad: 8, highlightCircleSize: 4, ...options,
    axes: { y: { valueFormatter: shortNumber, axisLabelFormatter: shortNumber, axisLabelWidth: 64 }, x: axis },
  });
  drawn.push(graph);
  return graph;
}

// On paper two charts stand beside each other, whatever the window's width. They are made smaller as they are: a
// canvas drawn anew just before printing stays empty.
function fitPaper(paper) {
  document.body.classList.toggle("paper", paper);
  for (const graph of drawn) graph.graphDiv.parentElement.style.zoom = paper ? 300 / graph.size().width : "";
}
addEventListener("beforeprint", () => fitPaper(true));
addEventListener("afterprint", () => fitPaper(false));

// --- several runs in one chart
// The plots of one study that have the same key, where two runs or more bring one: [[{run, plot}, …], …].
function comparable() {
  const groups = new Map();
  for (const run of data.runs)
    for (const plot of run.plots) {
      const key = `${run.program} ${plot.key}`;
      groups.set(key, [...(groups.get(key) ?? []), { run, plot }]);
    }
  return [...groups.values()].filter((group) => group.length > 1);
}

// One plot of them all, curves named by run, as report/overlay.cpp makes it.
function overlaid(group) {
  const first = group[0].plot;
  let colours = 0;
  const curves = group.flatMap(({ run, plot }) => {
    const single = plot.curves.filter((curve) => curve.role === "measured").length === 1;
    const own = plot.curves.filter((curve) => curve.role !== "printed").map((curve, i) => ({
      ...curve,
      run: run.name,
      label: single && (curve.role === "measured" || curve.label === curve.role) ? run.name
        : `${run.name}: ${curve.label}`,
      colour: colours + (single ? 0 : i),
    }));
    colours += single ? 1 : own.length;
    return own;
  });
  return { ...first, title: `${group[0].run.program}: ${first.y}`, curves };
}

// Makes its figure, and returns what draws it.
function showComparison(plots, group) {
  const plot = overlaid(group);
  const figure = make("figure", { className: "comparison" }, make("figcaption", { textContent: plot.title }));
  const choice = make("div", { className: "choice" });
  choice.setAttribute("role", "group");
  choice.setAttribute("aria-label", word("compared"));
  figure.append(choice);
  plots.append(figure);
  let graph;
  for (const { run } of group) {
    const button = make("button", { type: "button", textContent: run.name });
    button.setAttribute("aria-pressed", true);
    button.onclick = () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", shown);
      plot.curves.forEach((curve, i) => { if (curve.run === run.name) graph.setVisibility(i, shown); });
    };
    choice.append(button);
  }
  return () => { graph = drawPlot(figure, plot); };
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

// --- charts and claims
const chartId = (run, plot) => `chart ${run.name} ${plot.key}`.replace(/[^\w.-]+/g, "-");
const bears = (run, plot, part) => part.run === run.name &&
  (!plot.figures.length || plot.figures.some((piece) => part.key.includes(piece)));

// The charts of the figures that a claim is judged by; of a run without such a chart, all its charts.
function chartsOf(claim) {
  return data.runs.flatMap((run) => {
    if (!claim.parts.some((part) => part.run === run.name)) return [];
    const fitting = run.plots.filter((plot) => claim.parts.some((part) => bears(run, plot, part)));
    return (fitting.length ? fitting : run.plots).map((plot) => ({ run, plot }));
  });
}

// Links in a row, after a word; null where there are none.
function links(key, items) {
  if (!items.length) return null;
  const line = make("p", { className: "links" }, word(key) + " ");
  items.forEach((item, i) => line.append(i ? ", " : "", item));
  return line;
}

function claimLinks(run, plot) {
  return links("bears", data.claims.filter((claim) => claim.parts.some((part) => bears(run, plot, part)))
    .map((claim) => {
      const link = make("a", { href: "#claim-" + claim.id, textContent: claim.id, title: textOf(claim) });
      link.onclick = () => openClaim(claim.id);
      return link;
    }));
}

function showPlots() {
  while (drawn.length) drawn.pop().destroy();
  const section = document.getElementById("plots");
  section.querySelectorAll("h3, .plots").forEach((old) => old.remove());
  const grid = (title) => {
    const plots = make("div", { className: "plots" });
    section.hidden = false;
    section.append(make("h3", { textContent: title }), plots);
    return plots;
  };
  const draw = [];  // once all figures have their places, which set their widths
  const groups = comparable();
  if (groups.length) {
    const plots = grid(word("comparison"));
    for (const group of groups) draw.push(showComparison(plots, group));
  }
  for (const run of data.runs) {
    if (!run.plots.length && !run.heatmaps.length) continue;
    const plots = grid(run.name);
    for (const plot of run.plots) {
      const figure = make("figure", { id: chartId(run, plot) }, make("figcaption", { textContent: plot.title }));
      const claims = claimLinks(run, plot);
      if (claims) figure.append(claims);
      plots.append(figure);
      draw.push(() => drawPlot(figure, plot));
    }
    for (const map of run.heatmaps) {
      const figure = make("figure", {}, make("figcaption", { textContent: map.title }));
      plots.append(figure);
      drawHeatmap(figure, map);
    }
  }
  draw.forEach((one) => one());
}
