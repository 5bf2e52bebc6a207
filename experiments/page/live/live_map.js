"use strict";
// The live chapter's second half: a residual MLP of what_trains, trained on digits by the module (map.cpp, training.cpp),
// and where it is on the study's map.

// A worker's side: {code, net} once. It reports losses in lists, then what train() leaves.
function trainerMain() {
  onmessage = ({ data: { code, net } }) => {
    let losses = [], sent = 0;
    const send = (more = {}) => {
      postMessage({ losses, ...more });
      losses = [], sent = performance.now();
    };
    try {
      const instance = instanceOf(code, { stepped(step, loss) {
        losses.push(loss);
        if (performance.now() - sent > 40) send();
      } });
      send({ trained: JSON.parse(instance.call("train", net)) });
    } catch (error) {
      postMessage({ failed: error.message });
    }
  };
}

const trainer = { ...JSON.parse(document.getElementById("live-map-data").textContent), state: "ready", losses: [], error: "" };
const mapWord = (key) => word("live_map")[key];
const defaultNet = trainer.nets[0].net;
trainer.net = { ...defaultNet };
const normsOfMap = [...new Set(trainer.map.nets.map(({ norm }) => norm))];
const rates = Array.from({ length: 15 }, (_, i) => 2 ** (i - 15));

// Calls the module on the page's side, which ends with an Error.
function askMap(name, given, ...numbers) {
  trainer.instance ??= (() => {
    const instance = instanceOf(live.code);
    instance.call("map", trainer.map);
    return instance;
  })();
  try {
    return trainer.instance.call(name, given, ...numbers);
  } catch (error) {
    trainer.instance = null;  // that one ended in the middle of a call
    throw error;
  }
}

const sameNet = (a, b) => Object.keys(defaultNet).every((name) => a[name] === b[name]);
const storedTraining = () => trainer.nets.find(({ net, bits }) => bits && sameNet(net, trainer.net));

function changeNet(net) {
  if (trainer.state === "running") stopTraining("stopped");
  Object.assign(trainer, { net, state: "ready", losses: [], trained: null, error: "" });
  try {
    trainer.said = JSON.parse(askMap("say", net));
  } catch (error) {
    trainer.said = null;
    trainer.error = error.message;
  }
  showMap();
}

function stopTraining(state, error = "") {
  trainer.worker?.terminate();
  Object.assign(trainer, { worker: null, state, error });
}

// Trains the net. Resolves to its bits, or to "" where it was stopped or cannot run.
function trainNet() {
  changeNet(trainer.net);
  if (trainer.error) return Promise.resolve("");
  const source = `"use strict";${instanceOf}${trainerMain}trainerMain();`;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(address), began = performance.now();
  Object.assign(trainer, { worker, state: "running" });
  history.replaceState(null, "", linkOfNet(trainer.net));
  showMap();
  return new Promise((resolve) => {
    const end = (state, error) => {
      stopTraining(state, error);
      showMap();
      resolve(trainer.trained?.bits ?? "");
    };
    worker.onmessage = ({ data: { losses, trained, failed } }) => {
      if (worker !== trainer.worker) return resolve("");  // it was stopped
      if (failed) return end("failed", failed);
      trainer.losses.push(...losses);
      if (!trained) return drawCurveSoon();
      trainer.seconds = (performance.now() - began) / 1000;
      trainer.trained = trained;
      end("finished");
    };
    worker.onerror = (event) => end("failed", event.message);
    worker.postMessage({ code: live.code, net: trainer.net });
    URL.revokeObjectURL(address);
  });
}

// --- links

const linkOfNet = (net) => `#live-map?${new URLSearchParams(
  Object.entries(net).filter(([name, value]) => value !== defaultNet[name]))}`.replace(/\?$/, "");
