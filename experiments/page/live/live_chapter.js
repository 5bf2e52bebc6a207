"use strict";
// The live chapter: controls, workers that run one seed each, charts and verdicts by the module (module.cpp).

// An instance of the module; `known` is told of layers. Workers have this function too. `relaxed`: products
// by relaxed SIMD, or null.
function instanceOf({ module, relaxed }, known = {}) {
  const page = { up() {}, down() {}, stepped() {}, ...known }, imports = { page };
  let own;
  const read = (at, size) => new TextDecoder().decode(new Uint8Array(own.memory.buffer, at, size));
  page.failed = (at, size) => { throw new Error(read(at, size)); };
  page.multiply = (...of) => page.products.multiply(...of);
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    if (from !== "page") (imports[from] ??= {})[name] = () => 0;  // files of a C library, which nobody opens
  own = new WebAssembly.Instance(module, imports).exports;
  page.products = relaxed ? new WebAssembly.Instance(relaxed, { env: { memory: own.memory } }).exports : own;
  own._initialize();
  return {
    own,
    products: page.products,
    // Calls a function that takes a text and leaves one.
    call(name, given, ...numbers) {
      if (given !== undefined) {
        const bytes = new TextEncoder().encode(JSON.stringify(given));
        const at = own.input(bytes.length);
        new Uint8Array(own.memory.buffer).set(bytes, at);
      }
      own[name](...numbers);
      return read(own.text(), own.size());
    },
  };
}

// A worker's side: {code, nets} once, one or two of what begin takes; then a seed at a time, in {index, seed}.
// It reports what becomes known of the layers of net 0 or 1 in lists of [net, up, layer, std, std of the norm]
// and [net, down, layer, gradient norm].
function workerMain() {
  let instances, index, known = [], sent = 0;
  const send = (more = {}) => {
    postMessage({ index, known, ...more });
    known = [], sent = performance.now();
  };
  const report = (...what) => {
    known.push(what);
    if (performance.now() - sent > 40) send();
  };
  onmessage = ({ data: asked }) => {
    try {
      if (asked.code) {
        instances = asked.nets.map((begin, net) => {
          const instance = instanceOf(asked.code, {
            up: (...of) => report(net, "up", ...of), down: (...of) => report(net, "down", ...of) });
          instance.call("begin", begin);
          return instance;
        });
        return;
      }
      index = asked.index;
      send({ inputStds: instances.map(({ own }) => own.run(asked.seed)) });
    } catch (error) {
      postMessage({ failed: error.message });
    }
  };
}

const live = { data: JSON.parse(document.getElementById("live-data").textContent) };
const liveWord = (key) => word("live")[key];
const textSetting = { depth: 8, width: 512, batch: 32, seeds: 20, seed: 0, norm: "none", order: "norm_relu",
  topology: "plain", init: "default", loss: "sum", formula: "" };
const presets = { blog: {}, he: { init: "he_normal" }, rmsnorm: { norm: "rmsnorm" }, deep: { depth: 100 },
  deeper: { depth: 1000, width: 64 }, own: { norm: "formula", formula: "w * x / (1 + mean(abs(x)))" } };
live.setting = { ...textSetting };

// What `build` packed: two of 91 letters for 13 bits, the lowest first; a last one alone for 6.
function unpacked(text) {
  const letters = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((c) => !"<@\\".includes(c));
  const digits = new Map(letters.map((letter, i) => [letter, i])), bytes = [];
  for (let i = 0, bits = 0, held = 0; i < text.length; i += 2) {
    bits |= (digits.get(text[i]) + 91 * (digits.get(text[i + 1]) ?? 0)) << held;
    for (held += i + 1 < text.length ? 13 : 6; held >= 8; held -= 8, bits >>= 8) bytes.push(bits & 255);
  }
  return Uint8Array.from(bytes);
}

