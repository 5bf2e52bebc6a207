"use strict";
// Claims: their rows, the small charts in them, and what stands behind a click.
const verdictOrder = ["confirmed", "partly", "refuted", "not borne out on this CPU", "too few seeds", "machine too busy", "not run here",
  "still to come", "by definition", "true by its source", "partly by its source", "false by its source", "cited, not checked"];
const kinds = {  // what a verdict's colour says
  confirmed: "good", partly: "half", refuted: "bad", "not borne out on this CPU": "bad", "by definition": "plain",
  "true by its source": "good", "partly by its source": "half", "false by its source": "bad",
};
const kindOf = (verdict) => kinds[verdict] ?? "open";
const isPending = (claim) => claim.verdict === "still to come";
const isMeasured = (part) => finite(part.value) || part.n === 0 && part.nonfinite > 0;
const hasPrinted = (part) => finite(part.printed);

// The part that stands for the claim in its row: the first that bears its verdict.
function leadOf(claim) {
  const wanted = { refuted: "does not hold", partly: "does not hold", "not borne out on this CPU": "does not hold", "too few seeds": "too few seeds" };
  return claim.parts.find((part) => part.outcome === wanted[claim.verdict]) ?? claim.parts[0];
}

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
    title: inLanguage(claim, "claim"), key: claim.id, x: "layer", y: parts[0].key.includes("grad") ? "gradient norm" : "std", log, ticks: [],
    curves: [
      { label: word("measured"), role: "measured", points: pick((p, x) => [x, p.interval?.[0], p.value, p.interval?.[1]]) },
      { label: word("theory"), role: "theory", points: pick((p, x) => [x, p.theory, p.theory, p.theory]) },
      { label: word("printed"), role: "printed", points: pick((p, x) => [x, p.printed, p.printed, p.printed]) },
    ],
  };
}

