"use strict";
// The page of a tape: a drawing with a row for each op and each tensor that ops read, the first at the
// bottom, and a panel with the details of the step. Step 0 is before the first op; each further step is one
// op forward or one op of backward.
(() => {
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const backwards = data.visits.length > 0;

// --- text
const signs = { nan: "NaN", inf: "∞", "-inf": "−∞" };
function number(v) {
  if (typeof v === "string") return signs[v];
  const size = Math.abs(v);
  const text = v === 0 || (size >= 1e-4 && size < 1e6) ? String(+v.toPrecision(4)) : v.toExponential(2).replace("e+", "e");
  return text.replaceAll("-", "−");
}
const shapeText = (value) => `[${value.shape.join(", ")}]`;
// The numbers where they have room in a row, else the norm.
function shortText(value, norm) {
  const text = value.numbers.map(number).join("  ");
  return text && text.length <= 17 ? text : `‖${norm}‖ ${number(value.norm)}`;
}
function rangeText(value) {
  const bad = [[value.nans, "NaN"], [value.infinities, "∞"]].filter(([n]) => n).map(([n, what]) => `, ${n} ${what}`).join("");
  return `${shapeText(value)} ${value.dtype}, norm ${number(value.norm)}, ${number(value.least)} to ${number(value.greatest)}${bad}`;
}
const nameOf = ([kind, n]) => (kind === "op" ? `op ${n + 1}, ${data.ops[n].name}` : kind === "source" ? data.sources[n].name : "none");
const valueOf = ([kind, n]) => (kind === "op" ? data.ops[n].value : kind === "source" ? data.sources[n].value : null);

// --- rows: each op, after the tensors that it is the first to read
const rows = [], rowOf = { op: [], source: [] };
function addRow(kind, of, path) {
  rowOf[kind][of] = rows.length;
  rows.push({ kind, of, path: path ? path.split(".") : [] });
}
data.ops.forEach((op, n) => {
  for (const [kind, of] of op.inputs) if (kind === "source" && rowOf.source[of] === undefined) addRow("source", of, data.sources[of].module);
  addRow("op", n, op.module);
});
const steps = data.steps.map(([backward, n]) => ({ backward: backward === 1, visit: n, op: backward ? data.visits[n].op : n }));
const forwardStep = [], firstReader = [], uses = data.sources.map(() => []);
steps.forEach((step, i) => {
  if (!step.backward) {
    forwardStep[step.op] = i + 1;
    for (const [kind, of] of data.ops[step.op].inputs) if (kind === "source") firstReader[of] ??= i + 1;
  } else {
    data.ops[step.op].inputs.forEach(([kind, of], k) => {
      if (kind === "source" && data.visits[step.visit].dx[k]) uses[of].push(i + 1);
    });
  }
});

// --- the drawing
function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const depth = Math.max(...rows.map((row) => row.path.length));
const left = 8 + 10 * depth, right = left + 500;
const bowOf = (from, to) => (to === from + 1 ? 0 : Math.min(85, 16 + 7 * (to - from)));  // of the edge between two rows
const bows = data.ops.flatMap((op, n) => op.inputs.filter(([kind]) => kind !== "absent").map(([kind, of]) => bowOf(rowOf[kind][of], rowOf.op[n])));
const width = right + Math.max(10 * depth + 8, 0.75 * Math.max(...bows) + 4);

// Heights above the ground, row by row; a module's box opens under its first row and closes, with its name,
// over its last.
function placeRows() {
  const boxes = [], open = [];
  let up = 8;
  const close = (kept) => {
    while (open.length > kept) {
      up += 20;
      boxes.push({ ...open.pop(), top: up - 2, depth: open.length });
      up += 6;
    }
  };
  for (const row of rows) {
    let kept = 0;
    while (kept < open.length && open[kept].name === row.path[kept]) ++kept;
    close(kept);
    for (const name of row.path.slice(kept)) open.push({ name, bottom: up }), up += 6;
    row.height = row.kind === "op" ? 34 : 26;
    row.bottom = up;
    up += row.height + 12;
  }
  close(0);
  return { boxes, height: up + 8 };
}
const { boxes, height } = placeRows();
const middle = (row) => height - row.bottom - row.height / 2;

function edgeOf(from, to) {
  const a = rows[from], b = rows[to];
  const bow = bowOf(from, to);
  if (bow === 0)
    return svg("path", { class: "edge", d: `M${left + 40} ${height - a.bottom - a.height}V${height - b.bottom}` });
  return svg("path", { class: "edge", d: `M${right} ${middle(a)}C${right + bow} ${middle(a)} ${right + bow} ${middle(b)} ${right} ${middle(b)}` });
}
function drawRow(row) {
  const of = row.kind === "op" ? data.ops[row.of] : data.sources[row.of];
  const y = height - row.bottom - row.height, base = y + row.height / 2 + 4.5;
  const inBox = row.kind === "source" && of.name.startsWith(`${of.module}.`);  // the box says the rest
  const name = svg("text", { class: "name", x: left + 12, y: base }, inBox ? of.name.slice(of.module.length + 1) : of.name);
  name.append(svg("tspan", { class: "shape", dx: 8 }, shapeText(of.value)));
  row.value = svg("text", { class: "value", x: right - 130, y: base, "text-anchor": "end" });
  row.gradient = svg("text", { class: "gradient", x: right - 12, y: base, "text-anchor": "end" });
  row.group = svg("g", { class: `row ${row.kind}` },
    svg("rect", { x: left, y, width: right - left, height: row.height, rx: row.kind === "op" ? 5 : row.height / 2 }),
    name, row.value, row.gradient);
  if (row.kind === "op") row.group.addEventListener("click", (event) => { event.stopPropagation(); goToOp(row.of); });
  return row.group;
}
const edges = [];
data.ops.forEach((op, n) => op.inputs.forEach(([kind, of], k) => {
  if (kind !== "absent") edges.push({ op: n, input: k, path: edgeOf(rowOf[kind][of], rowOf.op[n]) });
}));
const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
  "aria-label": `${data.ops.length} ops, the first at the bottom` });
