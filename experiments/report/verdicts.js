"use strict";
// Verdicts: the classes in which a reader meets them, their colours, the order of rows.
const classes = ["confirmed", "partly", "refuted", "not borne out on this CPU", "not borne out on the task tried",
  "too few seeds", "about another text", "not judged", "still to come"];
const classOf = (verdict) => (/ by its source$/.test(verdict) ? "about another text"
  : classes.includes(verdict) ? verdict : "not judged");
const kinds = {  // what a colour says
  confirmed: "good", "true by its source": "good", partly: "half", "partly by its source": "half", refuted: "bad",
  "not borne out on this CPU": "bad", "not borne out on the task tried": "bad", "false by its source": "bad",
  "too few seeds": "plain", "about another text": "read", holds: "good", "does not hold": "bad",
};
const kindOf = (verdict) => kinds[verdict] ?? "open";
const countOf = (claims, name) => claims.filter((claim) => classOf(claim.verdict) === name).length;
const isIdentity = (claim) => claim.verdict === "by definition";

// How far the printed value lies from the measured one, in powers of e.
const distance = (part) => (part?.outcome === "does not hold" && hasPrinted(part)
  && part.printed > 0 && part.value > 0 ? Math.abs(Math.log(part.printed / part.value)) : 0);

// What does not hold comes first, and of that what is furthest from the text; what is not judged comes last.
function byInterest(claims) {
  const failing = ({ parts }) => parts.filter((part) => part.outcome === "does not hold").length / (parts.length || 1);
  const place = (claim) => [["bad", "half", "good", "plain", "open"].indexOf(kindOf(claim.verdict)),
    -distance(leadOf(claim)), -failing(claim)];
  const places = new Map(claims.map((claim) => [claim, place(claim)]));
  return [...claims].sort((a, b) => {
    const [left, right] = [places.get(a), places.get(b)], i = left.findIndex((n, k) => n !== right[k]);
    return i < 0 ? 0 : left[i] - right[i];
  });
}
