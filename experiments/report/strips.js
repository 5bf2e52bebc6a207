"use strict";
// The small charts of the rows: one part of a claim on one axis, or a series of parts.
// Parts that are one series, such as layers 1 to 8: the number of each; else null.
function seriesOf(claim) {
  const places = claim.parts.map((part) => +(part.key.match(/(?:layer|block)(\d+)\./)?.[1] ?? NaN));
  const runs = new Set(claim.parts.map((part) => part.run));
  return places.length > 3 && runs.size === 1 && new Set(places).size === places.length && !places.some(Number.isNaN) &&
    claim.parts.every(hasPrinted) ? places : null;
}

// A series as a plot: what is printed, the interval that decides, the theory.
function seriesPlot(claim) {
  const places = seriesOf(claim), { parts } = claim;
  const pick = (point) => places.map((x, i) => point(parts[i], x)).filter((p) => p.every(finite));
  const log = parts.every((part) => part.printed > 0);
  return {
    title: inLanguage(claim, "claim"), key: claim.id, log, ticks: [],
    x: "layer", y: parts[0].key.includes("grad") ? "gradient norm" : "std",
    curves: [
      { label: word("measured"), role: "measured", points: pick((p, x) => [x, p.interval?.[0], p.value, p.interval?.[1]]) },
      { label: word("theory"), role: "theory", points: pick((p, x) => [x, p.theory, p.theory, p.theory]) },
      { label: word("printed"), role: "printed", points: pick((p, x) => [x, p.printed, p.printed, p.printed]) },
    ],
  };
}

// One part on one axis: the zone that is asked for, the measured interval, the theory, the printed point.
function strip(part, width = 210) {
  const height = 40, base = 24, bounds = (part.bounds ?? []).map((v) => (finite(v) ? v : null));
  const [low, high] = hasPrinted(part) ? [null, null] : bounds;
  const given = [part.value, ...(part.interval ?? []), part.theory, part.printed, low, high].filter(finite);
  if (!given.length) return null;
  const positive = given.filter((v) => v > 0);
  const wide = positive.length > 1 && (part.log || Math.max(...positive) / Math.min(...positive) > 30);
  const log = wide && given.every((v) => v >= 0) && part.value !== 0 && part.printed !== 0;
  const values = log ? positive : given;
  let from = Math.min(...values), to = Math.max(...values);
  const room = log ? (to / from) ** 0.12 * 1.15 : (to - from || Math.abs(to) || 1) * 0.12;
  [from, to] = log ? [from / room, to * room] : [from - room, to + room];
  const x = scale(from, to, 8, width - 8, log), inside = (v) => x(Math.min(Math.max(v, from), to));
  const root = picture("strip", width, height, partText(part));
  root.append(svg("title", {}, partText(part)));
  if (low !== null || high !== null) {
    const edge = (v, none) => (v === null ? none : log && v <= 0 ? 2 : inside(v));
    const a = edge(low, 2), b = edge(high, width - 2), left = a === b ? a - 1.5 : a;
    root.append(svg("rect", { class: "zone", x: left, y: base - 15, width: Math.max(b - a, 3), height: 15 }));
  }
  root.append(svg("path", { class: "line", d: `M2 ${base}H${width - 2}` }));
  let free = -Infinity;
  for (const v of x.ticks(3)) {
    const text = tickText(v), half = textWidth(text) * 0.42, at = Math.min(Math.max(x(v), half + 1), width - half - 1);
    root.append(svg("path", { class: "line", d: `M${x(v)} ${base}v3` }));
    if (at - half < free) continue;
    free = at + half + 5;
    root.append(svg("text", { class: "tick small", x: at, y: height - 3, "text-anchor": "middle" }, text));
  }
  if (part.interval?.every(finite) && !(log && part.interval[0] <= 0 && part.interval[1] <= 0)) {
    const a = log && part.interval[0] <= 0 ? 2 : inside(part.interval[0]), b = inside(part.interval[1]);
    const length = Math.max(b - a, 0) + 1;
    root.append(svg("rect", { class: "interval", x: a - 0.5, y: base - 11, width: length, height: 7, rx: 2 }));
  }
  if (usable(part.theory, log))
    root.append(svg("path", { class: "theory tickmark", d: `M${x(part.theory)} ${base - 16}V${base}` }));
  if (usable(part.value, log)) root.append(dot(x(part.value), base - 7.5, 3.8));
  if (hasPrinted(part) && usable(part.printed, log)) root.append(diamond(x(part.printed), base - 7.5, 5));
  return root;
}

// A series in a row: the same as the large chart, without words.
function spark(claim, width = 210) {
  const plot = seriesPlot(claim), curves = curvesOf(plot), all = curves.flatMap((curve) => curve.points), height = 56;
  const values = all.flatMap((p) => [p[1], p[3]]), places = all.map((p) => p[0]);
  const x = scale(Math.min(...places), Math.max(...places), 40, width - 6, false);
  const y = scale(Math.min(...values), Math.max(...values), height - 6, 6, plot.log);
  const root = picture("strip", width, height, described(plot, curves));
  root.append(svg("title", {}, described(plot, curves)), svg("path", { class: "line", d: `M36 4V${height - 4}` }),
    svg("text", { class: "tick small", x: 33, y: 13, "text-anchor": "end" }, shortEnd(y.high)),
    svg("text", { class: "tick small", x: 33, y: height - 3, "text-anchor": "end" }, shortEnd(y.low)));
  for (const curve of curves) drawCurve(root, curve, x, y);
  return root;
}
const shortEnd = (v) => (v >= 1e-3 && v < 1e4 ? String(+v.toPrecision(1)) : `10${power(Math.round(Math.log10(v)))}`);