// The module, and the products by relaxed SIMD where this browser has them and they round once: (1 + 2⁻¹²)² −
// (1 + 2⁻¹¹) is 2⁻²⁴, and 0 when it is rounded twice.
async function loadCode() {
  const texts = document.getElementById("live-module").textContent.trim().split("\n").slice(1);
  const [module, relaxed] = await Promise.all(texts.map(async (text) => {
    const stream = new Blob([unpacked(text)]).stream().pipeThrough(new window.DecompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    return WebAssembly.validate(bytes) ? WebAssembly.compile(bytes) : null;
  }));
  live.code = { module, relaxed };
  live.page = instanceOf(live.code);
  if (relaxed && live.page.products.fused(1 + 2 ** -12, -1 - 2 ** -11) === 2 ** -24) return;
  live.slow = true;
  live.code.relaxed = null;
  live.page = instanceOf(live.code);
}

// --- a press

const runOf = (setting) => (setting.norm === "none" ? "blog8" : "blog8_rmsnorm");
const storedRun = () => live.data.stored.find(({ config }) =>
  config.dtype === "f32" && config.activation === "relu" && !(config.alpha >= 0)
  && Object.keys(textSetting).every((name) => (config[name] ?? "") === live.setting[name]));

function begin() {
  const { seed, formula, ...settings } = live.setting, stored = storedRun();
  const asked = { settings, formula, printed: live.data.printed[runOf(live.setting)],
    native: stored ?? { std: [], gradient: [] } };
  live.own = live.beside = null;
  try {
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`seed: wanted a whole number from 0 on, got ${seed}`);
    if (settings.norm === "formula") live.own = JSON.parse(live.page.call("formula", formula));
    live.page.call("begin", asked);
    live.error = "";
  } catch (error) {
    live.page = instanceOf(live.code);  // that one ended in the middle of a call
    live.page.call("begin", { ...asked, settings: {} });
    live.error = error.message;
  }
  Object.assign(live, { state: "ready", done: 0, bits: "", judged: null });
  return asked;
}

function endWorkers() {
  for (const worker of live.workers ?? []) worker.terminate();
  live.workers = null;
}

// RMSNorm's medians so far beside those of a formula.
function showBeside() {
  if (!live.beside) return;
  const rows = JSON.parse(live.beside.call("table"));
  live.page.call("beside", { std: rows.map(([std]) => std[0]), gradient: rows.map(([, , gradient]) => gradient[0]) });
}

// Runs the setting; a formula's beside the same with RMSNorm. Resolves to the bits, or to "" where it was
// stopped or cannot run.
function press() {
  const asked = begin(), { seeds, seed } = live.setting;
  if (live.error) return showLive(), Promise.resolve("");
  const nets = [asked], pages = [live.page], began = performance.now();
  if (asked.settings.norm === "formula") {
    nets.push({ ...asked, settings: { ...asked.settings, norm: "rmsnorm" } });
    pages.push(live.beside = instanceOf(live.code));
    live.beside.call("begin", nets[1]);
  }
  const fitting = Math.floor(2 ** 32 / live.page.own.bytes() / nets.length);  // in 4 GiB
  const count = Math.max(1, Math.min(seeds, fitting, navigator.hardwareConcurrency || 2));
  const source = `"use strict";${instanceOf}${workerMain}workerMain();`;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  let next = 0;
  history.replaceState(null, "", linkOf(live.setting));
  live.state = "running";
  live.workers = Array.from({ length: count }, () => new Worker(address));
  showLive();
  return new Promise((resolve) => {
    live.resolve = resolve;
    const give = (worker) => next < seeds && worker.postMessage({ index: next, seed: seed + next++ });
    for (const worker of live.workers) {
      worker.postMessage({ code: live.code, nets });
      worker.onmessage = ({ data: { index, known, inputStds, failed } }) => {
        if (!live.workers?.includes(worker)) return;  // of a press that was stopped
        if (failed) return finish("failed", failed);
        for (const [net, what, ...of] of known) pages[net].own[what](index, ...of);
        if (inputStds) {
          inputStds.forEach((std, net) => pages[net].own.done(index, std));
          live.done += 1;
          give(worker);
        }
        if (live.done === seeds) {
          live.seconds = (performance.now() - began) / 1000;
          live.threads = count;
          finish("finished");
        } else drawSoon();
      };
      worker.onerror = (event) => finish("failed", event.message);
      give(worker);
    }
    URL.revokeObjectURL(address);
  });
}

