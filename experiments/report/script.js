"use strict";
// Builds the page from the data that the report put into it. Nothing is fetched.
const data = JSON.parse(document.getElementById("data").textContent);
let lang = document.documentElement.lang, query = "";
const word = (key) => words[lang][key] ?? key;
const inLanguage = (object, field) => (lang === "zh" && object[field + "_zh"]) || object[field] || "";
// What studies write in English, in the page's language.
const phrase = (text) => words[lang].phrases.reduce((said, [english, other]) => said.replace(english, other), text);
const runId = (run) => `run-${run.name}`.replace(/[^\w.-]+/g, "-");
const seen = verdictOrder.filter((verdict) => data.claims.some((claim) => claim.verdict === verdict));
const chosen = new Set(seen);
for (const claim of data.claims) claim.text = searchText(claim);

// --- the counts of verdicts: one bar whose parts are named by the buttons below it, which filter
function verdictBar(claims, className) {
  if (claims.length < 2) return null;
  const bar = make("div", { className: `stack ${className}` });
  const counted = verdictOrder.map((verdict) => [verdict, claims.filter((claim) => claim.verdict === verdict).length]).filter(([, n]) => n);
  for (const [verdict, n] of counted) {
    const piece = make("span", { className: kindOf(verdict), title: `${word(verdict)}: ${n}`, textContent: className === "large" && n > 2 ? n : "" });
    piece.style.flexGrow = n;
    if (verdict !== "confirmed" && verdict !== "partly" && verdict !== "refuted") piece.classList.add("pale");
    bar.append(piece);
  }
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", counted.map(([verdict, n]) => `${word(verdict)}: ${n}`).join(", "));
  return bar;
}

function verdictButtons() {
  const group = make("div", { className: "chips", id: "filters" });
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", word("verdicts"));
  for (const verdict of seen) {
    const count = data.claims.filter((claim) => claim.verdict === verdict).length;
    const button = make("button", { type: "button", className: `chip ${kindOf(verdict)}` }, make("i"), make("b", { textContent: count }), ` ${word(verdict)}`);
    button.dataset.verdict = verdict;
    if (!["confirmed", "partly", "refuted"].includes(verdict)) button.classList.add("pale");
    button.setAttribute("aria-pressed", chosen.size < seen.length && chosen.has(verdict));
    button.onclick = () => {  // the first click shows these alone
      if (chosen.size === seen.length) chosen.clear();
      if (!chosen.delete(verdict)) chosen.add(verdict);
      if (!chosen.size) seen.forEach((one) => chosen.add(one));
      group.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", chosen.size < seen.length && chosen.has(b.dataset.verdict)));
      filter();
    };
    group.append(button);
  }
  return group;
}

// --- the first screen
function heroClaim() {
  const series = data.claims.filter((claim) => seriesOf(claim));
  return series.find((claim) => seriesOf(claim).length === Math.max(...series.map((one) => one.parts.length)));
}

function hero(claim) {
  const source = data.sources[claim.source.split(",")[0]], measured = claim.parts.some(isMeasured);
  const caption = make("figcaption", {}, make("b", {}, word("hero")(source ? word("by")(source.author) : claim.source),
    inLanguage(claim, "claim")), measured ? word("heroKey")(claim.parts[0].n) : word("heroPending"), " ", claimLink(claim));
  const figure = plotFigure(seriesPlot(claim), { caption, height: 330, labelled: true });
  figure.classList.add("hero");
  return figure;
}

// What the marks of the small charts mean.
function rowKey() {
  const sample = (...marks) => svg("svg", { viewBox: "0 0 22 14", width: 22, height: 14, "aria-hidden": true }, ...marks);
  const line = make("p", { className: "note key" }, word("key") + " ");
  line.append(
    make("span", {}, sample(diamond(11, 7)), word("printed")), make("span", {}, sample(dot(11, 7)), word("measured")),
    make("span", {}, sample(svg("rect", { class: "interval", x: 1, y: 4, width: 20, height: 7, rx: 2 })), word("interval")),
    make("span", {}, sample(svg("path", { class: "tickmark", d: "M11 0V14" })), word("theory")),
    make("span", {}, sample(svg("rect", { class: "zone", x: 1, y: 0, width: 20, height: 14 })), word("asked")));
  return line;
}

function meanings() {
  const list = make("dl", { className: "meanings" }, ...seen.flatMap((verdict) =>
    [make("dt", {}, badge(verdict)), make("dd", { textContent: words[lang].meaning[verdict] })]));
  return make("details", { className: "fold" }, make("summary", { textContent: word("meanings") }), list);
}

