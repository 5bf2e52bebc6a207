"use strict";
// Elements, numbers and scales: what every chart and row of the page is made of.
// Where a link may lead: to a place in the page or to the web. Another address, "javascript:…", is no link.
const leads = (href) => /^(#|https?:\/\/)/i.test(href);
const make = (tag, { href = "", ...properties } = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties, leads(href) && { href });
  element.append(...children.filter((child) => child !== null));
  return element;
};
const textIn = (tag, textContent, className = "") => make(tag, { className, textContent });
function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// --- numbers. JSON has no infinities: they come as the strings "inf" and "-inf".
const finite = (v) => typeof v === "number" && Number.isFinite(v);
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

// --- scales
// From [low, high] to [begin, end]; logarithmic ones hold positive values only.
function scale(low, high, begin, end, log) {
  const f = log ? Math.log : (v) => v;
  if (!(low < high)) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const place = (v) => begin + (f(v) - f(low)) / (f(high) - f(low)) * (end - begin);
  return Object.assign(place, { low, high, log, ticks: (count) => ticks(low, high, count, log) });
}

// Round values, about `count`: powers of ten on a logarithmic scale, or, where there are fewer than two of them, 2 and 5
// times them too.
function ticks(low, high, count, log) {
  const found = [];
  if (log) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const inside = (v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9);
    const powers = [];
    for (let p = first; p <= last; ++p) if (inside(10 ** p)) powers.push(p);
    if (powers.length >= Math.min(count, 4) - 1) {
      const stride = Math.ceil(powers.length / count);
      return powers.filter((p, i) => i % stride === 0).map((p) => +`1e${p}`);
    }
    for (let p = first; p <= last; ++p)
      for (const factor of [1, 2, 5]) if (inside(factor * 10 ** p)) found.push(+`${factor}e${p}`);
    if (found.length >= 2) return found.filter((v, i) => i % Math.ceil(found.length / (count + 1)) === 0);
  }
  const rough = (high - low) / count, unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5].find((factor) => factor * unit >= rough * 0.7) ?? 10);
  found.length = 0;
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) found.push(+(i * step).toPrecision(12));
  return found;
}
const tickText = (v) => {
  const written = v === 0 || (Math.abs(v) >= 1e-4 && Math.abs(v) < 1e5);
  return written ? minus(String(+v.toPrecision(6))) : number(v, 3);
};

// About as many pixels as a text of 12 pixels takes; a Chinese character is twice as wide.
const textWidth = (text) => [...text].reduce((sum, c) => sum + (c > "⺀" ? 12.5 : 6.9), 0);

// --- marks: a point for what is printed, a dot for what is measured
const diamond = (x, y, r = 5) =>
  svg("path", { class: "printed mark", d: `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z` });
const dot = (x, y, r = 4, style = "--c: var(--measured)") =>
  svg("circle", { class: "measured mark", style, cx: x, cy: y, r });