for (const box of boxes) {
  const x = 2 + 10 * box.depth;
  drawing.append(svg("rect", { class: "box", x, y: height - box.top, width: right + 6 + 10 * (depth - box.depth) - x, height: box.top - box.bottom, rx: 8 }),
    svg("text", { class: "module", x: x + 8, y: height - box.top + 14 }, box.name));
}
drawing.append(...edges.map((edge) => edge.path), ...rows.map(drawRow));
byId("tape").append(drawing);

// --- one step
let place = 0;
const visitAt = data.ops.map(() => null);  // of each op, its last backward up to the step
function showRow(row, now) {
  const isOp = row.kind === "op";
  const of = isOp ? data.ops[row.of] : data.sources[row.of];
  const reached = place >= (isOp ? forwardStep[row.of] : firstReader[row.of]);
  const arrived = isOp ? 0 : uses[row.of].filter((step) => step <= place).length;
  const complete = !isOp && arrived > 0 && arrived === uses[row.of].length;
  const gradient = isOp ? visitAt[row.of]?.dy : complete ? of.gradient : null;
  row.value.textContent = reached ? shortText(of.value, "·") : "";
  row.gradient.textContent = gradient ? shortText(gradient, "d") : arrived ? `${arrived} of ${uses[row.of].length} parts` : "";
  row.group.setAttribute("class", `row ${row.kind}${reached ? " reached" : ""}${gradient ? " visited" : ""}${isOp && row.of === now ? " now" : ""}`);
}

function show(to, scroll = true) {
  place = Math.max(0, Math.min(steps.length, to));
  visitAt.fill(null);
  for (const step of steps.slice(0, place)) if (step.backward) visitAt[step.op] = data.visits[step.visit];
  const step = place > 0 ? steps[place - 1] : null;
  for (const row of rows) showRow(row, step?.op);
  for (const edge of edges) {
    const active = step?.op === edge.op && (!step.backward || data.visits[step.visit].dx[edge.input]);
    edge.path.setAttribute("class", `edge${active ? (step.backward ? " down" : " up") : ""}`);
  }
  byId("slider").value = place;
  byId("place").textContent = step ? `step ${place} of ${steps.length}: ${step.backward ? "backward" : "forward"}` : `step 0 of ${steps.length}`;
  for (const id of ["first", "back"]) byId(id).disabled = place === 0;
  for (const id of ["next", "last"]) byId(id).disabled = place === steps.length;
  byId("panel").replaceChildren(...(step ? details(step) : start()));
  const seen = rows[step ? rowOf.op[step.op] : 0].group;
  const far = Math.abs(seen.getBoundingClientRect().top - innerHeight / 2) > innerHeight;
  const calm = far || matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (scroll) seen.scrollIntoView({ block: "center", inline: "nearest", behavior: calm ? "auto" : "smooth" });
}
// The step of an op: of its backward where the tape is on its way back, else of its forward.
function goToOp(op) {
  const back = steps.findIndex((step) => step.backward && step.op === op) + 1;
  show(back && steps[place - 1]?.backward ? back : forwardStep[op], false);
}

