#include "trained_on.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <set>

#include "../../core/error.h"
#include "../../data/shipped.h"

namespace isobar {
namespace {

constexpr std::array<const char*, 3> names_of_data = {"corpus", "digits", "data"};

std::string corpus_text(const Json& summary, bool chinese) {
  const std::string name = summary.value("corpus", "");
  const std::string xxh3 = summary.value("/environment/data"_json_pointer, Json::object()).value(name, "");
  if (name == "synthetic" && xxh3.empty()) return chinese ? "合成语言" : "the synthetic language";
  if (is_shipped({name, xxh3})) {
    if (name == "tinyshakespeare.txt") return chinese ? " Tiny Shakespeare " : "Tiny Shakespeare";
    if (name == "kjv.txt") return chinese ? "英王钦定本圣经" : "the King James Bible";
  }
  if (name.empty()) return chinese ? "其研究未写明的文本" : "a text that its study does not name";
  return chinese ? fmt::format("名为 {} 的文本", name) : fmt::format("a text named {}", name);
}

std::string digits_text(const Json& summary, bool chinese) {
  const Json data = summary.value("/environment/data"_json_pointer, Json::object());
  // Images and labels, the files of MNIST's format; a study of several tasks may have read a text too.
  int64_t files = 0, shipped = 0;
  for (const auto& [name, xxh3] : data.items())
    if (name.find("-idx") != std::string::npos) {
      ++files;
      shipped += is_shipped({name, xxh3.get<std::string>()});
    }
  if (files == 2 && shipped == 2) return chinese ? " MNIST 数字" : "MNIST digits";
  return chinese ? "来源未知的数字图像" : "digits of unknown origin";
}

// A setting as a person reads it.
std::string setting_text(const Json& summary, const std::string& name, bool chinese) {
  if (name == "digits" || (name == "data" && summary.value("corpus", "") == "digits"))
    return digits_text(summary, chinese);
  if (name == "corpus" || name == "data") return corpus_text(summary, chinese);
  const Json& value = summary.at("config").at(name);
  if (value.is_string()) return value.get<std::string>();
  // A search tries several rates where the setting is 0.
  if (name == "learning_rate" && value.get<double>() == 0) return chinese ? "各取最佳" : "tuned";
  return fmt::format("{:g}", value.get<double>());
}

// The sentence with each {name} replaced by `value_of(name)`.
std::string filled_in(const std::string& sentence,
                      const std::function<std::string(const std::string& name)>& value_of) {
  std::string text;
  for (size_t at = 0; at < sentence.size();) {
    const size_t open = std::min(sentence.find('{', at), sentence.size());
    text += sentence.substr(at, open - at);
    if (open == sentence.size()) break;
    const size_t close = sentence.find('}', open);
    check(close != std::string::npos, "trained: '{}' has a {{ without a }}", sentence);
    text += value_of(sentence.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return text;
}

}  // namespace

void check_trained(const std::vector<TrainedOn>& entries, const Json& config) {
  check(
      !entries.empty(),
      "the study does not say on what it trains nets; give its Program .trained, or .trained = trains_no_nets "
      "(run/trained_on.h)");
  for (const TrainedOn& entry : entries) {
    check(entry.en.empty() == entry.zh.empty(), "trained: '{}{}' is in one language alone; write .en and .zh",
          entry.en, entry.zh);
    const auto check_names = [&](const std::string& text, bool data_too) {
      filled_in(text, [&](const std::string& name) {
        check(config.contains(name) || (data_too && std::ranges::count(names_of_data, name) > 0),
              "trained: '{}' names {{{}}}, which is no setting of the program", text, name);
        return std::string();
      });
    };
    check_names(entry.of, false);
    check_names(entry.en, true);
    check_names(entry.zh, true);
  }
}

Json trained_json(const std::vector<TrainedOn>& entries, const Json& summary) {
  const auto text = [&](const std::string& sentence, bool chinese) {
    return filled_in(sentence, [&](const std::string& name) { return setting_text(summary, name, chinese); });
  };
  std::vector<std::string> parts;  // of keys
  for (const TrainedOn& entry : entries) parts.push_back(text(entry.of, false));
  std::set<size_t> used;
  const Json measured = summary.value("measured", Json::object());  // items() refers to it
  for (const auto& [key, value] : measured.items()) {
    const auto is_in_key = [&key = key](const std::string& part) {
      return key.find(part) != std::string::npos;
    };
    used.insert(static_cast<size_t>(std::ranges::find_if(parts, is_in_key) - parts.begin()));
  }
  Json json = Json::array();
  for (const size_t i : used) {
    if (i == entries.size()) continue;
    std::string english = text(entries[i].en, false);
    if (english.starts_with("1 blocks")) english.erase(std::strlen("1 block"), 1);
    json.push_back({{"of", parts[i]}, {"en", english}, {"zh", text(entries[i].zh, true)}});
  }
  return json;
}

}  // namespace isobar
