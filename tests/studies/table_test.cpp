#include <doctest/doctest.h>

#include <cmath>

#include "../../core/error.h"
#include "../../experiments/run/table.h"
#include "../holds.h"
#include "../message_of.h"
#include "../scoped_variable.h"

namespace isobar::table_test {

TEST_CASE("a table aligns numbers right and text left, counting code points") {
  Table table({"läyer", "std"}, "lr");
  table.row({"ä", "0.5"});
  table.row({"output", "1e-37"});
  CHECK(table.text() ==
        "läyer     std\n"
        "──────  ─────\n"
        "ä         0.5\n"
        "output  1e-37\n");
  CHECK_THROWS_AS(table.row({"one"}), Error);
  CHECK(number_text(6.24e-37) == "6.24e-37");
  CHECK(number_text(INFINITY) == "inf");
}

TEST_CASE("a table that is too wide wraps its texts and headings, and never a number") {
  Table table({"id", "what a text says of it", "measured value"}, "llr");
  table.row({"A01", "the std halves in each of eight layers", "0.3387 [0.328, 0.3496]"});
  table.row({"A02", "so", "4"});
  CHECK(table.text(51) ==
        "id   what a text says of it          measured value\n"
        "───  ──────────────────────  ──────────────────────\n"
        "A01  the std halves in each  0.3387 [0.328, 0.3496]\n"
        "     of eight layers\n"
        "A02  so                                           4\n");
  CHECK(table.text(100) ==
        "id   what a text says of it                          measured value\n"
        "───  ──────────────────────────────────────  ──────────────────────\n"
        "A01  the std halves in each of eight layers  0.3387 [0.328, 0.3496]\n"
        "A02  so                                                           4\n");
  // A single word is never broken.
  Table names({"module", "type"}, "ll");
  names.row({"blocks.0.input_layernorm", "GroupedQueryAttention"});
  CHECK(holds(names.text(20), "blocks.0.input_layernorm  GroupedQueryAttention\n"));
  // Headings of numbers wrap too; what cannot be narrower stays.
  Table numbers({"std across the batch", "n"}, "rr");
  numbers.row({"0.5", "12345678901234"});
  CHECK(numbers.text(10) ==
        "   std               n\n"
        "across\n"
        "   the\n"
        " batch\n"
        "──────  ──────────────\n"
        "   0.5  12345678901234\n");
}

TEST_CASE("a text that begins with a digit is a text: its column is flush left, and wraps") {
  Table table({"part", "measured"}, "lr");
  table.row({"1000 plain layers learn digits", "0.12"});
  table.row({"2 layers", "not finite"});
  CHECK(table.text(28) ==
        "part                measured\n"
        "────────────────  ──────────\n"
        "1000 plain              0.12\n"
        "layers learn\n"
        "digits\n"
        "2 layers          not finite\n");
  for (const char* columns : {"l", "lrr", "lx"})
    CHECK(message_of([&] {
            Table({"part", "measured"}, columns);
          }) == fmt::format("table: wanted l or r for each of 2 columns, got '{}'", columns));
}

TEST_CASE("a table is as wide as COLUMNS says, or 80 where there is no terminal") {
  Table table({"text"}, "l");
  std::string text;
  for (int i = 0; i < 10; ++i) text += std::string(i == 0 ? "" : " ") + std::string(i == 9 ? 9 : 8, 'a');
  table.row({text});
  const auto widest = [&] {
    size_t width = 0;
    const std::string shown = table.text();
    for (size_t at = 0; at < shown.size(); at = shown.find('\n', at) + 1)
      width = std::max(width, display_width(shown.substr(at, shown.find('\n', at) - at)));
    return width;
  };
  {
    const ScopedVariable columns("COLUMNS", "40");
    CHECK(widest() == 40);
  }
  {
    const ScopedVariable columns("COLUMNS", "200");
    CHECK(widest() == 90);
  }
  const ScopedVariable columns("COLUMNS", "many");
  CHECK(widest() <= terminal_size(stdout).columns);
}

TEST_CASE("text wraps at blanks, and a word that is too long after a comma or where it must") {
  using Lines = std::vector<std::string>;
  CHECK(wrapped("ab cd ef", 5) == Lines{"ab cd", "ef"});
  CHECK(wrapped("", 5) == Lines{""});
  CHECK(wrapped("one\ntwo three", 20) == Lines{"one", "two three"});
  CHECK(wrapped("alpha,beta,gamma", 11) == Lines{"alpha,beta,", "gamma"});
  CHECK(wrapped("x abcdefgh", 3) == Lines{"x", "abc", "def", "gh"});
  CHECK(wrapped("std [0.1, 0.2] at", 11) == Lines{"std", "[0.1, 0.2]", "at"});
  CHECK(wrapped("äöü äöü", 3) == Lines{"äöü", "äöü"});
}

}  // namespace isobar::table_test