// --- small charts
// One part on one axis: the zone that is asked for, the measured interval, the theory, the printed point.
function strip(part, width = 210) {
  const height = 40, base = 24, bounds = (part.bounds ?? []).map((v) => (finite(v) ? v : null));
  const [low, high] = hasPrinted(part) ? [null, null] : bounds;
  const given = [part.value, ...(part.interval ?? []), part.theory, part.printed, low, high].filter(finite);
  if (!given.length) return null;
  const positive = given.filter((v) => v > 0);
  const log = given.every((v) => v >= 0) && positive.length > 1 && (part.log || Math.max(...positive) / Math.min(...positive) > 30) &&
    part.value !== 0 && part.printed !== 0;
  const values = log ? positive : given;
  let from = Math.min(...values), to = Math.max(...values);
  const room = log ? (to / from) ** 0.12 * 1.15 : (to - from || Math.abs(to) || 1) * 0.12;
  [from, to] = log ? [from / room, to * room] : [from - room, to + room];
  const x = scale(from, to, 8, width - 8, log), inside = (v) => x(Math.min(Math.max(v, from), to));
  const root = svg("svg", { class: "strip", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": partText(part) });
  root.append(svg("title", {}, partText(part)));
  if (low !== null || high !== null) {
    const a = low === null || log && low <= 0 ? 2 : inside(low), b = high === null ? width - 2 : log && high <= 0 ? 2 : inside(high);
    root.append(svg("rect", { class: "zone", x: Math.min(a, b) - (a === b ? 1.5 : 0), y: base - 15, width: Math.max(b - a, 3), height: 15 }));
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
    root.append(svg("rect", { class: "interval", x: a - 0.5, y: base - 11, width: Math.max(b - a, 0) + 1, height: 7, rx: 2 }));
  }
  if (usable(part.theory, log)) root.append(svg("path", { class: "theory tickmark", d: `M${x(part.theory)} ${base - 16}V${base}` }));
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
  const ends = [y.low, y.high].map((v) => number(v, 1));
  const root = svg("svg", { class: "strip", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": described(plot, curves) });
  root.append(svg("title", {}, described(plot, curves)), svg("path", { class: "line", d: `M36 4V${height - 4}` }),
    svg("text", { class: "tick small", x: 33, y: 13, "text-anchor": "end" }, shortEnd(y.high)),
    svg("text", { class: "tick small", x: 33, y: height - 3, "text-anchor": "end" }, shortEnd(y.low)));
  for (const curve of curves) drawCurve(root, curve, x, y);
  return root;
}
const shortEnd = (v) => (v >= 1e-3 && v < 1e4 ? String(+v.toPrecision(1)) : `10${power(Math.round(Math.log10(v)))}`);

// --- words of a part
// What is asked of the value, in signs: "≤ 10⁻⁹", "0.4 … 0.6", "= 0".
function askedText(part) {
  const [low, high] = part.bounds ?? [];
  if (finite(low) && low === high) return `= ${number(low)}`;
  if (finite(low) && finite(high)) return low === -high ? `±${number(high)}` : `${number(low)} … ${number(high)}`;
  return finite(high) ? `≤ ${number(high)}` : finite(low) ? `≥ ${number(low)}` : "";
}
const printedText = (part) => minus(plain(part.printed));
const intervalText = (part) => (part.interval?.every(finite) && part.interval[0] !== part.interval[1] ? interval(part.interval) : "");

function partText(part) {
  const said = [hasPrinted(part) ? `${word("printed")} ${printedText(part)}` : `${word("asked")} ${askedText(part)}`];
  if (isMeasured(part)) said.push(`${word("measured")} ${finite(part.value) ? number(part.value) : word("notFinite")} ${intervalText(part)}`.trim());
  else said.push(part.not_run && !part.pending ? phrase(part.not_run) : word("pending"));
  if (part.theory !== undefined && part.theory !== null) said.push(`${word("theory")} ${number(part.theory)}`);
  return `${inLanguage(part, "says")}: ${said.join("; ")}`;
}

// The cells that rows and parts have in common: printed or asked, measured, theory.
function valueCells(part) {
  const cell = (name, ...children) => make("span", { className: `cell ${name}` },
    make("span", { className: "label", textContent: word(name) + " " }), ...children);
  const small = (text) => (text ? make("small", { textContent: text }) : null);
  const measured = !part ? ["–"] : finite(part.value) ? [make("b", { textContent: number(part.value) }), small(intervalText(part))]
    : [make("i", { textContent: isMeasured(part) ? word("notFinite") : word(part.not_run && !part.pending ? "not run here" : "pending") })];
  return [
    part && hasPrinted(part) ? cell("printed", make("b", { textContent: printedText(part) })) : cell("asked", part ? askedText(part) : "–"),
    cell("measured", ...measured),
    cell("theory", part && part.theory !== null && part.theory !== undefined ? number(part.theory) : "–"),
  ];
}

const badge = (verdict) => make("span", { className: `badge ${kindOf(verdict)}`, textContent: word(verdict) });
const outcomeKind = (part) => ({ holds: "good", "does not hold": "bad" })[part.outcome] ?? "open";

// Whether a run at the full scale settled what this one, at the quick scale, leaves open.
const atFull = (claim) => claim.full && claim.scale !== "full";

// One square for each part, coloured by what came out.
function partsLine(claim) {
  if (claim.parts.length < 2) return null;
  const holding = claim.parts.filter((part) => part.outcome === "holds").length, lead = leadOf(claim);
  const line = make("small", { className: "partsline" });
  const squares = make("span", { className: "squares" }, ...claim.parts.map((part) => make("i", { className: outcomeKind(part) })));
  squares.setAttribute("role", "img");
  squares.setAttribute("aria-label", `${word("parts")(claim.parts.length)}: ${holding} ${word("holds")}`);
  line.append(squares, " " + inLanguage(lead, "says"));
  return line;
}

// --- what stands behind a click
function quotation(claim) {
  const source = data.sources[claim.source.split(",")[0]];
  const lines = [make("p", { lang: source && source.title_en ? "zh" : "en", textContent: claim.quote })];
  if (claim.quote_en) lines.push(make("p", { lang: "en", className: "translation", textContent: claim.quote_en }));
  return make("blockquote", {}, ...lines);
}

function partRow(part) {
  const says = make("span", { className: "cell says" }, inLanguage(part, "says"));
  const why = inLanguage(part, "why");
  const more = [why, part.corpus && `${word("corpus")}: ${part.corpus}`, part.n > 1 && word("seeds")(part.n),
    part.nonfinite > 0 && word("nonfinite")(part.nonfinite), part.seeds_needed > 0 && word("needed")(part.seeds_needed)].filter(Boolean);
  if (more.length) says.append(make("small", { textContent: more.join(" · ") }));
  const outcome = make("span", { className: `cell outcome ${outcomeKind(part)}`,
    textContent: part.outcome ? word(part.outcome) : part.pending ? word("pending") : phrase(part.not_run ?? "") });
  return make("li", { className: "part" }, says, make("span", { className: "cell mini" }, strip(part)), ...valueCells(part), outcome);
}

function passageItem(passage) {
  const link = make("a", { href: passage.address, textContent: passage.title });
  return make("li", {}, link, ": ", make("q", { textContent: passage.quote }), ` ${inLanguage(passage, "reading")} (${word("readOn")(passage.read)})`);
}

// The command that makes and judges this claim's runs again.
function commandOf(claim) {
  if (!claim.parts.length) return null;
  const full = claim.scale === "full" && claim.parts.some((part) => part.full_only || data.runs.some((run) => run.name === part.run && run.full));
  const file = data.sources[claim.source.split(",")[0]]?.file;
  return `${data.command} verify ${file ? file + " " : ""}--claim ${claim.id}${full || claim.parts.some((part) => part.full_only) ? " --full" : ""}`;
}

function commandLine(claim) {
  const command = commandOf(claim);
  if (!command) return make("p", { className: "note", textContent: word(claim.passages.length ? "nothingRuns" : "nothingCited") });
  const code = make("code", { textContent: command }), button = make("button", { type: "button", textContent: word("copy") });
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(command);
    } catch {  // a browser that gives pages no clipboard
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = word("copied");
  };
  return make("p", { className: "command" }, make("span", { textContent: word("rerun") }), code, button);
}

// The charts of the values that a claim is judged by; of a run without such a chart, all its charts.
const bears = (run, plot, part) => part.run === run.name && (!plot.figures.length || plot.figures.some((piece) => part.key.includes(piece)));
function chartsOf(claim) {
  return data.runs.flatMap((run) => {
    if (!claim.parts.some((part) => part.run === run.name)) return [];
    const fitting = run.plots.filter((plot) => claim.parts.some((part) => bears(run, plot, part)));
    return (fitting.length ? fitting : run.plots).map((plot) => ({ run, plot }));
  });
}

function claimBody(claim) {
  const body = make("div", { className: "body" });
  const say = (key, text) => text && body.append(make("p", { className: "note" }, make("b", { textContent: word(key) + ": " }), text));
  if (claim.quote) body.append(quotation(claim));
  say("implied", inLanguage(claim, "implied"));
  say("no_source", inLanguage(claim, "no_source"));
  if (atFull(claim)) body.append(make("p", { className: "note", textContent: word("full")(claim.full.date, word(claim.full.verdict)) }));
  if (claim.parts.length) body.append(make("ul", { className: "parts" }, ...claim.parts.map(partRow)));
  if (claim.passages.length) body.append(make("ul", { className: "passages" }, ...claim.passages.map(passageItem)));
  say(claim.parts.length ? "left out" : "note", inLanguage(claim, "note"));
  body.append(commandLine(claim));
  const runs = data.runs.filter((run) => claim.parts.some((part) => part.run === run.name));
  if (runs.length) {
    const line = make("p", { className: "note" }, word("runOf") + " ");
    runs.forEach((run, i) => line.append(i ? ", " : "", make("a", { href: "#" + runId(run), textContent: run.name })));
    body.append(line);
  }
  const charts = chartsOf(claim).slice(0, 6).map(({ run, plot }) => plotFigure(plot, { caption:
    make("figcaption", {}, phrase(plot.title), make("small", { textContent: ` ${run.name}` })) })).filter(Boolean);
  if (charts.length) body.append(make("div", { className: "figures" }, ...charts));
  return body;
}

const opened = new Set();  // claims and runs that the reader opened, kept over a change of language
// Fills `details` with what `body` makes once it is opened.
function unfolding(details, id, body) {
  const fill = () => {
    if (details.children.length < 2) details.append(body());
  };
  details.ontoggle = () => {
    if (details.open) fill();
    opened[details.open ? "add" : "delete"](id);
  };
  details.fill = fill;
  if (opened.has(id)) details.open = true;
  return details;
}

function claimRow(claim) {
  for (const part of claim.parts) part.pending = isPending(claim);
  const lead = leadOf(claim), says = make("span", { className: "cell says" }, inLanguage(claim, "claim"), partsLine(claim));
  const chart = !lead ? null : seriesOf(claim) ? spark(claim) : strip(lead);
  const verdict = make("span", { className: "cell verdict" }, badge(claim.verdict));
  if (atFull(claim)) verdict.append(make("small", { textContent: word("full")(claim.full.date, word(claim.full.verdict)) }));
  const summary = make("summary", { id: "claim-" + claim.id }, make("span", { className: "cell id", textContent: claim.id }), says,
    make("span", { className: "cell mini" }, chart), ...valueCells(lead), verdict);
  const row = unfolding(make("details", { className: "claim" }, summary), claim.id, () => claimBody(claim));
  row.claim = claim;
  return row;
}

// Everything that a reader may type to find it.
function searchText(claim) {
  const values = claim.parts.flatMap((part) => [part.says, part.says_zh, part.key, part.printed, finite(part.printed) ? printedText(part) : "",
    finite(part.value) ? number(part.value) : "", ...(part.bounds ?? []).filter(finite)]);
  return [claim.id, claim.source, claim.claim, claim.claim_zh, claim.quote, claim.quote_en, ...values].join(" ").toLowerCase();
}