function readNetLink() {
  if (!/^#live-map(\?|$)/.test(location.hash)) return null;
  const net = { ...defaultNet };
  for (const [name, text] of new URLSearchParams(location.hash.slice(10)))
    if (Object.hasOwn(net, name)) net[name] = typeof net[name] === "number" ? Number(text) : text;
  return net;
}

// --- what is shown

const rateText = (rate) => `${number(rate, 2)} = 2${power(Math.log2(rate))}`;
const ratesText = (pair) => (pair ? mapWord("rates")(number(pair[0], 2), number(pair[1], 2)) : mapWord("none"));
// "learns", "less", "nothing", "worse": as the map's colours have it.
function outcomeOf(gain, enough, best) {
  if (!finite(gain) || gain < -0.1) return "worse";
  if (gain < 0.1 * best) return "nothing";
  return gain < enough ? "less" : "learns";
}
const outcomeText = (outcome) => textIn("span", mapWord("outcome")[outcome], `outcome ${outcome}`);

function netControls() {
  const { net } = trainer;
  const choice = (name, options, textOf) => {
    const field = make("select", {}, ...options.map((one) => make("option", { value: String(one) }, textOf(one))));
    field.value = String(net[name]);
    return field;
  };
  const count = (step) => (name) => make("input", { type: "number", min: step, step, value: net[name], inputMode: "decimal" });
  const fields = { norm: choice("norm", normsOfMap, (norm) => (norm === "none" ? mapWord("no_norm") : norm)),
    depth: count(1)("depth"), scale: count("any")("scale"),
    rate: choice("rate", rates.includes(net.rate) ? rates : [net.rate, ...rates], rateText) };
  const labels = Object.entries(fields).map(([name, field]) => {
    Object.assign(field, { id: `live-map-${name}`, ariaLabel: mapWord("field")[name] });
    const changed = () => changeNet({ ...trainer.net, [name]: name === "norm" ? field.value : Number(field.value) });
    field.onchange = changed;
    field.onkeydown = (event) => {
      if (event.key !== "Enter" || field.tagName === "SELECT") return;
      event.preventDefault();  // the form that it would submit is made anew
      changed();
      trainNet();
    };
    return make("label", { htmlFor: field.id }, mapWord("field")[name], field);
  });
  const named = trainer.nets.map(({ name, net: whole }) => {
    const button = make("button", { type: "button", id: `live-map-preset-${name}` }, mapWord("preset")[name]);
    button.ariaPressed = String(sameNet(whole, net));
    button.onclick = () => changeNet({ ...whole });
    return button;
  });
  const running = trainer.state === "running";
  const go = make("button", { type: "submit", id: "live-map-press", className: "press" }, mapWord(running ? "stop" : "press"));
  const form = make("form", {},
    make("fieldset", {}, make("legend", {}, liveWord("presets")), ...named),
    make("fieldset", {}, make("legend", {}, mapWord("setting")), ...labels),
    box("div", "go", go, make("span", { id: "live-map-status", role: "status" })));
  form.onsubmit = (event) => {
    event.preventDefault();
    if (!running) return trainNet();
    stopTraining("stopped");
    showMap();
  };
  return form;
}

// What formulas and map say before anything is trained.
function saidLines() {
  const { said, map } = trainer;
  if (!said) return [];
  const { nearest } = said, rows = [[mapWord("predicted"), ratesText(said.predicted)]];
  if (nearest) rows.push([mapWord("nearest")(nearest.depth, number(nearest.scale, 3)), ratesText(nearest.measured)]);
  rows.push([mapWord("expected"), ratesText(said.expected)]);
  const lines = rows.map(([name, text]) => make("tr", {}, make("th", { scope: "row" }, name), textIn("td", text)));
  const at = textIn("td", "");
  if (said.gain === null) at.append(mapWord("not_measured"));
  else at.append(outcomeText(outcomeOf(said.gain, map.enough.residual, map.best.residual)), ` ${gainText(said.gain)}`);
  lines.push(make("tr", {}, make("th", { scope: "row" }, mapWord("here")), at));
  return [box("div", "wide", make("table", { id: "live-map-said" }, make("tbody", {}, ...lines)))];
}
const gainText = (gain) => (finite(gain) && gain > -10 ? mapWord("gain")(minus(gain.toFixed(2))) : "");

function placeFigure() {
  const figure = make("figure", {}, textIn("figcaption", mapWord("place")), make("div", { className: "drawing", id: "live-map-place" }));
  const keys = ["learns", "less", "nothing", "worse"].map(outcomeText);
  figure.append(make("p", { className: "keys note" }, ...keys, textIn("span", mapWord("border"), "border"),
    textIn("span", mapWord("point"), "point"), textIn("span", mapWord("pale"))));
  return figure;
}
const curveFigure = () =>
  make("figure", {}, textIn("figcaption", mapWord("curve")), make("div", { className: "drawing", id: "live-map-curve" }));

function drawCurve() {
  const drawing = document.getElementById("live-map-curve");
  if (drawing) setDrawing(drawing, askMap("curve", { losses: trainer.losses, enough: trainer.enough }, chartWidth()));
  showTrainingStatus();
}
function setDrawing(drawing, svg) {
  drawing.innerHTML = svg;
  if (lang === "zh") for (const one of drawing.querySelectorAll("[data-zh]")) one.ariaLabel = one.dataset.zh;
}
function drawCurveSoon() {
  trainer.frame ??= requestAnimationFrame(() => {
    trainer.frame = null;
    if (trainer.state === "running") drawCurve();
  });
}

function showTrainingStatus() {
  const line = document.getElementById("live-map-status");
  const said = { ready: () => liveWord("ready"), failed: () => "", running: () => mapWord("running")(trainer.losses.length),
    stopped: () => mapWord("stopped")(trainer.losses.length), finished: () => mapWord("finished")(trainer.losses.length, trainer.seconds) };
  if (line) line.textContent = said[trainer.state]();
}

// The command that trains this net without a browser: scale 1 is a std of 1/√64.
const commandOfNet = ({ norm, depth, scale, rate }) =>
  `what_trains --on_page --task residual --norm ${norm} --depth ${depth} --init_std ${scale / 8} --rate ${rate}`;

function trainedLines() {
  const { trained } = trainer;
  if (!trained) return [];
  const outcome = outcomeOf(trained.gain, trainer.enough, trainer.best), stored = storedTraining();
  const line = make("p", {}, `${mapWord("result")}: `, outcomeText(outcome), " ");
  if (finite(trained.accuracy)) line.append(mapWord("judged")(trained.loss.toFixed(3), (100 * trained.accuracy).toFixed(1)),
    ` ${gainText(trained.gain)}`);
  else line.append(mapWord("diverged")(trained.losses.length));
  const bits = make("p", {}, `${mapWord("bits")}: `, make("code", { id: "live-map-bits" }, trained.bits));
  if (stored) {
    const verdict = stored.bits === trained.bits ? "same" : "other";
    bits.append(mapWord("stored"), textIn("code", stored.bits), " ", textIn("span", liveWord(verdict), verdict));
  }
  const [before, after] = mapWord("compare");
  bits.append(before, textIn("code", commandOfNet(trainer.net)), after);
  return [line, bits];
}

function showMap() {
  let section = document.getElementById("live-map");
  if (!section) {
    section = make("section", { id: "live-map", className: "live" });
    document.getElementById("live").after(section);
    document.querySelector('nav a[href="#live"]').after(make("a", { href: "#live-map" }, mapWord("title")));
  }
  const focus = document.activeElement?.closest("#live-map") && document.activeElement.id;
  section.replaceChildren(textIn("h2", mapWord("title")), textIn("p", mapWord("lead"), "lead"));
  if (!live.described) return;
  const error = textIn("p", trainer.error && liveWord("failed") + trainer.error);
  error.setAttribute("role", "alert");
  section.append(netControls(), error, ...saidLines(), box("div", "figures", placeFigure(), curveFigure()), ...trainedLines(),
    textIn("p", mapWord("what"), "note"));
  if (trainer.said)
    setDrawing(document.getElementById("live-map-place"), askMap("place", trainer.net, chartWidth()));
  drawCurve();
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

// The page is built anew for another language; this comes after the chapter's first half.
const buildWithLive = build;
build = () => {
  buildWithLive();
  showMap();
};
function goToNet() {
  const net = readNetLink();
  if (!net || !live.described) return;
  if (location.hash.includes("?") && !sameNet(net, trainer.net)) changeNet(net);
  document.getElementById("live-map").scrollIntoView({ block: "start", behavior: "instant" });
}
addEventListener("hashchange", goToNet);
addEventListener("resize", () => {
  if (live.described && trainer.width !== chartWidth()) showMap();
  trainer.width = chartWidth();
});

showMap();
trainer.ready = live.ready.then(() => {
  if (live.error) return;
  changeNet(readNetLink() ?? trainer.net);
  goToNet();
});
