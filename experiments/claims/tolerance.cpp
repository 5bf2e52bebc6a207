// The words of tolerance, which file.h declares.
#include <fmt/ranges.h>

#include "../../data/utf8_stream.h"
#include "../run/lists.h"
#include "file.h"

namespace isobar::claims {
namespace {

struct Choice {
  const char* word;
  Tolerance tolerance;
};

Tolerance chosen(TomlTable& part, const char* field, const std::vector<Choice>& choices) {
  const std::string text = part.text(field);
  std::vector<std::string> known;
  for (const Choice& choice : choices) {
    if (choice.word == text) return choice.tolerance;
    known.emplace_back(choice.word);
  }
  part.refuse(part.line_of(field),
              fmt::format("{}: wanted one of \"{}\", got '{}'{}", field, fmt::join(known, "\", \""),
                          one_line(text), did_you_mean(text, known)));
}

Tolerance better(TomlTable& part) {
  const Phrase than_0{"better: beyond 0; a difference within the margin is none",
                      "“更优”：越过 0；在余量之内则无差别"},
      than_1{"better: beyond 1; a quotient within the margin is none", "“更优”：越过 1；在余量之内则无差别"};
  return chosen(part, "better",
                {{"above 0", {just_above(0), infinity, than_0}},
                 {"below 0", {-infinity, just_below(0), than_0}},
                 {"above 1", {just_above(1), infinity, than_1}},
                 {"below 1", {-infinity, just_below(1), than_1}}});
}

Tolerance as_good(TomlTable& part) {
  return chosen(
      part, "as_good",
      {{"share",
        {-0.01, 0.01, {"as good: within a hundredth of the whole", "“相当”：与全部之比相差不超过百分之一"}}},
       {"percent", {-1, 1, {"as good: within 1 %", "“相当”：相差不超过 1 %"}}},
       {"quotient",
        {0.99,
         1.01,
         {"as good: a quotient within a hundredth of 1", "“相当”：比值与 1 相差不超过百分之一"}}}});
}

Tolerance about(TomlTable& part) {
  const double value = part.number("about");
  if (value == 0)
    part.refuse(part.line_of("about"), "about: 0 has no tenth; write within and its reason, or as_good");
  const double ends[] = {0.9 * value, 1.1 * value};
  return {std::min(ends[0], ends[1]),
          std::max(ends[0], ends[1]),
          {fmt::format("about {:g}: a tenth to either side", value),
           fmt::format("“约” {:g}：两侧各十分之一", value)}};
}

}  // namespace

Tolerance read_tolerance(TomlTable& part, const char* word) {
  const std::string_view name = word;
  return name == "about" ? about(part) : name == "better" ? better(part) : as_good(part);
}

}  // namespace isobar::claims
