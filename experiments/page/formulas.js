"use strict";
// Formulas: what a quotation has in LaTeX, as MathML, which browsers typeset. A text with a command that is not
// among these stays as it is printed.
const signs = { gamma: "γ", beta: "β", epsilon: "ϵ", mu: "μ", sigma: "σ", alpha: "α", rho: "ρ", Delta: "Δ", tanh: "tanh",
  sum: "∑", odot: "⊙", Vert: "‖", times: "×", top: "⊤", cdot: "⋅", approx: "≈", triangleq: "≜" };
const spaces = { ",": "0.2em", quad: "1em" };
const bold = ["boldsymbol", "mathbf"], upright = ["text", "textrm"], skipped = ["left", "right", "mathop"];
const commands = [...Object.keys({ ...signs, ...spaces }), ...bold, ...upright, ...skipped, "frac", "sqrt", "hat"];

function typeset(tex) {
  const tokens = tex.match(/\\(?:[a-z]+|.)|\d+(?:\.\d+)?|[^\s&]/gi) ?? [];
  if (!tokens.every((token) => token[0] !== "\\" || commands.includes(token.slice(1)))) return null;
  const math = (tag, ...children) => {
    const element = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
    element.append(...children);
    return element;
  };
  let at = 0;
  const until = (end) => {
    const items = [];
    while (at < tokens.length && tokens[at] !== end) items.push(withScripts());
    at += 1;
    return math("mrow", ...items);
  };
  function atom() {
    const token = tokens[at++] ?? "", name = token.slice(1);
    if (token === "{") return until("}");
    if (token[0] !== "\\") return math(/^\d/.test(token) ? "mn" : /^\p{L}$/u.test(token) ? "mi" : "mo", token);
    if (name === "frac") return math("mfrac", atom(), atom());
    if (name === "sqrt") return math("msqrt", atom());
    if (name === "hat") return math("mover", atom(), math("mo", "^"));
    if (upright.includes(name)) return math("mtext", atom().textContent);
    if (bold.includes(name)) return Object.assign(atom(), { style: "font-weight: bold" });
    if (skipped.includes(name)) return atom();
    const made = name in spaces ? math("mspace") : math(/^\p{L}/u.test(signs[name]) ? "mi" : "mo", signs[name]);
    made.setAttribute(...(name in spaces ? ["width", spaces[name]] : ["stretchy", "false"]));
    return made;
  }
  function withScripts() {
    const parts = [atom()], found = { _: null, "^": null };
    while (tokens[at] in found) found[tokens[at++]] = atom();
    if (found._) parts.push(found._);
    if (found["^"]) parts.push(found["^"]);
    return parts.length === 1 ? parts[0] : math(parts.length === 3 ? "msubsup" : found._ ? "msub" : "msup", ...parts);
  }
  return math("math", until());
}

// A quotation, in pieces of text and formulas: each line is one where LaTeX stands in it without $ … $.
function withFormulas(text) {
  if (!text.includes("$")) {
    const lines = /\\[a-z]{2}/i.test(text) ? text.split("\\\\").map(typeset) : [null];
    return lines.includes(null) ? [text] : lines;
  }
  return text.split(/(\$[^$\n]+\$)/).map((piece) => {
    const tex = /^\$(.*\\[a-z].*|\s*\w\s*)\$$/i.exec(piece)?.[1];
    return (tex && typeset(tex)) || piece;
  });
}
