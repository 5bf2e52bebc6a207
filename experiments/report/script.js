"use strict";
// Fills the page from the data that the report put into it. Nothing is fetched.
const data = JSON.parse(document.getElementById("data").textContent);
for (const { plots } of data.runs)  // curves without a point that can be drawn are left out
  for (const plot of plots) plot.curves = plot.curves.filter((curve) => rowsOf({ ...plot, curves: [curve] }).length);
let lang = document.documentElement.lang;
const word = (key) => words[lang][key] ?? key;
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// --- claims
const verdicts = ["confirmed", "refuted", "partly", "too few seeds", "machine too busy", "not borne out on this CPU",
  "by definition", "true by its source", "false by its source", "partly by its source", "cited, not checked",
  "not run here"].filter((verdict) => data.claims.some((claim) => claim.verdict === verdict));
const chosen = new Set(verdicts);
let query = "";

const inLanguage = (object, field) => (lang === "zh" && object[field + "_zh"]) || object[field];
const textOf = (claim) => inLanguage(claim, "claim");
// What programs say of runs that could not be made, in the page's language.
const phrase = (text) => words[lang].phrases.reduce((said, [english, other]) => said.replace(english, other), text);

function partItem(part) {
  const item = make("li", {}, make("strong", { textContent: inLanguage(part, "says") }));
  if (part.corpus) item.append(` (${part.corpus})`);
  if (part.not_run) {
    item.append(` ${word("not run here")}: ${phrase(part.not_run)}`);
    return item;
  }
  const printed = part.printed === null ? "" : `${word("printed")} ${part.printed}; `;
  const theory = part.theory === null ? "" : `; ${word("theory")} ${shortNumber(part.theory)}`;
  const needed = part.seeds_needed ? `; ${word("needed")(part.seeds_needed)}` : "";
  item.append(` ${word(part.outcome)}: ${printed}${word("measured")} ${inLanguage(part, "measured")}; ` +
    `${word("wanted")} ${inLanguage(part, "wanted")} (${inLanguage(part, "why")})${theory}${needed}`);
  return item;
}

function passageItem(passage) {
  const source = make("a", { href: passage.address, textContent: passage.title });
  return make("li", {}, source, ": ", make("q", { textContent: passage.quote }),
    ` ${inLanguage(passage, "reading")} (${word("read")(passage.read)})`);
}

// The sentence as printed, its translation, and where it stands.
function quotation(claim) {
  const source = data.sources[claim.source.split(",")[0]];
  const lines = [make("q", { lang: source && source.title_en ? "zh" : "en", textContent: claim.quote })];
  if (claim.quote_en) lines.push(make("br"), make("q", { lang: "en", textContent: claim.quote_en }));
  if (source) {
    const title = (lang === "en" && source.title_en) || source.title;
    const place = source.address.startsWith("http") ? make("a", { href: source.address, textContent: title }) : title;
    lines.push(make("br"), place, ` (${source.author}, ${source.date})`);
  }
  return make("blockquote", {}, ...lines);
}

// A claim opened: the quotation, its parts or passages and what they leave out, and its charts.
function claimDetails(claim) {
  const details = [];
  const say = (text) => details.push(make("p", { className: "parts", textContent: text }));
  if (claim.quote) details.push(quotation(claim));
  for (const label of ["implied", "no_source"])
    if (claim[label]) say(`${word(label)}: ${inLanguage(claim, label)}`);
  if (claim.full)
    say(`${word("full")(claim.full.date)}: ${word(claim.full.verdict)}. ${inLanguage(claim.full, "reason")}`);
  const items = [...claim.parts.map(partItem), ...(claim.passages ?? []).map(passageItem)];
  if (items.length) details.push(make("ul", { className: "parts" }, ...items));
  if (claim.note) say(items.length ? `${word("left out")}: ${inLanguage(claim, "note")}` : inLanguage(claim, "note"));
  const charts = links("charts", chartsOf(claim).map(({ run, plot }) =>
    make("a", { href: "#" + chartId(run, plot), textContent: `${run.name}: ${plot.key}`, title: plot.title })));
  return charts ? [...details, charts] : details;
}

function claimRow(claim) {
  const details = make("details", {}, make("summary", { id: "claim-" + claim.id, textContent: textOf(claim) }),
    ...claimDetails(claim));
  const verdict = make("td", { className: "verdict", textContent: word(claim.verdict) });
  verdict.dataset.verdict = claim.verdict;
  if (claim.full) verdict.append(make("small", { textContent: ` ${word("full")(claim.full.date)}: ${word(claim.full.verdict)}` }));
  return make("tr", {}, make("td", { textContent: claim.id }), make("td", { textContent: claim.source }),
    make("td", {}, details), verdict);
}

// Shows a claim that a link is about to lead to, whatever the filters hide.
function openClaim(id) {
  query = "";
  verdicts.forEach((verdict) => chosen.add(verdict));
  showFilters();
  showClaims();
  document.getElementById("claim-" + id).parentElement.open = true;
}

function showClaims() {
  const fits = (claim) => chosen.has(claim.verdict) &&
    `${claim.id} ${claim.claim} ${claim.claim_zh ?? ""} ${claim.quote ?? ""} ${claim.quote_en ?? ""} ${claim.reason}`.toLowerCase().includes(query);
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

// --- runs
function showRuns() {
  const section = document.getElementById("runs");
  section.querySelectorAll("details, .missing").forEach((old) => old.remove());
  for (const run of data.runs) {
    const met = run.expectations.filter((e) => e.ok).length;
    const line = `${run.name}: ${run.program}; ${met}/${run.expectations.length} ${word("expectations")}`;
    const parts = ["configuration", "environment", "timing"].map((name) =>
      make("div", {}, make("h3", { textContent: word(name) }),
        make("pre", { textContent: JSON.stringify(run[name], null, 1) })));
    section.append(make("details", {}, make("summary", { textContent: line }), ...parts));
  }
  for (const { name, reason } of data.missing)
    section.append(make("p", { className: "missing", textContent: `${name}: ${word("not run here")}: ${reason}` }));
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
