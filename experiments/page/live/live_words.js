"use strict";
// The words of the live chapter, in both languages.
Object.assign(words.en, { live: {
  title: "Run it here",
  lead: "The net of text 003, eight layers of Linear and ReLU, in your browser: forward and back, several seeds. "
    + "The points are what the text prints, the dashed line is the closed form. Change what you doubt, and press.",
  setting: "The net", press: "Press: run it", stop: "Stop", presets: "Presets",
  preset: { blog: "as the text says", he: "He's weights instead", rmsnorm: "with RMSNorm", deep: "100 layers",
    deeper: "1000 layers of 64", own: "a norm of your own" },
  formula: "y, of x, w and b", save: "save as my_norm.h",
  gradient: (error, right) =>
    `Its gradient ${right ? "agrees" : "does not agree"} with differences: ${error} of the largest element apart.`,
  field: { depth: "depth", width: "width", batch: "rows", seeds: "seeds", seed: "first seed", norm: "norm",
    order: "order", topology: "topology", init: "weights", loss: "loss" },
  charts: { std: "std of each layer's output", gradient: "gradient norm of each layer's weight" },
  layer: "layer", theory: "theory", least: "least", greatest: "greatest",
  ready: "Ready.", loading: "The module is being unpacked.", running: (done, of) => `${done} of ${of} seeds are done.`,
  stopped: (done, of) => `Stopped: ${done} of ${of} seeds are done.`,
  finished: (n, seconds, workers) =>
    `${n} seeds in ${seconds.toFixed(2)} s, on ${workers} ${workers === 1 ? "thread" : "threads"}.`,
  bits: "Bits of this run", stored: ", of the stored run", same: "the same in every bit", other: "other bits",
  compare: [". This setting is not stored here: ", " prints the same number."],
  what: "The number stands for the std and the gradient norm of every seed and layer, to the last bit.",
  slow: "This browser has no fused multiply-add that rounds once. The module computes it in doubles: the same "
    + "bits, some five times slower.",
  failed: "This cannot run: ",
  verdicts: "What the text claims of this net, judged by what you ran", onPage: "on this page",
  other_net: "The setting is not the text's own: the verdicts say what they would be, had the text used this net.",
} });
Object.assign(words.zh, { live: {
  title: "就在这里运行",
  lead: "003 一文的网络，即八层 Linear 与 ReLU，在你的浏览器里前向、反向各算一遍，取若干种子。菱形是文中印出的值，虚线是解析公式。改动你怀疑之处，再按按钮。",
  setting: "网络", press: "运行", stop: "停止", presets: "预设",
  preset: { blog: "照原文", he: "改用 He 初始化", rmsnorm: "加上 RMSNorm", deep: "100 层", deeper: "1000 层，宽 64", own: "自定义归一化" },
  formula: "y（由 x、w、b 构成）", save: "存为 my_norm.h",
  gradient: (error, right) => `其梯度与差分${right ? "一致" : "不一致"}：相差最大元素的 ${error}。`,
  field: { depth: "深度", width: "宽度", batch: "行数", seeds: "种子数", seed: "首个种子", norm: "归一化",
    order: "顺序", topology: "结构", init: "初始权重", loss: "损失" },
  charts: { std: "各层输出的标准差", gradient: "各层权重的梯度范数" },
  layer: "层", theory: "理论", least: "最小", greatest: "最大",
  ready: "就绪。", loading: "正在解开模块。", running: (done, of) => `${of} 个种子中已完成 ${done} 个。`,
  stopped: (done, of) => `已停止：${of} 个种子中完成了 ${done} 个。`,
  finished: (n, seconds, workers) => `${n} 个种子，用时 ${seconds.toFixed(2)} 秒，${workers} 个线程。`,
  bits: "本次运行的比特指纹", stored: "，存档运行的指纹", same: "逐比特相同", other: "比特不同",
  compare: ["。此处没有该设置的存档；", " 会输出同一个数。"],
  what: "此数由每个种子、每一层的标准差与梯度范数的全部比特算出。",
  slow: "此浏览器没有只舍入一次的乘加指令，模块改用双精度计算：比特相同，约慢五倍。",
  failed: "无法运行：",
  verdicts: "文中关于此网络的断言，按你的运行判定", onPage: "本页的判定",
  other_net: "设置与原文不同：以下判定表示，若原文用的是此网络，结论会如何。",
} });
