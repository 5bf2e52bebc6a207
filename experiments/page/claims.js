"use strict";
// Claims: their rows, and what stands behind a click.
const isPending = (claim) => claim.verdict === "still to come";
const isMeasured = (part) => isNumber(part.value) || part.nonfinite > 0;
const seedsOf = (part) => part.n + (part.nonfinite ?? 0);
const hasPrinted = (part) => finite(part.printed);

const textOf = (claim) => claim.source.split(",")[0];  // of a claim that two texts make, the first

// The part that stands for the claim in its row: the first that bears its verdict.
function leadOf(claim) {
  const verdict = shownVerdict(claim);
  const wanted = verdict === "open" ? "open" : verdict === "true" ? "holds" : "does not hold";
  return claim.parts.find((part) => part.outcome === wanted) ?? claim.parts[0];
}

// --- words of a part
// What is asked of the value, in signs: "≤ 10⁻⁹", "0.4 … 0.6", "= 0".
function askedText(part) {
  const [low, high] = part.bounds ?? [];
  if (finite(low) && low === high) return `= ${number(low)}`;
  const [from, to] = [low, high].map((bound) => number(bound));
  if (finite(low) && finite(high)) return low === -high ? `±${to}` : `${from} … ${to}`;
  const beyond = part.word === "better";  // the bound itself is outside
  return finite(high) ? `${beyond ? "<" : "≤"} ${to}` : finite(low) ? `${beyond ? ">" : "≥"} ${from}` : "";
}
const printedText = (part) => minus(plain(part.printed));
const intervalText = ({ interval: i }) => (i?.every(finite) && i[0] !== i[1] ? interval(i) : "");
const hasTheory = (part) => part.theory !== null && part.theory !== undefined;
// The measured value; where there is none, why.
function valueText(part) {
  if (isNumber(part.value)) return number(part.value);
  if (isMeasured(part)) return word("notFinite");
  return word(part.not_run && !part.pending ? "not tested" : "pending");
}

function partText(part) {
  const [key, text] = hasPrinted(part) ? ["printed", printedText] : ["asked", askedText];
  const said = [`${word(key)} ${text(part)}`];
  if (isMeasured(part)) said.push(`${word("measured")} ${valueText(part)} ${intervalText(part)}`.trim());
  else said.push(part.not_run && !part.pending ? phrase(part.not_run) : word("pending"));
  if (hasTheory(part)) said.push(`${word("theory")} ${number(part.theory)}`);
  return `${inLanguage(part, "says")}: ${said.join("; ")}`;
}

// The cells that rows and parts have in common: printed or asked, measured, theory.
function valueCells(part) {
  const cell = (name, ...of) => box("span", `cell ${name}`, textIn("span", `${word(name)} `, "label"), ...of);
  if (!part) return ["asked", "measured", "theory"].map((name) => cell(name, "–"));
  const range = intervalText(part);
  return [
    hasPrinted(part) ? cell("printed", textIn("b", printedText(part))) : cell("asked", askedText(part)),
    cell("measured", textIn(isNumber(part.value) ? "b" : "i", valueText(part)), range && small(range)),
    cell("theory", hasTheory(part) ? number(part.theory) : "–"),
  ];
}

const badge = (verdict) => textIn("span", word(verdict), `badge ${kindOf(verdict)}`);

// One square for each part, coloured by what came out.
function partsLine(claim) {
  if (claim.parts.length < 2) return null;
  const holding = claim.parts.filter((part) => part.outcome === "holds").length, lead = leadOf(claim);
  const line = box("small", "partsline");
  const squares = box("span", "squares", ...claim.parts.map((part) => textIn("i", "", kindOf(part.outcome))));
  squares.setAttribute("role", "img");
  squares.setAttribute("aria-label", `${word("parts")(claim.parts.length)}: ${holding} ${word("holds")}`);
  line.append(squares, " " + inLanguage(lead, "says"));
  return line;
}

// --- what stands behind a click
function quotation(claim) {
  const lines = [make("p", { lang: claim.quote_en ? "zh" : "en", title: claim.quote }, ...withFormulas(claim.quote))];
  if (claim.quote_en) lines.push(make("p", { lang: "en", className: "translation" }, claim.quote_en));
  return make("blockquote", {}, ...lines);
}

