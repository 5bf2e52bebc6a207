// What isobar watch draws: charts of lines, and the table of modules.
#include <doctest/doctest.h>

#include <regex>
#include <sstream>

#include "../../experiments/run/text_chart.h"
#include "../../experiments/tool/watch/view.h"

namespace isobar::watch_drawing_test {

TEST_CASE("a line chart joins its values, marks single points and tells both ranges") {
  CHECK(line_chart("steep", {{0, 1, 2, 3}, {0, 10, 0, 10}}, {{3}, {10}}, 3, 8) ==
        "steep\n"
        "10 ┤  ⡼⢧   ○\n"
        "   │ ⣸⠁⠈⣇ ⣸⠁\n"
        " 0 ┤⣰⠃  ⠘⣶⠃ \n"
        "    0      3\n");
  CHECK(line_chart("none", {{0, 1}, {NAN, NAN}}, {}, 2, 4) == "none\n– ┤    \n– ┤    \n");
  CHECK(line_chart("all infinite", {{0, 1}, {NAN, INFINITY}}, {}, 2, 4) ==
        "all infinite\n– ┤   ▴\n– ┤    \n");
  CHECK(line_chart("up", {{0, 1, 2}, {1, 2, INFINITY}}, {{0, 2}, {-INFINITY, INFINITY}}, 2, 3) ==
        "up\n2 ┤ ⡼▴\n1 ┤▾⠃ \n   0 2\n");
  CHECK(line_chart("one", {{5}, {2}}, {}, 1, 3) == "one\n2 ┤ ⠐ \n   5 5\n");
}

TEST_CASE("the table of modules says how std and gradient norm moved, in the lines and columns there are") {
  CHECK(sparkline({1, 10, 100}, 8) == "▁▅█");
  CHECK(sparkline({2, 2, 0, NAN}, 8) == "▅▅  ");
  CHECK(sparkline({1, 10, INFINITY, NAN}, 8) == "▁█↑ ");
  CHECK(sparkline({1, 2, 3, 4, 5, 6, 7, 8, 100}, 2) == "▁█");
  std::vector<ModuleHistory> modules;
  for (const char* name :
       {"embed_tokens", "blocks.0.mlp.up_proj", "blocks.0.mlp", "blocks.0", "blocks.1", "norm"})
    modules.push_back({name,
                       std::string(name).size() == 8 ? "TransformerBlock" : "Linear",
                       {1, 3, 2},
                       {0, 0, 0},
                       {0.5, 0, 0.25}});
  const std::string text = module_table(modules, 24, 120);
  CHECK(std::regex_search(text, std::regex("^ +std +gradient norm\nmodule +first +now +first +now\n")));
  CHECK(std::regex_search(text, std::regex("\nnorm +1 +2 +×2  ▁█▅ +0\\.5 +0\\.25 +×0\\.5  █ ▁\n$")));
  std::vector<ModuleHistory> with_shares = modules;
  for (ModuleHistory& module : with_shares) module.zeros = {0.5, 0.25}, module.saturated = {NAN, 0.125};
  CHECK(std::regex_search(module_table(with_shares, 24, 120),
                          std::regex("\nnorm .*0\\.25 .* 25 % +12\\.5 %\n$")));
  CHECK(module_table(with_shares, 24, 40) == module_table(modules, 24, 40));  // no room
  for (const size_t columns : {40, 60, 80, 100, 200}) {
    std::istringstream lines(module_table(with_shares, 24, columns));
    for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= columns);
  }
  const auto names = [&](size_t rows) {
    std::istringstream lines(module_table(modules, rows, 80));
    std::string all;
    for (std::string line; std::getline(lines, line);)
      if (line[0] != ' ' && !line.starts_with("module ")) all += line.substr(0, line.find(' ')) + " ";
    return all;
  };
  CHECK(names(8) == "embed_tokens blocks.0.mlp.up_proj blocks.0.mlp blocks.0 blocks.1 norm ");
  CHECK(names(7) == "embed_tokens blocks.0.mlp blocks.0 blocks.1 norm ");
  CHECK(names(6) == "embed_tokens blocks.0 blocks.1 norm ");
  CHECK(names(5) == "embed_tokens blocks.0 norm ");
  CHECK(names(2) == "");
  CHECK(module_table({}, 24, 80) == "");
}

}  // namespace isobar::watch_drawing_test
