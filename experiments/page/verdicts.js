"use strict";
// Verdicts: the classes in which a reader meets them, their colours, the order of rows, and where a bound turns.
const classes = ["true", "depends", "false", "no difference", "open", "not tested", "still to come"];
// What is counted, coloured and filtered: where this run could not judge, or not yet, the verdict of the kept values.
const isUndecided = (verdict) => ["open", "not tested", "still to come"].includes(verdict);
const isOfKept = (claim) => isUndecided(claim.verdict) && Boolean(claim.kept);
const shownVerdict = (claim) => (isOfKept(claim) ? claim.kept.verdict : claim.verdict);
const shownDetail = (claim) => inLanguage(isOfKept(claim) ? claim.kept : claim, "detail");
const kinds = {  // what a colour says
  true: "good", depends: "half", false: "bad", "no difference": "read", open: "plain",
  holds: "good", "does not hold": "bad",
};
const kindOf = (verdict) => kinds[verdict] ?? "open";
const countOf = (claims, name) => claims.filter((claim) => shownVerdict(claim) === name).length;
// An identity or a count, which can fail only by a bug in the program.
const isIdentity = (claim) => claim.how === "proof" && claim.verdict === "true";
// Whether a value of it was measured for this page, and whether all values that it shows are kept ones.
const isHere = (claim) => claim.parts.some((part) => !part.kept && isMeasured(part));
const isKept = (claim) => claim.parts.some((part) => part.kept) && !isHere(claim);
// How the verdict is known, and of what it is said: "measured here", "small nets, one setting". Where some claims of the
// page show kept values, "measured" becomes "measured here" or "kept value".
function tagsOf(claim) {
  const measured = !["proof", "source"].includes(claim.how) && data.claims.some(isKept);
  const how = measured && isKept(claim) ? "kept value" : measured && isHere(claim) ? "measured here" : claim.how;
  return [how, claim.where].filter(Boolean);
}

// How far the printed value lies from the measured one, in powers of e.
const distance = (part) => (part?.outcome === "does not hold" && hasPrinted(part)
  && part.printed > 0 && part.value > 0 ? Math.abs(Math.log(part.printed / part.value)) : 0);

// What does not hold comes first, and of that what is furthest from the text; what is not tested comes last.
function byInterest(claims) {
  const failing = ({ parts }) => parts.filter((part) => part.outcome === "does not hold").length / (parts.length || 1);
  const place = (claim) => [["bad", "half", "good", "read", "plain", "open"].indexOf(kindOf(shownVerdict(claim))),
    -distance(leadOf(claim)), -failing(claim)];
  return [...claims].sort((a, b) => {
    const other = place(b);
    return place(a).map((n, i) => n - other[i]).find(Boolean) ?? 0;
  });
}

// What a rule says where the interval that decides is [least, greatest]: as experiments/claims/rules.cpp does.
function outcomeAt(rule, [low, high], [least, greatest]) {
  if (least >= low && greatest <= high) return "holds";
  return rule === "every_seed" || greatest < low || least > high ? "does not hold" : "open";
}

// Where the outcome of a part becomes another one if one bound moves there: [that bound, to]; null where no
// move does so. The nearest such place is an end of the interval that decides.
function turningPoint({ rule, bounds, interval, outcome }) {
  if (!interval?.every(finite) || rule === "one_more_seed") return null;
  const asked = [finite(bounds[0]) ? bounds[0] : -Infinity, finite(bounds[1]) ? bounds[1] : Infinity];
  if (asked[0] === asked[1] || outcomeAt(rule, asked, interval) !== outcome) return null;
  const turns = [];
  for (const i of [0, 1])
    for (const end of interval)
      for (const aside of [-1e-9, 1e-9]) {  // at the end itself, and just beyond it
        const moved = asked.map((one, k) => (k === i ? end + aside * (Math.abs(end) || 1e-3) : one));
        if (!finite(asked[i]) || moved[0] > moved[1] || outcomeAt(rule, moved, interval) === outcome) continue;
        turns.push([asked[i], end]);
      }
  return turns.sort((a, b) => Math.abs(a[0] - a[1]) - Math.abs(b[0] - b[1]))[0] ?? null;
}

// "with a bound of 1.1 instead of 0.1 (× 11) the outcome would change", for a bound of our choice: of "better" the word itself says which, and a
// number that the quotation has is the text's.
function turnText(claim, part) {
  const [bound, to] = (part.word !== "better" && !part.settings && !isIdentity(claim) && turningPoint(part)) || [];
  const digits = String(bound).replace(".", "\\.");
  if (bound === undefined || new RegExp(`(?<![\\d.])${digits}(?![.]?\\d)`).test(`${claim.quote} ${claim.quote_en}`)) return "";
  const ratio = to / bound, by = (sign, text) => word("turns")(number(to), number(bound), `${sign} ${text}`);
  if (!finite(ratio) || ratio < 0) return by(to > bound ? "+" : "−", number(Math.abs(to - bound), 2));
  if (ratio > 1.5) return by("×", number(ratio, 3));
  if (ratio > 0 && ratio < 2 / 3) return by("÷", number(1 / ratio, 3));
  return by(ratio > 1 ? "+" : "−", `${number(100 * Math.abs(ratio - 1), 2)} %`);
}