function firstScreen() {
  const most = Math.max(0, ...data.claims.flatMap((claim) => claim.parts.map((part) => part.n ?? 0)));
  const first = make("section", { id: "top", className: "first" }, make("h1", { textContent: word("title") }),
    make("p", { className: "lead", textContent: word("lead")(data.claims.length, word("texts")(Object.keys(data.sources).length), word("seedsUpTo")(most),
      Object.values(data.sources).some((source) => source.file)) }));
  if (data.progress) {
    const { done, of, seconds_left: left } = data.progress;
    const line = make("p", { className: "progress", textContent: word("progress")(done, of) + (finite(left) ? word("left")(left) : "") + word("reload") });
    first.append(line, Object.assign(make("progress"), { max: of, value: done }));
    line.setAttribute("role", "status");
  }
  const claim = heroClaim();
  const counts = make("div", { className: "counts" }, verdictBar(data.claims, "large"), verdictButtons());
  if (claim) first.append(hero(claim));
  first.append(counts, rowKey(), meanings(), make("p", { id: "shown", className: "note" }));
  first.lastChild.setAttribute("role", "status");
  return first;
}

// --- a chapter for each text
function chapter(source, claims) {
  const title = make("h2", {}, make("span", { textContent: lang === "en" && source.title_en ? source.title_en : source.title, lang: lang === "en" && source.title_en ? "en" : "zh" }));
  if (lang === "en" && source.title_en) title.append(make("small", { lang: "zh", textContent: source.title }));
  const byline = make("p", { className: "byline" }, `${source.id} · ${word("by")(source.author)} · ${word("date")(source.date)} · `,
    source.address.startsWith("http") ? make("a", { href: source.address, textContent: word("read") }) : word("addressUnknown"));
  const head = make("div", { className: "row head" }, ...["id", "says", "", "printedOrAsked", "measured", "theory", "verdict"].map((name) =>
    make("span", { className: `cell ${name || "mini"}`, textContent: name && word(name) })));
  head.setAttribute("aria-hidden", true);
  return make("section", { className: "chapter", id: "text-" + source.id }, title, byline, verdictBar(claims, "thin"), prose(claims), head,
    ...claims.map(claimRow));
}

const shortAuthor = ({ author }) => (author === "unknown" ? "" : author.replace(/ \(.*/, ""));
const sourceOf = (id) => data.sources[id] ?? { id, title: id, author: "unknown", date: "unknown", address: "unknown" };
function chapters() {
  const ids = [...new Set([...Object.keys(data.sources), ...data.claims.map((claim) => claim.source.split(",")[0])])].sort();
  return ids.map((id) => [id, data.claims.filter((claim) => claim.source.split(",")[0] === id)]).filter(([, claims]) => claims.length);
}

function filter() {
  const all = chosen.size === seen.length && !query;
  let shown = 0;
  document.querySelectorAll("details.claim").forEach((row) => {
    row.hidden = !(chosen.has(row.claim.verdict) && row.claim.text.includes(query));
    shown += !row.hidden;
  });
  document.querySelectorAll(".chapter").forEach((section) => {
    section.hidden = !section.querySelector("details.claim:not([hidden])");
    section.classList.toggle("filtered", !all);
  });
  document.body.classList.toggle("searching", Boolean(query));
  const line = document.getElementById("shown");
  if (line) line.textContent = all ? "" : shown ? word("shown")(shown, data.claims.length) : word("none");
}

// --- runs
function settingsTable(object) {
  return make("table", { className: "settings" }, make("tbody", {}, ...Object.entries(object).map(([name, value]) =>
    make("tr", {}, make("th", { textContent: name, scope: "row" }), make("td", { textContent: typeof value === "string" ? value : JSON.stringify(value) })))));
}

function valuesTable(values) {
  const cell = (tag, text) => make(tag, { textContent: text });
  const rows = Object.entries(values).map(([key, v]) => make("tr", {}, make("th", { textContent: key, scope: "row" }),
    cell("td", number(v.median)), cell("td", v.min === v.max ? "" : `[${number(v.min)}, ${number(v.max)}]`), cell("td", String(v.n ?? "")),
    cell("td", v.theory === undefined || v.theory === null ? "" : number(v.theory))));
  return make("div", { className: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, cell("th", word("quantity")), cell("th", word("value")),
    cell("th", "[min, max]"), cell("th", word("n")), cell("th", word("theory")))), make("tbody", {}, ...rows)));
}

