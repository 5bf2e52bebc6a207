"use strict";
// The sentences of a chapter: what holds of its claims and what does not, built from the verdicts.
const claimLink = (claim) => make("a", { href: "#claim-" + claim.id, textContent: claim.id });
const quoted = (text) => `“${text}”`;
const said = (claim) => {
  const [open, close] = lang === "zh" ? ["（", "）"] : [" (", ")"];
  return [quoted(inLanguage(claim, "claim")), open, claimLink(claim), close];
};

// "a, b and c" of lists of nodes.
function enumerated(items) {
  const last = lang === "zh" ? "、" : " and ", between = lang === "zh" ? "、" : ", ";
  return items.flatMap((item, i) => [...(i === 0 ? [] : [i === items.length - 1 ? last : between]), ...item]);
}

// The first of a list in full, and how many more there are.
function several(claims, most) {
  const shown = claims.slice(0, most), rest = claims.length - shown.length;
  const items = shown.map(said);
  if (rest) items.push([lang === "zh" ? `其余 ${rest} 条` : `${rest} more`]);
  return enumerated(items);
}

// Two sentences: the verdicts from measured values, and what became of the others.
function countSentences(claims) {
  const count = (...verdicts) => claims.filter((claim) => verdicts.includes(shownVerdict(claim))).length;
  const zh = lang === "zh", all = claims.length;
  const counted = ([n, chinese, one, more]) => [zh ? `${n} 条${chinese}` : `${n} ${n === 1 ? one : more}`];
  const listed = (items) => enumerated(items.filter(([n]) => n).map(counted));
  const measured = listed([
    [count("confirmed"), "成立", "is confirmed", "are confirmed"],
    [count("refuted"), "不成立", "is refuted", "are refuted"],
    [count("refuted at this size"), "在此规模上不成立", "is refuted at this size", "are refuted at this size"],
    [count("partly"), "部分成立", "holds in part", "hold in part"],
    [count("not borne out on this CPU"), "在此 CPU 上未得到证实", "is not borne out on this CPU",
      "are not borne out on this CPU"],
    [count("not borne out on the task tried"), "在所试任务上未得到证实", "is not borne out on the task tried",
      "are not borne out on the task tried"]]);
  // A class with its verdicts in brackets: "3 are not judged (by definition: 2; not run here: 1)".
  const ofClass = (name, chinese, one, more) => {
    const verdicts = claims.map(shownVerdict).filter((verdict) => classOf(verdict) === name);
    const countOf = (verdict) => `: ${verdicts.filter((other) => other === verdict).length}`;
    const each = [...new Set(verdicts)].map((verdict) => word(verdict) + (verdicts.length > 1 ? countOf(verdict) : ""));
    const inside = zh ? `（${each.join("；")}）` : ` (${each.join("; ")})`;
    return [verdicts.length, chinese + inside, one + inside, more + inside];
  };
  const others = listed([
    [count("too few seeds"), "种子数不足", "has too few seeds", "have too few seeds"],
    ofClass("about another text", "谈的是另一文本", "is about another text", "are about another text"),
    ofClass("not judged", "未作判定", "is not judged", "are not judged"),
    [count("cannot be judged"), "因文件有误无法判定", "cannot be judged", "cannot be judged"],
    [count("still to come"), "尚未测量", "is not measured yet", "are not measured yet"]]);
  const kept = claims.filter((claim) => shownVerdict(claim) !== claim.verdict).length;
  const keptText = zh ? `。其中 ${kept} 条判定取自保存的完整运行。`
    : `. ${kept} of these verdicts ${kept === 1 ? "is" : "are"} of the full run that is kept.`;
  const stop = kept ? keptText : zh ? "。" : ".";
  const verb = (text) => text.replace(/^1 (条)?/, "");
  if (all === 1) return [zh ? "本文唯一的断言" : "Its one claim ", ...[...measured, ...others].map(verb), stop];
  const start = zh ? `本文 ${all} 条断言中，` : `Of its ${all} claims, `;
  if (!measured.length || !others.length) return [start, ...measured, ...others, stop];
  return [start, ...measured, zh ? "。其余：" : ". Of the others, ", ...others, stop];
}

