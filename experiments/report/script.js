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
const verdicts = ["confirmed", "refuted", "partly", "no source found", "not run here", "cited"];
const chosen = new Set(verdicts);
let query = "";

const textOf = (claim) => inLanguage(claim, "claim");
// What programs say of figures, "at most 1e-12", in the page's language.
const phrase = (text) => words[lang].phrases.reduce((said, [english, other]) => said.replace(english, other), text);

const inLanguage = (object, field) => (lang === "zh" && object[field + "_zh"]) || object[field];

function partItem(part) {
  const item = make("li", {}, make("strong", { textContent: inLanguage(part, "says") }));
  if (part.not_run) {
    item.append(` ${word("not run here")}: ${phrase(part.not_run)}`);
    return item;
  }
  const theory = part.theory === null ? "" : `; ${word("theory")} ${shortNumber(part.theory)}`;
  item.append(` ${word(part.holds ? "holds" : "fails")}: ${word("measured")} ${phrase(part.measured)}; ` +
    `${word("wanted")} ${phrase(part.wanted)} (${inLanguage(part, "why")})${theory}`);
  return item;
}

// A claim opened: its parts and what they leave out, or the reason why there are none; and its charts.
function claimDetails(claim) {
  if (!claim.parts.length) return [make("p", { className: "parts", textContent: inLanguage(claim, "note") || claim.reason })];
  const details = [make("ul", { className: "parts" }, ...claim.parts.map(partItem))];
  if (claim.note)
    details.push(make("p", { className: "parts", textContent: `${word("left out")}: ${inLanguage(claim, "note")}` }));
  const charts = links("charts", chartsOf(claim).map(({ run, plot }) =>
    make("a", { href: "#" + chartId(run, plot), textContent: `${run.name}: ${plot.key}`, title: plot.title })));
  return charts ? [...details, charts] : details;
}

function claimRow(claim) {
  const details = make("details", {}, make("summary", { id: "claim-" + claim.id, textContent: textOf(claim) }),
    ...claimDetails(claim));
  const verdict = make("td", { className: "verdict", textContent: word(claim.verdict) });
  verdict.dataset.verdict = claim.verdict;
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