function runBody(run) {
  const body = make("div", { className: "body" }), claims = data.claims.filter((claim) => claim.parts.some((part) => part.run === run.name));
  const folded = (title, content, open = false) => body.append(make("details", { className: "fold", open }, make("summary", { textContent: title }), content));
  if (claims.length) {
    const line = make("p", { className: "note" }, word("bears") + " ");
    claims.forEach((claim, i) => line.append(i ? ", " : "", claimLink(claim)));
    body.append(line);
  }
  const headline = Object.entries(words.en.headline).filter(([name]) => finite(run[name]));
  if (headline.length) body.append(make("dl", { className: "headline" }, ...headline.flatMap(([name]) =>
    [make("dt", { textContent: word("headline")[name] }), make("dd", { textContent: number(run[name]) })])));
  const figures = [...run.plots.map((plot) => plotFigure(plot)), ...run.heatmaps.map(heatmapFigure), ...run.ridges.map(ridgesFigure)].filter(Boolean);
  if (figures.length) body.append(make("div", { className: "figures" }, ...figures));
  if (run.sample) body.append(make("h3", { textContent: word("sample") }), make("pre", { className: "sample", textContent: run.sample }));
  if (run.expectations.length) {
    const met = run.expectations.filter((e) => e.ok).length;
    folded(`${word("expectations")}: ${word("met")(met, run.expectations.length)}`, make("ul", { className: "expectations" },
      ...run.expectations.map((e) => make("li", { className: e.ok ? "good" : "bad" }, make("b", { textContent: e.name }), ` ${word(e.ok ? "yes" : "no")}: ${e.detail}`))));
  }
  if (run.values && Object.keys(run.values).length) folded(word("values"), valuesTable(run.values), run.named);
  folded(word("settings"), settingsTable(run.configuration));
  if (run.environment) folded(word("environment"), settingsTable(run.environment));
  return body;
}

const runLine = (run) => [run.program, run.expectations.length ? `${word("expectations")}: ${word("met")(run.expectations.filter((e) => e.ok).length, run.expectations.length)}`
  : "", run.seconds ? word("took")(run.seconds) : ""].filter(Boolean).join(" · ");

// Runs that belong to claims, each behind a click.
function runsSection(runs) {
  const section = make("section", { id: "runs", className: "appendix" }, make("h2", { textContent: word("runs") }),
    make("p", { className: "note", textContent: word("runsIntro") }));
  for (const run of runs) {
    const details = make("details", { className: "run" }, make("summary", { id: runId(run) }, make("b", { textContent: run.name }),
      make("small", { textContent: " " + runLine(run) })));
    section.append(unfolding(details, runId(run), () => runBody(run)));
  }
  for (const { name, reason } of data.missing)
    section.append(make("p", { className: "note", textContent: `${name}: ${word("not run here")}: ${reason}` }));
  if (Object.keys(data.environment).length)
    section.append(make("details", { className: "fold" }, make("summary", { textContent: word("environment") }), settingsTable(data.environment)));
  return section;
}

// A run that the reader named: its page, or a chapter of its own.
function studySection(run, alone) {
  return make("section", { id: runId(run), className: "study" }, alone ? make("h1", { textContent: run.program }) : make("h2", { textContent: run.name }),
    make("p", { className: "byline", textContent: (alone ? run.name + " · " : "") + runLine(run) }), runBody(run));
}

// The plots of one study with one key, where two runs or more bring one and the reader named one of these.
function comparisons() {
  const groups = new Map();
  for (const run of data.runs)
    for (const plot of run.plots) {
      const key = `${run.program} ${plot.key}`;
      groups.set(key, [...(groups.get(key) ?? []), { run, plot }]);
    }
  const shown = [...groups.values()].filter((group) => group.length > 1 && group.some(({ run }) => run.named));
  if (!shown.length) return null;
  return make("section", { id: "comparison" }, make("h2", { textContent: word("comparison") }),
    make("div", { className: "figures" }, ...shown.map(comparisonFigure)));
}