// By how much, where it is much: ", 336,000 times as much".
function times(part) {
  const ratio = Math.exp(distance(part));
  if (ratio < 1.2) return "";
  const text = ratio < 1e6 ? (+ratio.toPrecision(2)).toLocaleString("en") : `10${power(Math.log10(ratio).toFixed())}`;
  if (part.value > part.printed) return lang === "zh" ? `，是其 ${text} 倍` : `, ${text} times as much`;
  return lang === "zh" ? `，仅为其 1/${text}` : `, smaller by a factor of ${text}`;
}

// What the text prints beside what the seeds give.
function besideEachOther(claim) {
  const part = leadOf(claim), says = inLanguage(part, "says"), seeds = word("seeds")(part.n);
  const printed = box("b", "printed", printedText(part)), got = box("b", "measured", number(part.value, 3));
  if (lang === "zh") return [...said(claim), "，文中印出 ", printed, `（${says}），${seeds}实测 `, got, times(part)];
  const give = seeds ? `${seeds} give` : "the measurement is";
  return ["for ", ...said(claim), " the text prints ", printed, ` (${says}), and ${give} `, got, times(part)];
}

function refutedSentences(claims) {
  const refuted = claims.filter((claim) => shownVerdict(claim) === "refuted"), zh = lang === "zh", sentences = [];
  const far = refuted.filter((claim) => distance(leadOf(claim)) > 0.3).slice(0, 2);
  if (far.length) sentences.push([zh ? "印出的数值与实测相去甚远：" : "Some printed values are far off: ",
    ...far.flatMap((claim, i) => [i ? (zh ? "；" : "; ") : "", ...besideEachOther(claim)]), zh ? "。" : "."]);
  const others = refuted.filter((claim) => !far.includes(claim));
  if (others.length) sentences.push(zh ? [far.length ? "同样不成立：" : "不成立：", ...several(others, 3), "。"]
    : [far.length ? "Refuted as well: " : "Refuted: ", ...several(others, 3), "."]);
  return sentences;
}

function partlySentence(claims) {
  const half = claims.filter((claim) => shownVerdict(claim) === "partly");
  if (!half.length) return [];
  const some = (claim, outcome) => claim.parts.find((part) => part.outcome === outcome);
  const split = half.filter((claim) => some(claim, "holds") && some(claim, "does not hold"))
    .sort((a, b) => a.parts.length - b.parts.length)[0];
  const others = half.filter((claim) => claim !== split), zh = lang === "zh";
  if (!split) return [[zh ? "部分成立：" : "True in part: ", ...several(half, 2), zh ? "。" : "."]];
  const [holds, fails] = ["holds", "does not hold"].map((one) => inLanguage(some(split, one), "says"));
  const tail = others.length ? [zh ? "；还有" : "; also ", ...several(others, 1)] : [];
  return [zh ? ["部分成立：", ...said(split), `，其部分${quoted(holds)}成立，部分${quoted(fails)}不成立`, ...tail, "。"]
    : ["True in part: ", ...said(split), `, of whose parts ${quoted(holds)} holds and ${quoted(fails)} does not`, ...tail, "."]];
}

function confirmedSentence(claims) {
  const good = claims.filter((claim) => shownVerdict(claim) === "confirmed");
  if (!good.length) return [];
  return [lang === "zh" ? ["得到证实：", ...several(good, 3), "。"] : ["Confirmed: ", ...several(good, 3), "."]];
}

function openSentence(claims) {
  const open = claims.filter((claim) => shownVerdict(claim) === "too few seeds");
  if (!open.length) return [];
  const needed = Math.max(...open[0].parts.map((part) => part.seeds_needed ?? 0)), zh = lang === "zh";
  const one = open.length === 1 ? ["", "a verdict"] : ["前者", "the first"];
  const more = zh ? `；${one[0]}约需 ${needed} 个种子` : `; ${one[1]} would take about ${needed} seeds`;
  return [[zh ? "种子数不足，尚无定论：" : "Too few seeds for a verdict: ", ...several(open, 2), needed ? more : "", zh ? "。" : "."]];
}

// Two to six sentences: the counts, then the others, each with the colour of its verdict.
function prose(claims) {
  const items = (kind, sentences) => sentences.map((sentence) => box("li", kind, ...sentence));
  const list = make("ul", {}, ...items("bad", refutedSentences(claims)), ...items("half", partlySentence(claims)),
    ...items("good", confirmedSentence(claims)), ...items("plain", openSentence(claims)));
  return box("div", "prose", make("p", {}, ...countSentences(claims)), list);
}
