"use strict";
// Runs: their charts, expectations, values and settings; and runs of one study over each other.
// A table of rows, the first cell of each its name.
function tableOf(rows, columns, className = "") {
  const body = rows.map(([name, ...cells]) =>
    make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => textIn("td", cell))));
  const head = columns && make("thead", {}, make("tr", {}, ...columns.map((column) => textIn("th", column))));
  return box("table", className, head, make("tbody", {}, ...body));
}

const settingsTable = (object) => tableOf(Object.entries(object).map(([name, value]) =>
  [name, typeof value === "string" ? value : JSON.stringify(value)]), null, "settings");

function valuesTable(values) {
  const rows = Object.entries(values).map(([key, v]) => [key, number(v.median),
    v.min === v.max ? "" : interval([v.min, v.max]), "n" in v ? seedsOf(v) : "", hasTheory(v) ? number(v.theory) : ""]);
  return box("div", "wide",
    tableOf(rows, [word("quantity"), word("value"), "[min, max]", word("n"), word("theory")]));
}

const folded = (title, content, open = false) =>
  make("details", { className: "fold", open }, textIn("summary", title), content);
const metText = ({ expectations }) =>
  `${word("expectations")}: ${word("met")(expectations.filter((e) => e.ok).length, expectations.length)}`;

// The validation loss and the like of a training; of several seeds the mean and its interval.
function headline(run) {
  const range = (name) => (run[`${name}_interval_99`] ? ` ${interval(run[`${name}_interval_99`])}` : "");
  const names = Object.keys(words.en.headline).filter((name) => isNumber(run[name]));
  return names.length ? box("dl", "headline", ...names.flatMap((name) =>
    [textIn("dt", word("headline")[name]), textIn("dd", number(run[name]) + range(name))])) : null;
}

// A duel's: its sentence, both sides, and which facts explain it, or that none of them does.
function answerOf({ a, b, rows, reasons, ...answer }) {
  const explained = reasons.filter((reason) => reason.explains);
  const shown = explained.length ? explained : reasons;
  return box("div", "answer", textIn("p", inLanguage(answer, "headline")),
    tableOf(rows.map((row) => [inLanguage(row, "name"), row.a, row.b]), ["", a, b]),
    shown.length ? textIn("h3", word(explained.length ? "why" : "unexplained")) : "",
    box("ul", "", ...shown.map((reason) => textIn("li", inLanguage(reason, "text")))));
}

function expectationsList(run) {
  return box("ul", "expectations", ...run.expectations.map(({ name, ok, detail }) =>
    box("li", ok ? "good" : "bad", textIn("b", name), ` ${word(ok ? "yes" : "no")}: ${detail}`)));
}

function runBody(run) {
  const body = box("div", "body"), add = (...children) => body.append(...children.filter(Boolean));
  const claims = data.claims.filter((claim) => claim.parts.some((part) => part.run === run.name));
  if (claims.length) {
    const line = textIn("p", word("bears") + " ", "note");
    claims.forEach((claim, i) => line.append(i ? ", " : "", claimLink(claim)));
    add(line);
  }
  add(headline(run), run.answer && answerOf(run.answer));
  const charts = figures.filter(({ dataset }) => dataset.run === run.name).map(readable);
  if (charts.length) add(box("div", "figures", ...charts));
  if (run.sample) add(textIn("h3", word("sample")), textIn("pre", run.sample, "sample"));
  if (run.expectations.length) add(folded(metText(run), expectationsList(run)));
  if (Object.keys(run.values ?? {}).length) add(folded(word("values"), valuesTable(run.values), run.named));
  add(folded(word("settings"), settingsTable(run.configuration)));
  if (run.environment) add(folded(word("environment"), settingsTable(run.environment)));
  return body;
}

const runLine = (run) => [run.program, run.expectations.length && metText(run),
  run.seconds && word("took")(run.seconds)].filter(Boolean).join(" · ");

// Runs that belong to claims, each behind a click.
function runsSection(runs) {
  const section = make("section", { id: "runs", className: "appendix" }, textIn("h2", word("runs")),
    textIn("p", word("runsIntro"), "note"));
  for (const run of runs) {
    const summary = make("summary", { id: runId(run) }, textIn("b", run.name), small(` ${runLine(run)}`));
    section.append(unfolding(box("details", "run", summary), runId(run), () => runBody(run)));
  }
  for (const { name, reason } of data.missing)
    section.append(textIn("p", `${name}: ${word("not tested")}: ${reason}`, "note"));
  if (Object.keys(data.environment).length)
    section.append(folded(word("environment"), settingsTable(data.environment)));
  return section;
}

// A run that the reader named: its page, or a chapter of its own.
function studySection(run, alone) {
  const body = runBody(run), about = word("studies")[run.program] ?? word("study")(run.program);
  if (alone) body.append(folded(word("environment"), settingsTable(data.environment)));
  return make("section", { id: runId(run), className: "study" },
    alone ? textIn("h1", run.program) : textIn("h2", run.name), textIn("p", (alone ? run.name + " · " : "") + runLine(run), "byline"),
    data.claims.length ? textIn("p", about) : "", body);
}

// The charts of one study that several runs have, where the reader named one of these.
function comparisons() {
  const shown = figures.filter((figure) => figure.className === "comparison").map(comparisonFigure);
  return shown.length ? make("section", { id: "comparison" }, textIn("h2", word("comparison")),
    box("div", "figures", ...shown)) : null;
}