// --- the page
let filling = 0;
function build() {
  document.documentElement.lang = lang;
  watcher.disconnect();
  const page = document.getElementById("page"), named = data.runs.filter((run) => run.named), others = data.runs.filter((run) => !run.named);
  const parts = data.claims.length ? [firstScreen(), ...chapters().map(([id, claims]) => chapter(sourceOf(id), claims))] : [];
  const compared = comparisons();
  if (compared) parts.push(compared);
  parts.push(...named.map((run) => studySection(run, !data.claims.length && named.length === 1)));
  if (others.length || data.claims.length) parts.push(runsSection(others));
  parts.push(make("footer", { className: "note", textContent: word("foot")(`${data.command} report`, data.claims.length) }));
  page.replaceChildren(...parts);
  const nav = document.querySelector("nav");
  nav.setAttribute("aria-label", word("contents"));
  nav.replaceChildren(...(data.claims.length ? chapters().map(([id]) => 
      make("a", { href: "#text-" + id, textContent: [id, shortAuthor(sourceOf(id))].join(" ").trim(), title: inLanguage(sourceOf(id), "title") })) : []),
    ...(document.getElementById("runs") ? [make("a", { href: "#runs", textContent: word("runs") })] : []));
  const search = document.getElementById("search");
  search.hidden = !data.claims.length;
  search.placeholder = word("search");
  search.setAttribute("aria-label", word("search"));
  document.querySelectorAll("[data-lang]").forEach((b) => b.setAttribute("aria-pressed", b.dataset.lang === lang));
  document.title = data.claims.length ? `Isobar: ${word("title")}` : `Isobar: ${named.map((run) => run.program).join(", ")}`;
  showTheme();
  filter();
  clearTimeout(filling);  // the browser's own search finds what stands behind a click, too
  filling = setTimeout(() => document.querySelectorAll("details.claim").forEach((row) => row.fill()), 200);
}

// The same place in the other language: the element at the top of the window stays there.
function speak(other) {
  const top = [...document.querySelectorAll("#page summary[id], #page section[id]")].reverse()
    .find((element) => element.offsetParent && element.getBoundingClientRect().top < 120);
  const at = top?.getBoundingClientRect().top;
  lang = other;
  build();
  const again = top && document.getElementById(top.id);
  if (again && top.id !== "top") scrollBy({ top: again.getBoundingClientRect().top - at, behavior: "instant" });
}
document.querySelectorAll("[data-lang]").forEach((button) => { button.onclick = () => speak(button.dataset.lang); });

const themes = ["auto", "light", "dark"];
function showTheme() {
  const now = document.documentElement.dataset.theme ?? "auto", button = document.getElementById("theme");
  button.textContent = `◐ ${word("theme")[now]}`;
  button.setAttribute("aria-label", `${word("themeLabel")}: ${word("theme")[now]}`);
}
document.getElementById("theme").onclick = () => {
  const root = document.documentElement;
  root.dataset.theme = themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % 3];
  showTheme();
};

// Opens what a link leads to, and goes there; claims that are filtered out come back.
function follow(hash) {
  const target = document.getElementById(decodeURIComponent(hash.slice(1)));
  const details = target?.closest("details");
  if (!details) return;
  if (details.hidden) {
    query = document.getElementById("search").value = "";
    seen.forEach((verdict) => chosen.add(verdict));
    filter();
  }
  details.open = true;
  target.scrollIntoView({ block: "start", behavior: "instant" });
  target.focus({ preventScroll: true });
}
addEventListener("hashchange", () => follow(location.hash));
document.addEventListener("click", (event) => {  // also where the address is there already
  const hash = event.target.closest?.("a[href^='#']")?.getAttribute("href");
  if (hash && hash === location.hash) follow(hash);
});

// Keys: / goes to the search, Enter from there to the first claim found, which opens.
const search = document.getElementById("search");
search.oninput = () => { query = search.value.trim().toLowerCase(); filter(); };
search.onkeydown = (event) => {
  const first = document.querySelector("details.claim:not([hidden])");
  if (event.key === "Escape") { search.value = query = ""; filter(); }
  if (event.key !== "Enter" || !first) return;
  event.preventDefault();  // the key is not for what has the focus next
  first.open = true;
  first.firstElementChild.scrollIntoView({ block: "start", behavior: "instant" });
  first.firstElementChild.focus({ preventScroll: true });
};
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input")) return;
  event.preventDefault();
  search.focus();
});

// On paper everything is open, and each chart stands once: with its run.
let closed = [];
addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((details) => details.fill?.());
  closed = [...document.querySelectorAll("details:not([open]):not(.values)")];
  for (const details of closed) details.open = true;
  document.querySelectorAll(".drawing").forEach((drawing) => drawing.redraw(drawing.closest(".hero") ? 680 : 480));
});
addEventListener("afterprint", () => {
  for (const details of closed) details.open = false;
  document.querySelectorAll(".drawing").forEach((drawing) => { if (drawing.clientWidth) drawing.redraw(drawing.clientWidth); });
});

build();
if (location.hash) follow(location.hash);