function finish(state, error = "") {
  endWorkers();
  Object.assign(live, { state, error });
  if (state === "finished") {
    live.bits = live.page.call("bits");
    showBeside();
    const claims = live.data.claims.filter(({ run }) => run === runOf(live.setting));
    live.judged = JSON.parse(live.page.call("judge", claims))
      .map((judged, i) => ({ ...judged, ...claims[i], parts: judged.parts }));
  }
  showLive();
  live.resolve?.(live.bits);
}

// --- links

const changedOf = (setting) => Object.entries(setting).filter(([name, value]) => value !== textSetting[name]);
const linkOf = (setting) => `#live?${new URLSearchParams(changedOf(setting))}`.replace(/\?$/, "");
function readLink() {
  if (!/^#live(\?|$)/.test(location.hash)) return false;
  if (location.hash === "#live") return true;  // it leads here, and keeps the setting
  const given = new URLSearchParams(location.hash.slice(6));
  live.setting = { ...textSetting };
  for (const [name, text] of given)
    if (Object.hasOwn(textSetting, name)) live.setting[name] = typeof textSetting[name] === "number" ? Number(text) : text;
  return true;
}

// --- what is shown

function change(setting) {
  if (live.state === "running") finish("stopped");
  // What has no meaning together, decay_study refuses.
  if (!["plain", "pre", "post"].includes(setting.topology)) setting.norm = "none";
  if (setting.norm !== "formula") setting.formula = "";
  else setting.formula ||= "w * x / (1 + mean(abs(x)))";
  if (setting.topology === "fixup") setting.init = "default";
  if (setting.topology !== "plain" || setting.norm === "none") setting.order = "norm_relu";
  live.setting = setting;
  begin();
  showLive();
}

function controls() {
  const described = live.described, { setting } = live;
  const without = { norm: !["plain", "pre", "post"].includes(setting.topology), init: setting.topology === "fixup",
    order: setting.topology !== "plain" || setting.norm === "none" };
  const { formula, ...others } = setting;
  const fields = Object.entries(others).map(([name, value]) => {
    const choices = described[name]?.choices ?? [];
    const field = choices.length ? make("select", {}, ...choices.map((one) => make("option", { value: one }, one)))
      : make("input", { type: "number", min: name === "seed" ? 0 : 1, step: 1, inputMode: "numeric" });
    Object.assign(field, { id: `live-${name}`, value, disabled: without[name] ?? false, ariaLabel: liveWord("field")[name] });
    const changed = () => change({ ...live.setting, [name]: choices.length ? field.value : Number(field.value) });
    field.onchange = changed;
    field.onkeydown = (event) => {
      if (event.key !== "Enter" || choices.length) return;
      event.preventDefault();  // the form that it would submit is made anew
      changed();
      press();
    };
    return make("label", { htmlFor: field.id }, liveWord("field")[name], field);
  });
  if (setting.norm === "formula") fields.push(formulaField(formula));
  const named = Object.entries(presets).map(([name, preset]) => {
    const button = make("button", { type: "button", id: `live-preset-${name}` }, liveWord("preset")[name]);
    const all = { ...textSetting, ...preset };
    button.ariaPressed = String(linkOf(all) === linkOf(setting));
    button.onclick = () => change(all);
    return button;
  });
  const running = live.state === "running";
  const go = make("button", { type: "submit", id: "live-press", className: "press" }, liveWord(running ? "stop" : "press"));
  const form = make("form", {},
    make("fieldset", {}, make("legend", {}, liveWord("presets")), ...named),
    make("fieldset", {}, make("legend", {}, liveWord("setting")), ...fields),
    box("div", "go", go, make("span", { id: "live-status", role: "status" })));
  form.onsubmit = (event) => {
    event.preventDefault();
    running ? finish("stopped") : press();
  };
  return form;
}

// A norm of the reader's own: y = formula of x, w and b.
function formulaField(formula) {
  const field = make("input", { id: "live-formula", className: "formula", value: formula, maxLength: 80, spellcheck: false,
    autocomplete: "off", ariaLabel: liveWord("formula") });
  field.onchange = () => change({ ...live.setting, formula: field.value });
  field.onkeydown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    field.onchange();
    press();
  };
  return make("label", { htmlFor: field.id, className: "wide" }, liveWord("formula"), field);
}

