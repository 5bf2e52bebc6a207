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

Object.assign(words.en, { live_map: {
  title: "Does it train?",
  lead: "A small residual net learns digits in your browser, in 100 steps. Its learning rate, depth, norm and the scale of "
    + "its initial weights decide whether it learns at all. The map shows what was measured of such nets, and the border "
    + "that formulas predict from the initial weights alone. Choose a point, and train.",
  setting: "The net", press: "Train it", stop: "Stop",
  preset: { plain: "without a norm", large: "weights twice as large", normed: "the same with RMSNorm", deep: "32 blocks",
    deep_normed: "32 blocks with RMSNorm", fast: "a rate that is too high" },
  field: { norm: "norm", depth: "blocks", scale: "scale of the weights", rate: "learning rate" }, no_norm: "none",
  predicted: "The formulas predict that it learns", expected: "With both, it is expected to learn",
  nearest: (depth, scale) => `Measured nearest (${depth} blocks, scale ${scale}): it learns`,
  rates: (low, high) => `at rates from ${low} to ${high}`, none: "at no rate",
  here: "Measured for this net and rate", not_measured: "not measured",
  outcome: { learns: "learns", less: "learns less", nothing: "learns nothing", worse: "worse than guessing" },
  gain: (gain) => `(gain over guessing: ${gain} nats)`,
  place: "where the net is on the map", curve: "loss, step by step; dashed: guessing, and what is enough on the other digits", border: "predicted border", point: "your net",
  pale: "pale: measured of 8 blocks, or at scale 1",
  running: (n) => `Step ${n} of 100.`, stopped: (n) => `Stopped after ${n} steps.`,
  finished: (n, seconds) => `${n} steps in ${seconds.toFixed(2)} s.`,
  result: "Your net", judged: (loss, percent) => `on 412 other digits: loss ${loss}, ${percent} % right`,
  diverged: (n) => `its loss was not finite after ${n} steps`,
  bits: "Bits of this training", stored: ", of the native one ", compare: [". Natively, ", " prints the same number."],
  what: "The map is of nets that learn from 7000 grey digits. Here are 1088 digits in black and white, so nets learn less; "
    + "“learns” means 85 % of the best gain on these digits. Their borders are elsewhere in places. The bits stand for the "
    + "loss of every step and the loss on the other digits. The digits are the first ones of MNIST's test images (LeCun, "
    + "Cortes, Burges; CC BY-SA 3.0), made black and white, and may be passed on under the same licence.",
} });
Object.assign(words.zh, { live_map: {
  title: "它能训练吗？",
  lead: "一个小残差网络在你的浏览器里学认数字，共 100 步。学习率、深度、归一化与初始权重的尺度，决定它能否学会。图中是此类网络的实测结果，以及仅由初始权重推出的预测边界。选一个点，开始训练。",
  setting: "网络", press: "训练", stop: "停止",
  preset: { plain: "无归一化", large: "权重加倍", normed: "同上，加 RMSNorm", deep: "32 块", deep_normed: "32 块，加 RMSNorm",
    fast: "过高的学习率" },
  field: { norm: "归一化", depth: "块数", scale: "权重尺度", rate: "学习率" }, no_norm: "无",
  predicted: "公式预测：能学会的学习率", expected: "综合两者，预期能学会的学习率",
  nearest: (depth, scale) => `最近的实测（${depth} 块，尺度 ${scale}）：能学会的学习率`,
  rates: (low, high) => `${low} 至 ${high}`, none: "没有",
  here: "此网络、此学习率的实测", not_measured: "未测",
  outcome: { learns: "学会", less: "学得较少", nothing: "什么也没学到", worse: "比盲猜还差" },
  gain: (gain) => `（相对盲猜的增益：${gain} 纳特）`,
  place: "此网络在图上的位置", curve: "逐步的损失；虚线：盲猜，以及在另外的数字上算“学会”的损失", border: "预测的边界", point: "你的网络", pale: "浅色：8 块或尺度为 1 时的实测",
  running: (n) => `100 步中的第 ${n} 步。`, stopped: (n) => `${n} 步后停止。`,
  finished: (n, seconds) => `${n} 步，用时 ${seconds.toFixed(2)} 秒。`,
  result: "你的网络", judged: (loss, percent) => `在另外 412 个数字上：损失 ${loss}，正确率 ${percent} %`,
  diverged: (n) => `${n} 步后损失不再有限`,
  bits: "本次训练的比特指纹", stored: "，本机程序训练的指纹 ", compare: ["。本机运行 ", " 会输出同一个数。"],
  what: "图中的网络学的是 7000 个灰度数字；此处是 1088 个黑白数字，网络学到的较少，“学会”指达到这些数字上最佳增益的 85 %，边界也会有所不同。指纹由每一步的损失与验证损失的全部比特算出。"
    + "数字取自 MNIST 测试图像的前部（LeCun、Cortes、Burges；CC BY-SA 3.0），已化为黑白，可按同一许可再分发。",
} });
