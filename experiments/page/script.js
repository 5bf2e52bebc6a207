"use strict";
// Builds the page from the data that the report put into it. Nothing is fetched.
const data = JSON.parse(document.getElementById("data").textContent);
let lang = document.documentElement.lang, query = "";
const word = (key) => words[lang][key] ?? key;
const inLanguage = (object, field) => (lang === "zh" && object[field + "_zh"]) || object[field] || "";
// What messages say in English, in the page's language.
const phrase = (text) => words[lang].phrases.reduce((said, [from, to]) => said.replace(from, to), text);
const runId = (run) => `run-${run.name}`.replace(/[^\w.-]+/g, "-");
const seen = classes.filter((name) => countOf(data.claims, name));
const chosen = new Set(seen);
for (const claim of data.claims) claim.text = searchText(claim);

// --- the counts of verdicts: one bar whose parts are named by the buttons below it, which filter
function verdictBar(claims, className) {
  if (claims.length < 2) return null;
  const bar = box("div", `stack ${className}`);
  const counted = classes.map((name) => [name, countOf(claims, name)]).filter(([, n]) => n);
  for (const [name, n] of counted) {
    const piece = textIn("span", className === "large" && n > 0.03 * claims.length ? n : "", kindOf(name));
    piece.title = `${word(name)}: ${n}`;
    piece.style.flexGrow = n;
    bar.append(piece);
  }
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", counted.map(([name, n]) => `${word(name)}: ${n}`).join(", "));
  return bar;
}

function verdictButtons() {
  const group = make("div", { className: "chips", id: "filters" });
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", word("verdicts"));
  for (const name of seen) {
    const button = make("button", { type: "button", className: `chip ${kindOf(name)}` }, make("i"),
      textIn("b", countOf(data.claims, name)), ` ${word(name)}`);
    button.dataset.verdict = name;
    button.onclick = () => {  // the first click shows these alone
      if (chosen.size === seen.length) chosen.clear();
      if (!chosen.delete(name)) chosen.add(name);
      if (!chosen.size) seen.forEach((one) => chosen.add(one));
      filter();
    };
    group.append(button);
  }
  return group;
}

// --- the first screen
function hero() {
  const source = figures.find((one) => one.className === "hero"), claim = data.claims[source?.dataset.claim];
  if (!claim) return null;
  const author = data.sources[textOf(claim)]?.author, measured = claim.parts.some(isMeasured);
  const figure = readable(source);
  figure.querySelector("figcaption").replaceChildren(
    make("b", {}, word("hero")(author ? word("by")(author) : claim.source), inLanguage(claim, "claim")),
    measured ? word("heroKey")(claim.parts[0].n) : word("heroPending"), " ", claimLink(claim));
  return figure;
}

// What was found: sentences, each with the claim that it rests on, where the page has these claims.
function foundList() {
  const idsIn = (sentence) => sentence.en.match(/\b[A-Z]\d\d\b/g) ?? [];
  const claimOf = (id) => data.claims.find((claim) => claim.id === id && claim.parts.length);
  const sentences = data.found.filter((sentence) => idsIn(sentence).every(claimOf));
  const withLinks = (text) => text.split(/\b([A-Z]\d\d)\b/).map((piece, i) => (i % 2 ? claimLink(claimOf(piece)) : piece));
  return sentences.length < 3 ? null : box("div", "found", textIn("h2", word("found")),
    box("ul", "", ...sentences.map((sentence) => box("li", "", ...withLinks(lang === "zh" ? sentence.zh : sentence.en)))),
    data.article && box("p", "", Object.assign(textIn("a", word("article")), { href: data.article })));
}

// What the marks of the small charts mean.
function rowKey() {
  const line = box("p", "note key", word("key") + " ");
  const sample = document.getElementById("marks").content;
  for (const s of sample.children) line.append(make("span", {}, s.cloneNode(true), word(s.dataset.word)));
  return line;
}

