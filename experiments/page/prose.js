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

// One sentence: how many claims have each verdict.
function countSentences(claims) {
  const zh = lang === "zh", all = claims.length;
  const sayings = {
    true: ["成立", "is true", "are true"], false: ["不成立", "is false", "are false"],
    depends: ["视情形而定", "depends on the case", "depend on the case"],
    "no difference": ["无差别", "finds no difference", "find no difference"], open: ["未定", "is open", "are open"],
    "not tested": ["未测试", "is not tested", "are not tested"],
    "still to come": ["尚未测量", "is not measured yet", "are not measured yet"],
  };
  const counted = ([name, [chinese, one, more]]) => [countOf(claims, name), chinese, one, more];
  const listed = Object.entries(sayings).map(counted).filter(([n]) => n);
  const kept = claims.filter(isOfKept).length;
  const keptText = zh ? `。其中 ${kept} 条判定取自保存的完整运行。`
    : `. ${kept} of these verdicts ${kept === 1 ? "comes" : "come"} from kept values.`;
  const stop = kept ? keptText : zh ? "。" : ".";
  if (all === 1) return [zh ? `本文唯一的断言${listed[0][1]}` : `Its one claim ${listed[0][2]}`, stop];
  const items = listed.map(([n, chinese, one, more]) => [zh ? `${n} 条${chinese}` : `${n} ${n === 1 ? one : more}`]);
  return [zh ? `本文 ${all} 条断言中，` : `Of its ${all} claims, `, ...enumerated(items), stop];
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

function falseSentences(claims) {
  const wrong = claims.filter((claim) => shownVerdict(claim) === "false"), zh = lang === "zh", sentences = [];
  const far = wrong.filter((claim) => distance(leadOf(claim)) > 0.3).slice(0, 2);
  if (far.length) sentences.push([zh ? "印出的数值与实测相去甚远：" : "Some printed values are far off: ",
    ...far.flatMap((claim, i) => [i ? (zh ? "；" : "; ") : "", ...besideEachOther(claim)]), zh ? "。" : "."]);
  const others = wrong.filter((claim) => !far.includes(claim));
  if (others.length) sentences.push(zh ? [far.length ? "同样不成立：" : "不成立：", ...several(others, 3), "。"]
    : [far.length ? "False as well: " : "False: ", ...several(others, 3), "."]);
  return sentences;
}

function dependsSentence(claims) {
  const half = claims.filter((claim) => shownVerdict(claim) === "depends");
  if (!half.length) return [];
  const some = (claim, outcome) => claim.parts.find((part) => part.outcome === outcome);
  const split = half.filter((claim) => some(claim, "holds") && some(claim, "does not hold"))
    .sort((a, b) => a.parts.length - b.parts.length)[0];
  const others = half.filter((claim) => claim !== split), zh = lang === "zh";
  if (!split) return [[zh ? "视情形而定：" : "Depends: ", ...several(half, 2), zh ? "。" : "."]];
  const [holds, fails] = ["holds", "does not hold"].map((one) => inLanguage(some(split, one), "says"));
  const tail = others.length ? [zh ? "；还有" : "; also ", ...several(others, 1)] : [];
  return [zh ? ["视情形而定：", ...said(split), `，其部分${quoted(holds)}成立，部分${quoted(fails)}不成立`, ...tail, "。"]
    : ["Depends: ", ...said(split), `, of whose parts ${quoted(holds)} holds and ${quoted(fails)} does not`, ...tail, "."]];
}

function trueSentence(claims) {
  const good = claims.filter((claim) => shownVerdict(claim) === "true" && !isIdentity(claim));
  if (!good.length) return [];
  return [lang === "zh" ? ["成立：", ...several(good, 3), "。"] : ["True: ", ...several(good, 3), "."]];
}

function openSentence(claims) {
  const open = claims.filter((claim) => shownVerdict(claim) === "open");
  if (!open.length) return [];
  const needed = Math.max(...open[0].parts.map((part) => part.seeds_needed ?? 0)), zh = lang === "zh";
  const one = open.length === 1 ? ["", "a verdict"] : ["前者", "the first"];
  const more = zh ? `；${one[0]}约需 ${needed} 个种子` : `; ${one[1]} would take about ${needed} seeds`;
  return [[zh ? "未定：" : "Open: ", ...several(open, 2), needed ? more : "", zh ? "。" : "."]];
}

// Two to six sentences: the counts, then the others, each with the colour of its verdict.
function prose(claims) {
  const items = (kind, sentences) => sentences.map((sentence) => box("li", kind, ...sentence));
  const list = make("ul", {}, ...items("bad", falseSentences(claims)), ...items("half", dependsSentence(claims)),
    ...items("good", trueSentence(claims)), ...items("plain", openSentence(claims)));
  return box("div", "prose", make("p", {}, ...countSentences(claims)), list);
}
