// isobar doubt: can printed numbers come from this code? (experiments/doubt/README.md)
#include <fmt/ranges.h>

#include "../doubt/verdict.h"

#include "../../data/file.h"
#include "../run/settings.h"
#include "../run/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

constexpr size_t longest_file = size_t{1} << 20;

struct DoubtLine {
  std::vector<std::string> files;
  std::vector<Setting> settings = {};
  std::vector<std::string> texts = {};    // of the settings, as typed
  std::vector<std::string> printed = {};  // of each quantity
  int64_t seed = 0;
};

// A file's table, or an empty one, with what the command line says of it.
doubt::PrintedTable table_of(const Tool& tool, const DoubtLine& line, const std::string& file) {
  doubt::PrintedTable table;
  if (!file.empty()) doubt::read_table(read_file(file, longest_file), file, table);
  for (size_t i = 0; i < line.settings.size(); ++i) {
    const std::string flag = "--" + line.settings[i].name;
    if (tool.given(flag)) set_setting_text(table.net, line.settings[i].name, line.texts[i], flag);
  }
  for (size_t i = 0; i < line.printed.size(); ++i) {
    const doubt::QuantityName& name = doubt::quantity_names()[i];
    const std::string flag = fmt::format("--{}", name.field);
    if (!tool.given(flag)) continue;
    std::erase_if(table.numbers, [&](const doubt::Number& one) { return one.quantity == name.quantity; });
    table.add(name.quantity, line.printed[i], flag);
  }
  table.finish(file.empty() ? "" : file + ": ");
  return table;
}

void say(const Tool& tool, const DoubtLine& line, const std::string& file) {
  const doubt::PrintedTable table = table_of(tool, line, file);
  if (!table.text.empty()) write_out(fmt::format("{}\n", table.text));
  const doubt::Verdict verdict = doubt::judge(table, line.seed);
  doubt::Changes changes;
  if (!verdict.can) changes = doubt::nearest_changes(table, line.seed);
  write_out(doubt::report_of(table, verdict, verdict.can ? nullptr : &changes));
}

// "in a plain layer: norm_relu or relu_norm"
std::string meaning_of(const Setting& setting) {
  return setting.limits.choices.empty()
             ? setting.help
             : fmt::format("{}: {}", setting.help, fmt::join(setting.limits.choices, ", "));
}

}  // namespace

int doubt(const Words& words) {
  DoubtLine line;
  isobar::doubt::PrintedTable defaults;
  for (const Setting& setting : settings_of(defaults.net))
    if (setting.name != "seeds") line.settings.push_back(setting);
  for (const Setting& setting : line.settings) line.texts.push_back(text_of(setting.value));
  line.printed.resize(isobar::doubt::quantity_names().size());

  Tool tool("isobar doubt",
            "Can these numbers come from this code? Judges the numbers that a text prints for a net before "
            "training.",
            "isobar doubt table.toml\n"
            "isobar doubt --depth 3 --width 512 --std \"0.8932 0.6421 0.4156\"");
  tool.words("FILE", line.files, "TOML tables; options on the command line override their fields");
  for (size_t i = 0; i < line.printed.size(); ++i) {
    const isobar::doubt::QuantityName& name = isobar::doubt::quantity_names()[i];
    tool.option(fmt::format("--{}", name.field), line.printed[i], name.help);
  }
  for (size_t i = 0; i < line.settings.size(); ++i)
    tool.option("--" + line.settings[i].name, line.texts[i], meaning_of(line.settings[i]));
  tool.option("--seed", line.seed, "seed of the first net", between(0, 1e15));
  return tool.run(words, [&] {
    if (line.files.empty()) say(tool, line, "");
    for (size_t i = 0; i < line.files.size(); ++i) {
      if (i > 0) write_out("\n");
      say(tool, line, line.files[i]);
    }
  });
}

}  // namespace isobar::verbs