// What a decision assumes, or why none is made.
const qualified = (part) => part.outcome && (part.outcome_text ?? part.outcome) !== part.outcome && inLanguage(part, "outcome_text");

// What a ladder measured of a part: a chart for each optimizer.
const ladders = (claim, part) => (part?.reaches ?? []).map((reach, k) =>
  strip(claim, `${claim.parts.indexOf(part)} reach ${k}`, `${inLanguage(part, "says")}: ${inLanguage(reach, "text")}`));
const reachText = (of) => {
  const text = of.reach ? inLanguage(of, "reach") : (of.reaches ?? []).map((one) => inLanguage(one, "text")).join("; ");
  return text && `${word("reach")}: ${text}`;
};

function partRow(claim, part) {
  const says = box("span", "cell says", inLanguage(part, "says"));
  const why = inLanguage(part, "why");
  const trained = inLanguage(part, "trained_on");
  const more = [why, trained ? `${word("trained")}: ${trained}` : part.corpus,
    seedsOf(part) > 1 && word("seeds")(seedsOf(part)), part.nonfinite > 0 && word("nonfinite")(part.nonfinite),
    part.seeds_needed > 0 && word("needed")(part.seeds_needed), qualified(part), part.kept && word("kept value")].filter(Boolean);
  says.append(...[more.join(" · "), turnText(claim, part), reachText(part)].filter(Boolean).map(small));
  const outcome = part.outcome || part.pending ? word(part.outcome || "pending") : phrase(part.not_run ?? "");
  const chart = box("span", "cell mini", strip(claim, claim.parts.indexOf(part), partText(part)),
    ...ladders(claim, part));
  return box("li", "part", says, chart, ...valueCells(part),
    textIn("span", outcome, `cell outcome ${kindOf(part.outcome)}`));
}

function passageItem(passage) {
  const link = make("a", { href: passage.address, textContent: passage.title });
  const reading = `${inLanguage(passage, "reading")} (${word("readOn")(passage.read)})`;
  return make("li", {}, link, ": ", box("q", "", ...withFormulas(passage.quote)), " ", reading);
}

// The command that makes and judges this claim's runs again.
function commandOf(claim) {
  if (!claim.parts.length) return null;
  const madeFull = (part) => data.runs.some((run) => run.name === part.run && run.full);
  const atFull = claim.parts.filter((part) => part.full_only || part.of_ladder);
  const full = atFull.some((part) => part.kept || claim.verdict === "open") || claim.scale === "full" && claim.parts.some(madeFull);
  const file = data.sources[textOf(claim)]?.file;
  const typed = (path) => path && (/^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
  const seed = claim.seed && `--seed ${claim.seed}`;
  const ladder = full && claim.parts.some((part) => part.of_ladder) && "--ladder";
  return [typed(data.command), "verify", typed(file), "--claim", typed(claim.id), full && "--full", ladder, seed]
    .filter(Boolean).join(" ");
}

function commandLine(claim) {
  const command = commandOf(claim);
  if (!command && claim.test) return textIn("p", word("tested")(claim.test), "note");
  if (!command) return textIn("p", word(claim.passages.length ? "nothingRuns" : "nothingCited"), "note");
  const code = textIn("code", command), button = make("button", { type: "button" }, word("copy"));
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(command);
    } catch {  // a browser that gives pages no clipboard
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = word("copied");
  };
  return box("p", "command", textIn("span", word("rerun")), code, button);
}

// The charts of the values that a claim is judged by; of a run without such a chart, all its charts.
const bears = ({ bears: all }, part) => !all || all.split(" ").some((piece) => part.key.includes(piece));
function chartsOf(claim) {
  return data.runs.flatMap((run) => {
    const parts = claim.parts.filter((part) => part.run === run.name);
    const own = parts.length ? figures.filter(({ dataset }) => dataset.run === run.name && dataset.bears !== undefined) : [];
    const fitting = own.filter((figure) => parts.some((part) => bears(figure.dataset, part)));
    return fitting.length ? fitting : own;
  });
}

function claimFigure(source) {
  const figure = readable(source);
  figure.querySelector("figcaption").append(textIn("small", ` ${source.dataset.run}`));
  return figure;
}