// What is known of it: its gradient, and the header that check_layers and the studies take.
function ownLines() {
  if (!live.own) return [];
  const { error, header } = live.own, right = error < 1e-6;
  const save = make("button", { type: "button", id: "live-save" }, liveWord("save"));
  save.onclick = () => {
    const address = URL.createObjectURL(new Blob([header], { type: "text/plain" }));
    Object.assign(document.createElement("a"), { href: address, download: "my_norm.h" }).click();
    URL.revokeObjectURL(address);
  };
  const apart = finite(error) ? number(error, 2) : word("notFinite");
  const said = textIn("span", liveWord("gradient")(apart, right), right ? "same" : "other");
  return [box("p", "go", said, save)];
}

// The charts, as they are now; values to read are there once all seeds are.
function figureOf(which) {
  const title = liveWord("charts")[which];
  const figure = make("figure", {}, textIn("figcaption", title), make("div", { className: "drawing", id: `live-${which}` }));
  if (live.state !== "finished") return figure;
  const heads = ["layer", "measured", "least", "greatest", "theory"].map((name) =>
    textIn("th", name === "measured" ? word(name) : liveWord(name)));
  heads.slice(1).forEach((head, i) => head.setAttribute("style", `--c:var(--${i < 3 ? "measured" : "theory"})`));
  const shown = (value) => (value === null || value === "nan" ? "" : number(value));
  const rows = JSON.parse(live.page.call("table")).map((row, layer) => {
    const [values, theory] = which === "std" ? row.slice(0, 2) : row.slice(2);
    const line = make("tr", {}, ...[layer + 1, ...values.map(shown), shown(theory)].map((text) => textIn("td", text)));
    line.dataset.at = layer + 1;
    return line;
  });
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
  figure.append(make("details", { className: "values" }, textIn("summary", word("values")), box("div", "wide", table)));
  drawInto(figure.querySelector(".drawing"), which);
  return readable(figure);
}

const chartWidth = () => (document.getElementById("live")?.clientWidth < 480 ? 340 : 560);
function drawInto(drawing, which) {
  live.width = chartWidth();
  drawing.innerHTML = live.page.call("draw", undefined, which === "gradient", live.width);
  if (lang === "zh") for (const svg of drawing.querySelectorAll("[data-zh]")) svg.ariaLabel = svg.dataset.zh;
}
function draw() {
  showBeside();
  for (const which of ["std", "gradient"]) {
    const drawing = document.getElementById(`live-${which}`);
    if (drawing) drawInto(drawing, which);
  }
  showStatus();
}
function drawSoon() {
  live.frame ??= requestAnimationFrame(() => {
    live.frame = null;
    if (live.state === "running") draw();
  });
}

function showStatus() {
  const line = document.getElementById("live-status"), { seeds } = live.setting;
  if (!line) return;
  const said = { ready: () => liveWord("ready"), failed: () => "", running: () => liveWord("running")(live.done, seeds),
    stopped: () => liveWord("stopped")(live.done, seeds),
    finished: () => liveWord("finished")(seeds, live.seconds, live.threads) };
  line.textContent = said[live.state]();
}

// The command that runs this setting without a browser.
const commandOfSetting = () =>
  ["decay_study", ...changedOf(live.setting).map(([name, value]) => `--${name} ${value}`)].join(" ");

