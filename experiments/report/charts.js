"use strict";
// The charts, as SVG in the page: curves, and dots for named things. Colours come from the style sheet, so that a
// change of theme needs no new drawing. A chart is a function of its width; `placed` draws it again when that changes.

// A holder that draws itself once it is seen, and anew when its width changes.
const watcher = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    const width = Math.round(contentRect.width);
    if (width > 0 && width !== target.drawnWidth) target.redraw(width);
  }
});
function placed(holder, draw) {
  holder.redraw = (width) => {
    holder.drawnWidth = width;
    holder.replaceChildren(draw(width));
  };
  watcher.observe(holder);
  return holder;
}

// --- axes
function axes(root, x, y, box, names, xTicks) {
  for (const v of y.ticks(5)) {
    root.append(svg("path", { class: "grid", d: `M${box.left} ${y(v)}H${box.right}` }),
      svg("text", { class: "tick", x: box.left - 7, y: y(v) + 4, "text-anchor": "end" }, tickText(v)));
  }
  for (const { at, text, slanted } of xTicks) {
    const place = { class: "tick", x: x(at), y: box.bottom + 17, "text-anchor": slanted ? "end" : "middle" };
    if (slanted) place.transform = `rotate(-35 ${x(at)} ${box.bottom + 12})`;
    root.append(svg("text", place, text));
  }
  const middle = (box.left + box.right) / 2;
  root.append(svg("text", { class: "axis", x: middle, y: box.height - 5, "text-anchor": "middle" }, names.x),
    svg("text", { class: "axis", x: 4, y: 13 }, names.y));
}

// Labels at the right ends of curves, moved apart where they would touch: [{y, text, style}] from top to bottom.
function endLabels(root, labels, x, top, bottom) {
  labels.sort((a, b) => a.y - b.y);
  const height = Math.min(15, (bottom - top) / Math.max(labels.length, 1));
  labels.forEach((label, i) => { label.at = Math.max(label.y, i ? labels[i - 1].at + height : top); });
  for (let i = labels.length - 1, limit = bottom; i >= 0; --i) {
    labels[i].at = Math.min(labels[i].at, limit);
    limit = labels[i].at - height;
  }
  for (const { y, at, from, text, style } of labels) {
    root.append(svg("path", { class: "leader", style, d: `M${from + 3} ${y}L${x - 3} ${at}` }),
      svg("text", { class: "name", style, x, y: at + 4 }, text));
  }
}

// --- curves. A plot as it stands in summary.json: {title, x, y, log, ticks, curves: [{label, role, points}]}.
const usable = (v, log) => finite(v) && !(log && v <= 0);
const labelOf = (curve) => phrase(curve.label);

// What is drawn: per curve its points [x, low, y, high], its colour, and whether a line joins them.
function curvesOf(plot) {
  const measured = plot.curves.filter((curve) => curve.role === "measured");
  return plot.curves.map((curve) => {
    const i = measured.indexOf(curve), number = curve.colour ?? (measured.length > 1 ? i : null);
    const apart = plot.ticks.length && i >= 0 ? 0.12 * (i - (measured.length - 1) / 2) : 0;
    const points = curve.points.filter((point) => usable(point[2], plot.log)).map(([x, low, y, high]) =>
      [x + apart, usable(low, plot.log) ? low : y, y, usable(high, plot.log) ? high : y]);
    const own = curve.role !== "measured" ? curve.role : number === null ? "measured" : `c${number % 12}`;
    return { ...curve, name: labelOf(curve), points, style: `--c: var(--${own})`, apart, joined: curve.role !== "printed" &&
      !(plot.ticks.length && curve.role === "measured"), band: points.some((p) => p[1] !== p[3]) };
  }).filter((curve) => curve.points.length && !curve.hidden);
}

function drawCurve(root, curve, x, y) {
  const { points, style, band } = curve;
  const line = (of, value) => of.map((p) => `${x(p[0]).toFixed(1)} ${y(p[value]).toFixed(1)}`).join("L");
  if (curve.joined) {
    if (band)
      root.append(svg("path", { class: "band", style, d: `M${line(points, 3)}L${line([...points].reverse(), 1)}z` }));
    root.append(svg("path", { class: `curve ${curve.role}`, style, d: `M${line(points, 2)}` }));
  }
  if (curve.role === "printed") for (const p of points) root.append(diamond(x(p[0]), y(p[2])));
  if (curve.role === "measured" && (points.length <= 12 || !curve.joined))
    for (const p of points) {
      if (!curve.joined && band) root.append(svg("path", { class: "range", style, d: `M${x(p[0])} ${y(p[1])}V${y(p[3])}` }));
      root.append(dot(x(p[0]), y(p[2]), curve.joined ? 3 : 4, style));
    }
}

