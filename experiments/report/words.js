// Every word of the page, in both languages.
const words = {
  en: {
    lead: "What holds of what is written about normalization: every claim is a program.",
    claims: "Claims", plots: "Measurements", runs: "Runs",
    id: "Id", source: "Source", claim: "Claim as printed", verdict: "Verdict",
    search: "search claims", shown: (n, all) => `${n} of ${all} claims`,
    confirmed: "confirmed", refuted: "refuted", partly: "partly",
    "no source found": "no source found", "not run here": "not run here", cited: "cited",
    holds: "holds", fails: "does not hold", measured: "measured", wanted: "wanted", theory: "theory",
    printed: "printed", configuration: "configuration", environment: "environment", timing: "timing",
    expectations: "expectations", comparison: "Runs over each other", compared: "runs shown",
    bears: "Claims:", charts: "Charts:", "left out": "left out", phrases: [],
  },
  zh: {
    lead: "关于归一化的说法，哪些成立：每一条断言都是一个程序。",
    claims: "断言", plots: "测量", runs: "运行",
    id: "编号", source: "来源", claim: "原文断言", verdict: "判定",
    search: "搜索断言", shown: (n, all) => `共 ${all} 条，显示 ${n} 条`,
    confirmed: "成立", refuted: "不成立", partly: "部分成立",
    "no source found": "未找到出处", "not run here": "此处未运行", cited: "仅引用",
    holds: "成立", fails: "不成立", measured: "实测", wanted: "要求", theory: "理论",
    printed: "原文数值", configuration: "配置", environment: "环境", timing: "耗时",
    expectations: "预期", comparison: "多次运行叠加", compared: "显示的运行",
    bears: "相关断言：", charts: "图：", "left out": "未涉及",
    phrases: [
      [/^every seed /, "每个种子"], [/exactly /, "恰为 "], [/at most /, "不超过 "], [/at least /, "不小于 "],
      [/ to /, " 至 "], [/^(.*) as one more seed$/, "$1 可作为又一个种子的值"],
      [/(\d+) not finite/, "$1 个非有限值"], [/not finite/, "非有限"],
      [/^the run (\S+) could not be made: /, "运行 $1 未能进行："], [/^the run (\S+) has no figure /, "运行 $1 没有数值 "],
    ],
  },
};