function meanings() {
  const tags = ["proof", "source", "measured", "measured here", "kept value", "any net", "before training", "this CPU",
    "small nets, many settings", "small nets, one setting"]
    .filter((tag) => data.claims.some((claim) => tagsOf(claim).includes(tag)));
  const list = box("dl", "meanings", ...[...seen, ...tags].flatMap((name) =>
    [make("dt", {}, badge(name)), textIn("dd", words[lang].meaning[name])]));
  return folded(word("meanings"), list);
}

function firstScreen() {
  const most = Math.max(0, ...data.claims.flatMap((claim) => claim.parts.map((part) => (part.pooled || part.settings ? 0 : part.n ?? 0))));
  const sources = Object.values(data.sources), own = sources.some((source) => source.file);
  const ids = chapters().map(([source]) => source.id), papers = !own && ids.length > 1 && ids.includes("005");
  const texts = papers
    ? word("texts")(ids.filter((id) => id < "005").length) + word("papers")(ids.filter((id) => id > "005").length)
    : word("texts")(ids.length);
  const lead = word("lead")(data.claims.length, texts, word("seedsUpTo")(most), own);
  const first = make("section", { id: "top", className: "first" }, textIn("h1", word("title")),
    textIn("p", lead, "lead"));
  const kept = data.claims.filter(isKept).length;
  if (kept) first.append(textIn("p", word("keptClaims")(data.claims.filter(isHere).length, kept), "note"));
  if (data.progress) {
    const { done, of, seconds_left: left } = data.progress;
    const line = word("progress")(done, of) + (finite(left) ? word("left")(left) : "") + word("reload");
    first.append(textIn("p", line, "progress"),
      make("progress", { max: of, value: done, ariaLabel: word("progress")(done, of) }));
  }
  const chart = hero();
  const counts = box("div", "counts", verdictBar(data.claims, "large"), verdictButtons());
  const found = foundList();
  if (found) first.append(found);
  if (chart) first.append(chart);
  first.append(counts, rowKey(), meanings(), make("p", { id: "shown", className: "note" }));
  first.lastChild.setAttribute("role", "status");
  return first;
}

// --- a chapter for each text
function chapter(source, claims) {
  const translated = lang === "en" && source.title_en, original = source.title_en ? "zh" : "";
  const title = translated ? make("h2", {}, source.title_en, make("small", { lang: original }, source.title))
    : make("h2", { lang: original, textContent: source.title });
  const byline = box("p", "byline", `${source.id} · ${word("by")(source.author)} · ${word("date")(source.date)} · `);
  const link = leads(source.address), unknown = source.author === "unknown" && source.address === "unknown";
  byline.append(link ? make("a", { href: source.address }, word("read")) : word("address")(source.address));
  if (source.registered) byline.append(` · ${word("registered")(source.registered)}`);
  if (unknown && source.file === "") byline.append(` (${word("unsigned")})`);
  const columns = ["id", "says", "", "printedOrAsked", "measured", "theory", "verdict"];
  const head = make("div", { className: "row head", ariaHidden: true },
    ...columns.map((name) => textIn("span", name && word(name), `cell ${name || "mini"}`)));
  const rows = claims.filter((claim) => !isIdentity(claim)), identities = claims.filter(isIdentity);
  return make("section", { className: "chapter", id: "text-" + source.id }, title, byline,
    verdictBar(claims, "thin"), prose(claims), head, ...rows.map(claimRow),
    identities.length ? identitiesFold(identities) : "");
}