// The x axis' ticks: names where x counts things, else round values.
function xTicks(plot, x, room) {
  if (plot.ticks.length) {
    const slanted = Math.max(...plot.ticks.map(textWidth)) > room / plot.ticks.length - 6;
    return plot.ticks.map((text, at) => ({ at, text, slanted }));
  }
  const whole = plot.curves.every((curve) => curve.points.every((p) => Number.isInteger(p[0])));
  if (whole && x.high - x.low <= 16)
    return Array.from({ length: x.high - x.low + 1 }, (_, i) => ({ at: x.low + i, text: String(x.low + i) }));
  return x.ticks(room < 400 ? 4 : 7).map((at) => ({ at, text: tickText(at) }));
}

const picture = (kind, width, height, label) =>
  svg("svg", { class: kind, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });

// Returns the SVG; `options`: {height, labelled: the values of printed points stand beside them}.
function lineChart(plot, width, options = {}) {
  const curves = curvesOf(plot), labelled = options.labelled && width > 520;
  const nameRoom = Math.max(...curves.map((curve) => textWidth(curve.name))) + 22;
  const beside = nameRoom < width * 0.42;  // else the names stand below, in a line
  const right = width - (beside ? nameRoom : 14);
  const all = curves.flatMap((curve) => curve.points);
  const values = all.flatMap((p) => [p[1], p[2], p[3]]), places = all.map((p) => p[0]);
  let low = Math.min(...values), high = Math.max(...values);
  const pad = plot.log ? (high / low) ** 0.06 : (high - low) * 0.06;
  [low, high] = plot.log ? [low / pad, high * pad] : [low - pad, high + pad];
  const left = 12 + Math.max(...scale(low, high, 0, 1, plot.log).ticks(5).map((v) => textWidth(tickText(v))), 20);
  const slant = plot.ticks.length ? xTicks(plot, null, right - left).some((tick) => tick.slanted) : false;
  const legend = beside ? [] : namesBelow(curves, width);
  const drawn = (options.height ?? 300) + (slant ? 45 : 0), height = drawn + legend.length * 18;
  const box = { left, right, top: 26, bottom: drawn - 40 - (slant ? 45 : 0), height: drawn };
  const [from, to] = plot.ticks.length ? [-0.5, plot.ticks.length - 0.5] : [Math.min(...places), Math.max(...places)];
  const inset = plot.ticks.length ? 0 : labelled ? 24 : 10;
  const x = scale(from, to, left + inset, right - inset, false), y = scale(low, high, box.bottom, box.top, plot.log);
  const root = picture("chart", width, height, described(plot, curves));
  axes(root, x, y, box, { x: phrase(plot.x), y: phrase(plot.y) }, xTicks(plot, x, right - left));
  const order = { measured: 0, theory: 1, printed: 2 };
  for (const curve of [...curves].sort((a, b) => order[a.role] - order[b.role])) drawCurve(root, curve, x, y);
  // Printed values stand at their points and, where there is room, the name at the first.
  const valued = curves.filter((curve) => labelled && curve.role === "printed");
  const own = (curve) => width > 800 && valued.includes(curve);
  for (const curve of valued)
    curve.points.forEach((p, i) => {
      const first = i === 0 && own(curve), [right, down] = first ? [10, 4] : [0, -11];
      root.append(svg("text", { class: "name", style: curve.style, x: x(p[0]) + right, y: y(p[2]) + down,
        "text-anchor": first ? "start" : "middle" }, plain(p[2]) + (first ? ` ${curve.name}` : "")));
    });
  if (beside)
    endLabels(root, curves.filter((curve) => !own(curve)).map((curve) => {
      const end = curve.points.at(-1);
      return { from: x(end[0]) + (curve.role === "printed" ? 4 : 0), y: y(end[2]), text: curve.name, style: curve.style };
    }), right + 12, box.top, box.bottom);
  legend.forEach((line, i) => line.forEach(({ at, curve: { name, style } }) =>
    root.append(svg("text", { class: "name", style, x: at, y: box.height + 12 + i * 18 }, "● " + name))));
  return reading(root, plot, curves, x, box);
}

// Where names do not fit beside the curves: lines of them below.
function namesBelow(curves, width) {
  const lines = [[]];
  let at = 4;
  for (const curve of curves) {
    const room = textWidth(curve.name) + 32;
    if (at > 4 && at + room > width) lines.push([]), at = 4;
    lines.at(-1).push({ at, curve });
    at += room;
  }
  return lines;
}

function described(plot, curves) {
  const ends = curves.slice(0, 6).map(({ name, points }) => `${name}: ${number(points[0][2])}` +
    (points.length > 1 ? ` … ${number(points.at(-1)[2])}` : ""));
  return `${phrase(plot.title)}. ${phrase(plot.x)}, ${phrase(plot.y)}. ${ends.join("; ")}`;
}

const placeOf = (curve, p) => +(p[0] - curve.apart).toPrecision(9);  // without the step beside its neighbours
const pointText = (p) => number(p[2]) + (p[1] !== p[3] ? ` ${interval([p[1], p[3]])}` : "");