// --- the panel
function make(tag, text = "", className = "") {
  const element = Object.assign(document.createElement(tag), { className });
  element.append(text);
  return element;
}
function numbersOf(value) {
  const table = make("table", "", "numbers");
  const columns = value.shape.length ? value.shape[value.shape.length - 1] : 1;
  for (let begin = 0; begin < value.numbers.length; begin += columns) {
    const line = table.insertRow();
    for (const v of value.numbers.slice(begin, begin + columns)) {
      const cell = line.insertCell();
      cell.textContent = number(v);
      cell.title = String(v);
    }
  }
  return table;
}
function list(pairs) {
  const all = make("dl");
  for (const [name, value] of pairs) {
    const about = make("dd", value ? rangeText(value) : "none");
    if (value && value.numbers.length) about.append(numbersOf(value));
    all.append(make("dt", name), about);
  }
  return all;
}
function details(step) {
  const op = data.ops[step.op], formula = data.formulas[op.name];
  const title = make("h2", `${op.name} `);
  title.append(make("small", `op ${step.op + 1}${op.module ? ` in ${op.module}` : ""}`));
  const parts = [title];
  if (formula) parts.push(make("pre", formula.trimEnd()));
  if (step.backward) {
    const visit = data.visits[step.visit];
    const dx = op.inputs.map((input, k) => [`to ${nameOf(input)}`, visit.dx[k]]).filter(([, value]) => value);
    parts.push(make("h3", "gradient that arrived", "gradient"), list([["dy", visit.dy]]),
      make("h3", "gradients that go on", "gradient"), list(dx));
    const whole = op.inputs.filter(([kind, of]) => kind === "source" && uses[of].length > 1 && place >= uses[of].at(-1));
    for (const [, of] of whole) parts.push(make("h3", `${data.sources[of].name}: the sum of ${uses[of].length} parts`, "gradient"),
      list([["gradient", data.sources[of].gradient]]));
  }
  parts.push(make("h3", "values", "value"), list([...op.inputs.map((input) => [nameOf(input), valueOf(input)]), ["result", op.value]]));
  return parts;
}
function start() {
  return [make("h2", "Before the first op"),
    make("p", "Press → or click the drawing: each press is one op. Values go up in blue; then gradients come back in magenta. " +
      "Rows with round ends are parameters and constants. A click on an op goes to its step.")];
}

// --- controls
const modules = new Set(data.ops.map((op) => op.module).filter(Boolean)).size;
byId("summary").textContent = `${data.ops.length} ops in ${modules} modules; ` +
  (backwards ? "values and gradients" : "values only: no backward was run before this page was written");
byId("slider").max = steps.length;
byId("slider").addEventListener("input", () => show(+byId("slider").value));
const moves = { first: () => 0, back: () => place - 1, next: () => place + 1, last: () => steps.length };
for (const [id, to] of Object.entries(moves)) byId(id).addEventListener("click", () => show(to()));
byId("tape").addEventListener("click", () => show(place + 1));
const keys = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last" };
addEventListener("keydown", (event) => {
  if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  show(moves[keys[event.key]]());
});
const root = document.documentElement;
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
const label = () => { byId("theme").textContent = isDark() ? "light" : "dark"; };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
byId("theme").addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });

// The drawing as a file of its own, in light colours that stand in the elements.
function still() {
  const before = root.dataset.theme;
  root.dataset.theme = "light";
  drawing.classList.add("still");
  const copy = drawing.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const from = drawing.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(from[i]);
    const wanted = element.tagName === "g" ? [] : /^t/.test(element.tagName) ? ["fill", "font-size", "font-weight"] : ["fill", "stroke", "stroke-width", "stroke-dasharray"];
    for (const name of wanted) if (style.getPropertyValue(name) !== "none" || name === "fill") element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  drawing.classList.remove("still");
  copy.removeAttribute("class");
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.prepend(svg("rect", { width, height, fill: "#fff" }));
  if (before) root.dataset.theme = before; else delete root.dataset.theme;
  return new XMLSerializer().serializeToString(copy).replaceAll("><", ">\n<") + "\n";
}
byId("save").addEventListener("click", () => {
  const link = Object.assign(document.createElement("a"), { download: `tape_step_${place}.svg` });
  link.href = URL.createObjectURL(new Blob([still()], { type: "image/svg+xml" }));
  link.click();
});
Object.assign(window, { tapePage: { show, still } });
label();
show(0);
})();