const shortAuthor = ({ author: a }) => (a === "unknown" ? word("anonymous") : a.replace(/ \(.*/, "").replace(/,.*/, " …"));
const sourceOf = (id) => data.sources[id] ?? { id, title: id, author: "unknown", date: "unknown", address: "unknown" };
// [source, its claims] of each text that has claims.
function chapters() {
  const ids = [...new Set(data.claims.map(textOf))].sort();
  return ids.map((id) => [sourceOf(id), byInterest(data.claims.filter((claim) => textOf(claim) === id))]);
}

function filter() {
  const all = chosen.size === seen.length && !query;
  let shown = 0;
  document.querySelectorAll("details.claim").forEach((row) => {
    row.hidden = !(chosen.has(shownVerdict(row.claim)) && found(row.claim.text, query));
    shown += !row.hidden;
  });
  document.querySelectorAll(".chapter, .identities").forEach((part) => {
    part.hidden = !part.querySelector("details.claim:not([hidden])");
    part.classList.toggle("filtered", !all);
  });
  document.querySelectorAll(".identities").forEach((fold) => { fold.open = !all || Boolean(fold.querySelector("[open]")); });
  document.querySelectorAll(".study, .appendix, #comparison").forEach((section) => { section.hidden = !all; });
  document.querySelectorAll("#filters button").forEach((button) =>
    button.setAttribute("aria-pressed", chosen.size < seen.length && chosen.has(button.dataset.verdict)));
  document.body.classList.toggle("searching", Boolean(query));
  const line = document.getElementById("shown");
  if (line) line.textContent = all ? "" : shown ? word("shown")(shown, data.claims.length) : word("none");
}

// --- the page
function showContents() {
  const nav = document.querySelector("nav");
  const link = (href, textContent, title = "") => make("a", { href, textContent, title });
  nav.ariaLabel = word("contents");
  nav.replaceChildren(...chapters().map(([source]) =>
    link("#text-" + source.id, `${source.id} ${shortAuthor(source)}`, inLanguage(source, "title"))));
  if (data.claims.length) nav.append(...data.runs.filter((run) => run.named).map((run) => link("#" + runId(run), run.name)));
  if (norms) nav.append(link("#norms", spoken(norms.firstElementChild)));
  if (document.getElementById("runs")) nav.append(link("#runs", word("runs")));
}

let filling = 0;
function build() {
  document.documentElement.lang = lang;
  const named = data.runs.filter((run) => run.named), others = data.runs.filter((run) => !run.named);
  const parts = data.claims.length ? [firstScreen(), ...chapters().map((one) => chapter(...one))] : [];
  if (norms) parts.push(norms);
  const compared = comparisons();
  if (compared) parts.push(compared);
  parts.push(...named.map((run) => studySection(run, !data.claims.length && named.length === 1)));
  if (others.length || data.claims.length) parts.push(runsSection(others));
  parts.push(textIn("footer", word("foot")(`${data.command} report`, data.claims.length), "note"));
  document.getElementById("page").replaceChildren(...parts);
  showContents();
  const search = document.getElementById("search");
  search.hidden = !data.claims.length;
  search.placeholder = word("search");
  search.setAttribute("aria-label", word("search"));
  for (const b of document.querySelectorAll("[data-lang]")) b.ariaPressed = b.dataset.lang === lang;
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
  if (again && top.id !== "top") scrollBy({ top: again.getBoundingClientRect().y - at, behavior: "instant" });
}
for (const one of document.querySelectorAll("[data-lang]")) one.onclick = () => speak(one.dataset.lang);

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

// Opens what an address leads to, "#claim-D06" or "#D06", and goes there; what is filtered out comes back.
function follow(hash) {
  const name = decodeURIComponent(hash.slice(1));
  const target = [name, "claim-" + name, "claim-" + name.toUpperCase()].map((id) => document.getElementById(id)).find(Boolean);
  if (!target) return;
  if (target.closest("[hidden]")) {
    query = document.getElementById("search").value = "";
    seen.forEach((verdict) => chosen.add(verdict));
    filter();
  }
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
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
  nameInAddress(first.firstElementChild.id);
  first.firstElementChild.scrollIntoView({ block: "start", behavior: "instant" });
  first.firstElementChild.focus({ preventScroll: true });
};
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input")) return;
  event.preventDefault();
  search.focus();
});

// On paper stand the rows of what is false, opened; where there are no claims, all of a run.
let unfolded = [];
addEventListener("beforeprint", () => {
  const some = data.claims.length ? ({ claim }) => claim?.verdict === "false" : ({ className }) => className !== "values";
  unfolded = [...document.querySelectorAll("details:not([open])")].filter(some);
  for (const details of unfolded) {
    details.fill?.();
    details.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const details of unfolded) details.open = false;
  unfolded = [];
});

build();
if (location.hash) follow(location.hash);
