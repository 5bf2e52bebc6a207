#include "trained_on.h"

#include <algorithm>
#include <cstring>

#include "../../data/shipped.h"

#include <fmt/format.h>

namespace isobar::claims {
namespace {

// {name} is a setting of the run, {corpus} and {digits} are its data. The study's first row whose `key` is part of the
// value's name counts; a value without a sentence needs no training. A study without a row counts as one that trains.
struct Sentence {
  const char *study, *key, *en, *zh;
};
constexpr Sentence sentences[] = {
    {"centering", "start.", "", ""},
    {"centering", "", "{n_layer} blocks of width {n_embd}, {steps} steps on {corpus}, rate {learning_rate}",
     "{n_layer} 块、宽 {n_embd}，在{corpus}上训练 {steps} 步，学习率 {learning_rate}"},
    {"conv_norms", "oracle.", "", ""},
    {"conv_norms", "",
     "a convolutional net of {depth} residual blocks of {channels} channels, {images} {digits} or {least_steps} steps, best "
     "rate of {learning_rates}",
     "{depth} 个残差块、{channels} 通道的卷积网络，{images} 张{digits}或 {least_steps} 步，学习率取 {learning_rates} 中最佳"},
    {"decay_study", "", "", ""},
    {"depth_trainability", "", "width {width}, {steps} steps of Adam on {digits}, rate {learning_rate}",
     "宽 {width}，在{digits}上用 Adam 训练 {steps} 步，学习率 {learning_rate}"},
    {"duel", "", "{n_layer} layers of width {width}, {steps} steps on {data}, each net at its own best rate",
     "{n_layer} 层、宽 {width}，在{data}上训练 {steps} 步，每个网络取各自最佳学习率"},
    {"fine_tuning", "",
     "{n_layer} blocks of width {n_embd}, {steps} steps on one of two texts at rate {learning_rate}, then "
     "{finetuning_steps} on the other at {finetuning_rate}",
     "{n_layer} 块、宽 {n_embd}，在两种文本之一上训练 {steps} 步（学习率 {learning_rate}），再在另一种上训练 "
     "{finetuning_steps} 步（学习率 {finetuning_rate}）"},
    {"ladder", "", "{n_layer} blocks of width {widths}, on {corpus}, each net and rung at its own best rate",
     "{n_layer} 块、宽 {widths}，在{corpus}上训练，每个网络在每级取各自最佳学习率"},
    {"lm_norms", ".start.", "", ""},
    {"lm_norms", "x{deep_layers}.",
     "{deep_layers} blocks of width {widths}, {deep_steps} steps on {corpus}, rates {deep_learning_rates}",
     "{deep_layers} 块、宽 {widths}，在{corpus}上训练 {deep_steps} 步，学习率 {deep_learning_rates}"},
    {"lm_norms", "",
     "{n_layer} blocks of width {widths}, {steps} steps on {corpus}, best rate of {learning_rates}",
     "{n_layer} 块、宽 {widths}，在{corpus}上训练 {steps} 步，学习率取 {learning_rates} 中最佳"},
    {"logit_growth", "",
     "{n_layer} blocks of width {n_embd}, {steps} steps on {corpus}, rate {learning_rate}",
     "{n_layer} 块、宽 {n_embd}，在{corpus}上训练 {steps} 步，学习率 {learning_rate}"},
    {"majority", "",
     "layers of width {d_model}, {steps} steps on sequences with a most frequent token, rate {learning_rate}",
     "宽 {d_model} 的层，在“找出最多的词元”的序列上训练 {steps} 步，学习率 {learning_rate}"},
    {"norm_jacobian", "", "", ""},
    {"norm_motives", "few.",
     "{depth} layers of width {width}, {few_steps} steps of SGD on {few} {digits}, best rate of "
     "{learning_rates}",
     "{depth} 层、宽 {width}，在 {few} 张{digits}上用 SGD 训练 {few_steps} 步，学习率取 {learning_rates} 中最佳"},
    {"norm_motives", "batch2.", "{depth} layers of width {width}, {small} {digits}, each seen once, in twos",
     "{depth} 层、宽 {width}，{small} 张{digits}各看一次，批大小 2"},
    {"norm_motives", "batch4.", "{depth} layers of width {width}, {small} {digits}, each seen once, in fours",
     "{depth} 层、宽 {width}，{small} 张{digits}各看一次，批大小 4"},
    {"norm_motives", "batch8.",
     "{depth} layers of width {width}, {small} {digits}, each seen once, in eights",
     "{depth} 层、宽 {width}，{small} 张{digits}各看一次，批大小 8"},
    {"norm_motives", ".skewness", "", ""},
    {"norm_motives", "",
     "{depth} layers of width {width}, {steps} steps of SGD on {digits}, best rate of {learning_rates}",
     "{depth} 层、宽 {width}，在{digits}上用 SGD 训练 {steps} 步，学习率取 {learning_rates} 中最佳"},
    {"norm_properties", "", "", ""},
    {"norm_speed", "", "", ""},
    {"rank_collapse", "", "", ""},
    {"recurrent_norms", "",
     "an RNN of {hidden} units, {steps} steps of Adam on {digits}, best rate of {learning_rates}",
     "{hidden} 个单元的 RNN，在{digits}上用 Adam 训练 {steps} 步，学习率取 {learning_rates} 中最佳"},
    {"settings", "",
     "{n_layer} blocks of width {width}, {steps} or {long_steps} steps in sixteen settings, each net at its own best rate",
     "{n_layer} 块、宽 {width}，在十六种设置下训练 {steps} 或 {long_steps} 步，每个网络取各自最佳学习率"},
    {"transformer_stack", "", "", ""},
    {"warmup", "weight_grad_norm.", "", ""},
    {"warmup", "", "{n_layer} blocks of width {n_embd}, {steps} steps on {corpus}, rates {learning_rates}",
     "{n_layer} 块、宽 {n_embd}，在{corpus}上训练 {steps} 步，学习率 {learning_rates}"},
    {"what_trains", "transformer.", "blocks of width {n_embd}, {steps} steps on {corpus}, every rate",
     "宽 {n_embd} 的块，在{corpus}上训练 {steps} 步，所有学习率"},
    {"what_trains", "score.", "nets of width {width} and {n_embd}, {steps} steps, every rate",
     "宽 {width} 与 {n_embd} 的网络，训练 {steps} 步，所有学习率"},
    {"what_trains", "", "layers of width {width}, {steps} steps on {digits}, every rate",
     "宽 {width} 的层，在{digits}上训练 {steps} 步，所有学习率"},
};

// A name that the reader knows is said of those data alone: where the run's environment has their checksum. Kept values
// have no environment; they are of the data that come along.
std::string corpus_text(const Json& summary, bool chinese) {
  const std::string name = summary.value("corpus", "");
  const bool kept = !summary.contains("environment");
  const std::string xxh3 = kept ? "" : summary["environment"].value("data", Json::object()).value(name, "");
  if (name == "synthetic" && xxh3.empty()) return chinese ? "合成语言" : "the synthetic language";
  if (kept || is_shipped({name, xxh3})) {
    if (name == "tinyshakespeare.txt") return chinese ? " Tiny Shakespeare " : "Tiny Shakespeare";
    if (name == "kjv.txt") return chinese ? "英王钦定本圣经" : "the King James Bible";
  }
  if (name.empty()) return "";
  return chinese ? fmt::format("名为 {} 的文本", name) : fmt::format("a text named {}", name);
}

std::string digits_text(const Json& summary, bool chinese) {
  const Json data = summary.value("/environment/data"_json_pointer, Json::object());
  bool known = data.size() == 2;  // images and labels
  for (const auto& [name, xxh3] : data.items()) known &= is_shipped({name, xxh3.get<std::string>()});
  if (known || !summary.contains("environment")) return chinese ? " MNIST 数字" : "MNIST digits";
  return chinese ? "来源未知的数字图像" : "digits of unknown origin";
}

// A setting as a person reads it; empty where the summary has none of that name.
std::string setting_text(const Json& summary, const std::string& name, bool chinese) {
  if (name == "data" && summary.value("corpus", "") == "digits") return digits_text(summary, chinese);
  if (name == "corpus" || name == "data") return corpus_text(summary, chinese);
  if (name == "digits") return digits_text(summary, chinese);
  const Json config = summary.value("config", Json::object());
  if (!config.contains(name)) return "";
  const Json& value = config[name];
  if (value.is_string()) return value.get<std::string>();
  // depth_trainability tries several rates where its setting is 0.
  if (name == "learning_rate" && value.get<double>() == 0) return chinese ? "各取最佳" : "tuned";
  return fmt::format("{:g}", value.get<double>());
}

std::string in_words(const Json& summary, const std::string& sentence, bool chinese) {
  std::string text;
  for (size_t at = 0; at < sentence.size();) {
    const size_t open = std::min(sentence.find('{', at), sentence.size());
    text += sentence.substr(at, open - at);
    if (open == sentence.size()) break;
    const size_t close = sentence.find('}', open);
    const std::string value = setting_text(summary, sentence.substr(open + 1, close - open - 1), chinese);
    if (value.empty()) return chinese ? "其摘要未写明训练设置" : "its summary does not say on what";
    text += value;
    at = close + 1;
  }
  return text;
}

}  // namespace

Phrase trained_on(const Json& summary, const std::string& key) {
  const std::string study = summary.value("program", "");
  for (const Sentence& row : sentences)
    if (row.study == study && key.find(in_words(summary, row.key, false)) != std::string::npos) {
      std::string english = in_words(summary, row.en, false);
      if (english.starts_with("1 blocks ")) english.erase(std::strlen("1 block"), 1);
      return {english, in_words(summary, row.zh, true)};
    }
  if (!study.empty() && std::ranges::count(sentences, study, &Sentence::study) == 0)
    return {"its study does not say on what", "其研究未写明训练设置"};
  return {};
}

bool trains(const std::string& study, const std::string& key) {
  const auto* row = std::ranges::find_if(sentences, [&](const Sentence& one) {
    return one.study == study && key.find(one.key) != std::string::npos;
  });
  return row == std::end(sentences) || *row->en != '\0';
}

}  // namespace isobar::claims