function bitsLines() {
  if (live.state !== "finished") return [];
  const stored = storedRun(), code = make("code", { id: "live-bits" }, live.bits);
  const line = make("p", {}, `${liveWord("bits")}: `, code);
  if (stored) {
    const same = stored.bits === live.bits;
    const verdict = same ? "same" : "other";
    line.append(`${liveWord("stored")}: `, textIn("code", stored.bits), " ", textIn("span", liveWord(verdict), verdict));
  } else if (live.setting.norm !== "formula") {
    const [before, after] = liveWord("compare");
    line.append(before, textIn("code", commandOfSetting()), after);
  }
  return [line, textIn("p", liveWord("what"), "note")];
}

function verdictLines() {
  if (!live.judged?.length) return [];
  const norm = live.setting.norm === "rmsnorm" ? "none" : live.setting.norm;  // the text has both
  const itsNet = !changedOf({ ...live.setting, norm, seed: 0, seeds: 20 }).length;
  const rows = live.judged.map((claim) => {
    const printed = data.claims.find(({ id }) => id === claim.id);
    const reasons = claim.parts.map((part) =>
      `${inLanguage(part, "says")}: ${inLanguage(part, "outcome_text")}, ${inLanguage(part, "measured")}`);
    const notes = reasons.map((text) => textIn("p", text, "note"));
    const more = notes.length > 1 ? make("details", {}, textIn("summary", word("parts")(notes.length)), ...notes) : notes[0];
    return make("tr", {}, make("th", { scope: "row" }, printed ? claimLink(claim) : claim.id),
      make("td", {}, inLanguage(claim, "claim"), more), make("td", {}, badge(claim.verdict)),
      make("td", {}, printed ? badge(printed.verdict) : "–"));
  });
  const heads = [word("id"), word("says"), word("verdict"), liveWord("onPage")].map((text) => textIn("th", text));
  return [textIn("h3", liveWord("verdicts")), ...(itsNet ? [] : [textIn("p", liveWord("other_net"), "note")]),
    box("div", "wide", make("table", { id: "live-verdicts" }, make("thead", {}, make("tr", {}, ...heads)),
      make("tbody", {}, ...rows)))];
}

function showLive() {
  let section = document.getElementById("live");
  if (!section) {
    section = make("section", { id: "live", className: "live" });
    const page = document.getElementById("page"), first = page.querySelector(".first");
    first ? first.after(section) : page.prepend(section);
    document.querySelector("nav").prepend(make("a", { href: "#live" }, liveWord("title")));
  }
  const focus = document.activeElement?.closest("#live") && document.activeElement.id;
  const error = textIn("p", live.error && liveWord("failed") + live.error);
  error.setAttribute("role", "alert");
  section.replaceChildren(textIn("h2", liveWord("title")), textIn("p", liveWord("lead"), "lead"));
  if (!live.described) {
    section.append(textIn("p", live.error ? error.textContent : liveWord("loading"), "note"));
    return;
  }
  if (live.slow) section.append(textIn("p", liveWord("slow"), "note"));
  section.append(controls(), error, ...ownLines(), box("div", "figures", figureOf("std"), figureOf("gradient")),
    ...bitsLines(), ...verdictLines());
  if (live.state !== "finished") draw();
  showStatus();
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

// The page is built anew for another language; the chapter comes after it.
const buildStatic = build;
build = () => {
  buildStatic();
  showLive();
};
function goToLink() {
  const before = linkOf(live.setting);
  if (!readLink() || !live.described) return;
  if (live.state === "ready" || linkOf(live.setting) !== before) change(live.setting);
  document.getElementById("live").scrollIntoView({ block: "start", behavior: "instant" });
}
addEventListener("hashchange", goToLink);
addEventListener("resize", () => {
  if (live.described && live.width !== chartWidth()) showLive();
});

showLive();
live.ready = loadCode().then(() => {
  live.described = JSON.parse(live.page.call("describe"));
  readLink();
  begin();
  showLive();
  goToLink();
}, (error) => {
  live.error = error.message;
  showLive();
});
