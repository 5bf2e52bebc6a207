"use strict";
// What a training shows of its modules: heatmaps over the steps, and ridges of their values.

// --- heatmaps: dark blue over green to yellow, evenly lighter (stops of viridis)
const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function shade(share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return `rgb(${stops[i].map((v, c) => Math.round(v + (stops[i + 1][c] - v) * (at - i))).join(" ")})`;
}

function heatmap(map, width) {
  const all = map.values.flat().filter((v) => usable(v, map.log));
  const low = Math.min(...all), high = Math.max(...all), place = scale(low, high, 0, 1, map.log);
  const left = Math.min(width * 0.38, Math.max(...map.rows.map(textWidth)) + 10), step = 16, bottom = map.rows.length * step;
  const cell = (width - left - 4) / map.columns.length;
  const root = picture("chart heat", width, bottom + 62, `${phrase(map.title)}: ${number(low)} … ${number(high)}`);
  map.rows.forEach((name, r) => {
    root.append(svg("text", { class: "tick", x: left - 6, y: r * step + 12, "text-anchor": "end" }, name));
    map.values[r].forEach((value, c) => {
      if (!usable(value, map.log)) return;
      const box = { x: left + c * cell, y: r * step, width: cell + 0.3, height: step - 1, fill: shade(place(value)) };
      root.append(svg("rect", box, svg("title", {}, `${name}, ${phrase(map.x)} ${map.columns[c]}: ${number(value)}`)));
    });
  });
  const columns = map.columns.length;
  root.append(svg("text", { class: "tick", x: left, y: bottom + 14 }, `${phrase(map.x)} ${map.columns[0]}`));
  if (columns > 1)
    root.append(svg("text", { class: "tick", x: left + columns * cell, y: bottom + 14, "text-anchor": "end" },
      `${phrase(map.x)} ${map.columns.at(-1)}`));
  const bar = Math.min(220, width - left - 120);
  for (let i = 0; i < 44; ++i) {
    const x = left + 60 + i * bar / 44;
    root.append(svg("rect", { x, y: bottom + 30, width: bar / 44 + 0.4, height: 10, fill: shade(i / 43) }));
  }
  root.append(svg("text", { class: "tick", x: left + 54, y: bottom + 39, "text-anchor": "end" }, number(low, 2)),
    svg("text", { class: "tick", x: left + bar + 66, y: bottom + 39 }, number(high, 2)),
    svg("text", { class: "axis", x: left + 60, y: bottom + 56 }, phrase(map.value)));
  return root;
}

function heatmapFigure(map) {
  if (!map.values.flat().some((v) => usable(v, map.log))) return null;
  return make("figure", {}, make("figcaption", { textContent: phrase(map.title) }),
    placed(make("div", { className: "drawing" }), (width) => heatmap(map, width)),
    tableView(["", ...map.columns.map((c) => `${phrase(map.x)} ${c}`)], () =>
      map.rows.map((name, r) => [name, ...map.values[r].map((v) => number(v))])));
}

// --- ridges: for each module the shares of its values by size, on a logarithmic scale with zero in the middle
// Where a value stands among the edges of the bins, in bins.
function binOf(edges, v) {
  const i = Math.min(Math.max(edges.findLastIndex((edge) => edge <= v), 0), edges.length - 2);
  const [a, b] = [edges[i], edges[i + 1]];
  return v === 0 || !a || !b ? i : i + Math.log(v / a) / Math.log(b / a);
}

function ridges(data, width) {
  const { modules, steps, edges, shares, zeros } = data, bins = edges.length - 1;
  const step = 34, peak = 50, top = peak, bottom = top + modules.length * step;
  const left = Math.min(width * 0.36, Math.max(...modules.map(textWidth)) + 12), right = width - 52;
  // As much of the scale as has values, the same on either side of zero.
  const used = [...Array(bins).keys()].filter((bin) => shares.some((of) => of.some((module) => module[bin] > 1e-4)));
  const margin = Math.max(0, Math.min(used[0], bins - 1 - used.at(-1)) - 1);
  const x = (bin) => left + (bin - margin) / (bins - 2 * margin) * (right - left);
  const root = picture("chart ridges", width, bottom + 30,
    `${titleOfRidges(data)}: ${modules.join(", ")}; ${phrase("step")} ${steps.join(", ")}`);
  const largest = Math.floor(Math.log10(edges[bins - margin])), apart = width < 520 ? 4 : 2;
  const decades = [0, 1, 2].map((i) => +`1e${largest - i * apart}`);
  let free = -Infinity;
  for (const v of [...decades.map((v) => -v), 0, ...decades.reverse()]) {
    const at = x(binOf(edges, v)), half = textWidth(tickText(v)) / 2;
    if (at - half < free) continue;
    free = at + half + 6;
    root.append(svg("path", { class: "grid", d: `M${at} ${top - 26}V${bottom}` }),
      svg("text", { class: "tick", x: at, y: bottom + 17, "text-anchor": "middle" }, tickText(v)));
  }
  root.append(svg("text", { class: "axis", x: width - 2, y: 13, "text-anchor": "end" }, word("zeros")));
  modules.forEach((name, m) => {
    const base = top + (m + 1) * step - 8, seen = (of) => of[m].slice(margin, bins - margin);
    const most = Math.max(...shares.flatMap(seen), 1e-12), height = (share) => (base - share / most * peak).toFixed(1);
    const outline = (of) => seen(of).map((share, i) => `${x(margin + i + 0.5).toFixed(1)} ${height(share)}`).join("L");
    const ends = [x(margin + 0.5), x(bins - margin - 0.5)];
    root.append(svg("path", { class: "fill", d: `M${ends[0]} ${base}L${outline(shares.at(-1))}L${ends[1]} ${base}z` }));
    for (const share of shares)
      root.append(svg("path", { class: share === shares.at(-1) ? "ridge last" : "ridge", d: `M${outline(share)}` }));
    root.append(svg("text", { class: "tick", x: left - 8, y: base, "text-anchor": "end" }, name),
      svg("text", { class: "tick", x: width - 2, y: base, "text-anchor": "end" }, `${number(100 * zeros.at(-1)[m], 2)} %`));
  });
  return root;
}

const titleOfRidges = (data) => inLanguage(data, "title") || words[lang].ridges[data.quantity];

function ridgesFigure(data) {
  if (!data.modules.length || !data.steps.length) return null;
  const sizes = data.edges.slice(1).map((edge, bin) => `${number(data.edges[bin], 2)} … ${number(edge, 2)}`);
  const note = textIn("small", " " + word("ridgeNote")(data.steps.join(", "))), last = data.shares.at(-1);
  return make("figure", {}, make("figcaption", {}, titleOfRidges(data), note),
    placed(make("div", { className: "drawing" }), (width) => ridges(data, width)),
    tableView(["", word("zeros"), ...sizes], () =>
      data.modules.map((name, m) => [name, number(data.zeros.at(-1)[m], 3), ...last[m].map((v) => number(v, 2))])));
}