// The values at one x, below the chart: under the pointer, or by arrow keys.
function reading(root, plot, curves, x, box) {
  const all = curves.flatMap((curve) => curve.points.map((p) => placeOf(curve, p)));
  const places = [...new Set(all)].sort((a, b) => a - b);
  const line = svg("path", { class: "rule", d: "" }), text = textIn("p", " ", "reading");
  text.setAttribute("aria-live", "polite");
  root.append(line);
  const holder = make("div", { className: "readable", tabIndex: 0 }, root, text);
  holder.setAttribute("role", "group");
  holder.setAttribute("aria-label", `${phrase(plot.title)}: ${word("keys")}`);
  let now = -1;
  const read = (i) => {
    now = Math.min(Math.max(i, 0), places.length - 1);
    const at = places[now];
    line.setAttribute("d", `M${x(at)} ${box.top}V${box.bottom}`);
    const said = curves.flatMap((curve) => curve.points.filter((p) => placeOf(curve, p) === at).map((p) => {
      const name = make("b", { textContent: curve.name + " " });
      name.style = curve.style;
      return make("span", {}, name, pointText(p));
    }));
    text.replaceChildren(textIn("span", plot.ticks.length ? plot.ticks[at] : `${phrase(plot.x)} ${number(at)}`), ...said);
  };
  holder.onpointermove = (event) => {
    const view = root.getBoundingClientRect();
    const at = (event.clientX - view.left) / view.width * root.viewBox.baseVal.width;
    read(places.reduce((best, v, i) => (Math.abs(x(v) - at) < Math.abs(x(places[best]) - at) ? i : best), 0));
  };
  holder.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    read(now + step);
  };
  return holder;
}

// The same values for those who cannot see them, made when it is opened.
function tableView(columns, rowsOf) {
  const details = make("details", { className: "values" }, make("summary", { textContent: word("table") }));
  details.ontoggle = () => {
    if (details.querySelector("table")) return;
    const cells = (row, tag) => make("tr", {}, ...row.map((text) => make(tag, { textContent: text })));
    details.append(make("div", { className: "wide" }, make("table", {}, make("thead", {}, cells(columns, "th")),
      make("tbody", {}, ...rowsOf().map((row) => cells(row, "td"))))));
  };
  return details;
}

function plotFigure(plot, options = {}) {
  const curves = () => curvesOf(plot);
  if (!curves().length) return null;
  const holder = placed(make("div", { className: "drawing" }), (width) => lineChart(plot, width, options));
  const table = tableView([phrase(plot.x), ...curves().map((curve) => curve.name)], () => {
    const rows = new Map();
    curves().forEach((curve, i) => curve.points.forEach((p) => {
      const at = placeOf(curve, p);
      if (!rows.has(at)) rows.set(at, [plot.ticks.length ? plot.ticks[at] : number(at), ...curves().map(() => "")]);
      rows.get(at)[i + 1] = pointText(p);
    }));
    return [...rows].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
  });
  return make("figure", {}, options.caption ?? make("figcaption", { textContent: phrase(plot.title) }), holder, table);
}

// --- several runs in one chart: the plots of one study that have the same key, curves named by run, as
// report/overlay.cpp makes it.
function overlaid(group) {
  const first = group[0].plot;
  let colours = 0;
  const curves = group.flatMap(({ run, plot }) => {
    const single = plot.curves.filter((curve) => curve.role === "measured").length === 1;
    const own = plot.curves.filter((curve) => curve.role === "measured").map((curve, i) => ({
      ...curve, run: run.name, label: single ? run.name : `${run.name}: ${curve.label}`, colour: colours + (single ? 0 : i),
    }));
    colours += own.length;
    return own;
  });
  return { ...first, title: `${group[0].run.program}: ${phrase(first.y)}`, curves };
}

function comparisonFigure(group) {
  const plot = overlaid(group), figure = plotFigure(plot), choice = make("div", { className: "choice" });
  figure.classList.add("comparison");
  choice.setAttribute("role", "group");
  choice.setAttribute("aria-label", word("shownRuns"));
  for (const { run } of group) {
    const button = make("button", { type: "button", textContent: run.name });
    button.setAttribute("aria-pressed", true);
    button.onclick = () => {
      const shown = button.getAttribute("aria-pressed") !== "true", drawing = figure.querySelector(".drawing");
      const others = plot.curves.filter((curve) => curve.run !== run.name && !curve.hidden);
      if (!shown && !others.length) return;  // one stays
      button.setAttribute("aria-pressed", shown);
      for (const curve of plot.curves) if (curve.run === run.name) curve.hidden = !shown;
      drawing.redraw(drawing.drawnWidth);
    };
    choice.append(button);
  }
  figure.querySelector("figcaption").after(choice);
  return figure;
}
