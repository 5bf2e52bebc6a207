"use strict";
// Elements and numbers: what every row of the page is made of.
// Where a link may lead: to a place in the page or to the web. Another address, "javascript:…", is no link.
const leads = (href) => /^(#|https?:\/\/)/i.test(href);
const make = (tag, { href = "", ...properties } = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties, leads(href) && { href });
  element.append(...children.filter((child) => (child ?? "") !== ""));
  return element;
};
const box = (tag, className, ...children) => make(tag, { className }, ...children);
const textIn = (tag, textContent, className = "") => make(tag, { className, textContent });
const small = (text) => textIn("small", text);

// --- numbers. JSON has no infinities: they come as the strings "inf" and "-inf".
const finite = (v) => typeof v === "number" && Number.isFinite(v);
const isNumber = (v) => finite(v) || v === "inf" || v === "-inf";
const power = (n) => [...String(n)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(c)] ?? "⁻").join("");
const minus = (text) => text.replace("-", "−");

// In `digits` significant digits, without zeros at the end: 0.3387, −1.2, 2.4×10⁻⁷.
function number(v, digits = 4) {
  if (v === "inf") return "∞";
  if (v === "-inf") return "−∞";
  if (!finite(v)) return String(v);
  const size = Math.abs(v);
  if (size === 0) return "0";
  if (Number.isInteger(v) && size < 1e7) return minus(String(v));
  if (size >= 1e-5 && size < 1e6) return minus(plain(+v.toPrecision(digits)));
  const [mantissa, exponent] = v.toExponential(digits - 1).split("e");
  const factor = String(+mantissa), ten = `10${power(+exponent)}`;
  return minus(factor === "1" ? ten : factor === "-1" ? `-${ten}` : `${factor}×${ten}`);
}
// With all its digits: 0.000012, 10⁻¹⁰.
const plain = (v) => (v !== 0 && Math.abs(v) < 1e-6 ? number(v, 7) : String(v));
const interval = ([low, high]) => `[${number(low)}, ${number(high)}]`;

// --- charts. They stand in the page for who has no scripts, and go from there to where they belong.
const drawn = document.getElementById("drawn");
drawn.remove();
const strips = new Map();
for (const s of drawn.querySelectorAll("[data-strip]")) strips.set(s.dataset.strip, s.firstElementChild);
const figures = [...drawn.querySelectorAll("figure")], norms = drawn.querySelector("#norms");
function inPlace(chart) {
  const copy = chart.cloneNode(true);
  if (lang === "zh") for (const svg of copy.querySelectorAll("[data-zh]")) svg.ariaLabel = svg.dataset.zh;
  return copy;
}
// The small chart of a part of a claim, named by what it shows; null where there is nothing to show.
function strip(claim, which, label) {
  const found = strips.get(`${data.claims.indexOf(claim)} ${which}`);
  if (!found) return null;
  const copy = found.cloneNode(true);
  copy.ariaLabel = label || (lang === "zh" && copy.dataset.zh) || copy.ariaLabel;
  const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
  title.textContent = copy.ariaLabel;
  copy.prepend(title);
  return copy;
}

const spoken = (element) => (element.querySelector(`.${lang}`) ?? element).textContent;
// A figure whose values are read below it: under the pointer, or by arrow keys. They stand in its table.
function readable(source) {
  const figure = inPlace(source), [drawing, table] = figure.querySelectorAll(".drawing, table");
  if (!drawing.querySelector("[data-x]")) return figure;
  const [first, ...heads] = table.tHead.rows[0].cells, rows = [...table.tBodies[0].rows];
  const text = textIn("p", " ", "reading");
  const all = [...drawing.querySelectorAll("svg")];
  const numbers = (chart, name) => chart.dataset[name].split(" ").map(Number);
  const place = (chart, row) => {
    const [from, to, left, right] = numbers(chart, "x");
    return left + (row.dataset.at - from) / (to - from) * (right - left);
  };
  text.ariaLive = "polite";
  drawing.append(text);
  const label = `${spoken(figure.querySelector("figcaption"))}: ${word("keys")}`;
  Object.assign(drawing, { tabIndex: 0, role: "group", ariaLabel: label });
  let now = -1;
  const read = (i, only = null) => {
    now = Math.min(Math.max(i, 0), rows.length - 1);
    for (const chart of all) {
      const x = place(chart, rows[now]), [top, bottom] = numbers(chart, "y");
      chart.querySelector(".rule").setAttribute("d", `M${x} ${top}V${bottom}`);
    }
    const [at, ...cells] = rows[now].cells;
    const said = cells.flatMap((cell, c) => {
      if (!cell.textContent || heads[c].hidden || (only !== null && only !== c)) return [];
      const name = textIn("b", spoken(heads[c]) + " ");
      name.style = heads[c].getAttribute("style");
      return [make("span", {}, name, cell.textContent)];
    });
    text.replaceChildren(textIn("span", `${spoken(first)} ${at.textContent}`), ...said);
  };
  drawing.onpointermove = (event) => {
    const chart = all.find((one) => one.clientWidth), view = chart?.getBoundingClientRect();
    if (!view || event.target === text) return;
    const scale = chart.viewBox.baseVal.width / view.width, x = (event.clientX - view.left) * scale;
    const away = rows.map((row) => Math.abs(place(chart, row) - x));
    const { step } = chart.dataset, line = Math.floor((event.clientY - view.top) * scale / step);
    read(away.indexOf(Math.min(...away)), step ? line : null);
  };
  drawing.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    read(now + step);
  };
  return figure;
}

// Several runs in one chart, each of which can be left out.
function comparisonFigure(source) {
  const figure = readable(source), pieces = [...figure.querySelectorAll("[data-run]")];
  const choice = make("div", { className: "choice", role: "group", ariaLabel: word("shownRuns") });
  for (const name of new Set(pieces.map((piece) => piece.dataset.run))) {
    const button = make("button", { type: "button", textContent: name, ariaPressed: "true" });
    button.onclick = () => {
      const show = button.ariaPressed !== "true";
      if (!show && choice.querySelectorAll("[aria-pressed=true]").length === 1) return;  // one stays
      button.ariaPressed = String(show);
      for (const piece of pieces) if (piece.dataset.run === name) piece.toggleAttribute("hidden", !show);
    };
    choice.append(button);
  }
  figure.querySelector("figcaption").after(choice);
  return figure;
}