function claimBody(claim) {
  const body = box("div", "body");
  const say = (key, text) => text && body.append(box("p", "note", textIn("b", word(key) + ": "), text));
  if (isUndecided(claim.verdict)) say(claim.verdict, inLanguage(claim, "detail"));
  if (claim.quote) body.append(quotation(claim));
  say("implied", inLanguage(claim, "implied"));
  say("no_source", inLanguage(claim, "no_source"));
  say("remark", inLanguage(claim, "remark"));
  // What the kept values of a full run say of what this run leaves open.
  if (claim.kept) body.append(textIn("p", word("kept")(claim.kept.at, word(claim.kept.verdict)), "note"));
  if (claim.parts.length) body.append(box("ul", "parts", ...claim.parts.map((part) => partRow(claim, part))));
  if (claim.passages.length) body.append(box("ul", "passages", ...claim.passages.map(passageItem)));
  say(claim.parts.length ? "left out" : "note", inLanguage(claim, "note"));
  body.append(commandLine(claim));
  const runs = data.runs.filter((run) => claim.parts.some((part) => part.run === run.name));
  if (runs.length) {
    const line = box("p", "note", word("runOf") + " ");
    runs.forEach((run, i) => line.append(i ? ", " : "", make("a", { href: "#" + runId(run) }, run.name)));
    body.append(line);
  }
  body.append(box("div", "figures"));
  return body;
}

// The address of the page leads to what was opened last.
const nameInAddress = (id) => history.replaceState(null, "", "#" + encodeURIComponent(id));

const opened = new Set();  // claims and runs that the reader opened, kept over a change of language
// Fills `details` with what `body` makes once it is opened, and with charts only then; on paper they stand
// with their run.
function unfolding(details, id, body, charts = () => []) {
  const fill = () => {
    if (details.children.length < 2) details.append(body());
  };
  details.ontoggle = () => {
    if (details.open) fill();
    if (details.open && !unfolded.length) details.querySelector(".figures:empty")?.append(...charts());
    opened[details.open ? "add" : "delete"](id);
  };
  details.fill = fill;
  const summary = details.firstElementChild;
  summary.onclick = () => { if (!details.open) nameInAddress(summary.id); };
  if (opened.has(id)) details.open = true;
  return details;
}

function claimRow(claim) {
  for (const part of claim.parts) part.pending = isPending(claim) && !part.kept;
  const lead = leadOf(claim);
  const says = box("span", "cell says", inLanguage(claim, "claim"), partsLine(claim));
  const trained = inLanguage(claim, "trained_on");
  if (trained) says.append(small(`${word("trained")}: ${trained}`));
  if (lead?.reaches) says.append(small(reachText(lead)));
  const chart = lead && (strip(claim, "series") ?? strip(claim, claim.parts.indexOf(lead), partText(lead)));
  const verdict = box("span", "cell verdict", badge(shownVerdict(claim)));
  const detail = isPending(claim) ? "" : shownDetail(claim);
  verdict.append(...[detail.length < 60 && detail, tagsOf(claim).map(word).join(" · ")].filter(Boolean).map(small));
  const summary = make("summary", { id: "claim-" + claim.id }, textIn("span", claim.id, "cell id"), says,
    box("span", "cell mini", chart, ...ladders(claim, lead)), ...valueCells(lead), verdict);
  const row = unfolding(box("details", "claim", summary), claim.id, () => claimBody(claim),
    () => chartsOf(claim).slice(0, 6).map(claimFigure));
  row.claim = claim;
  return row;
}

// The identities of a text, on one line.
function identitiesFold(claims) {
  const ids = claims.map((claim) => claim.id).join(", ");
  return box("details", "identities", textIn("summary", word("identities")(claims.length, ids)), ...claims.map(claimRow));
}

// Everything that a reader may type to find it. Hyphens count as nothing, and as blanks: "warmup", "warm up",
// "warm-up".
function searchText(claim) {
  const values = claim.parts.flatMap((part) => [part.says, part.says_zh, part.key, part.printed,
    hasPrinted(part) ? printedText(part) : "", finite(part.value) ? number(part.value) : "", ...(part.bounds ?? []).filter(finite)]);
  return [claim.id, claim.source, claim.claim, claim.claim_zh, claim.quote, claim.quote_en, ...values].join(" ").toLowerCase();
}
function found(text, query) {
  const joined = text.replaceAll("-", "");
  return query.split(/\s+/).every((word) => text.includes(word) || joined.includes(word.replaceAll("-", "")));
}
