#include "article.h"

#include <algorithm>

namespace isobar::fixtures {
extern const char article[], article_style[];
}  // namespace isobar::fixtures

namespace isobar::article {
namespace {

// A begun {{if}}: whether its condition is true, and the line in which it stands.
struct Open {
  bool shown;
  int64_t line;
};

}  // namespace

std::string filled(std::string_view text, const Values& values) {
  std::string result;
  std::vector<Open> open;
  for (int64_t line = 1;;) {
    const size_t begin = std::min(text.find("{{"), text.size());
    const bool shown = std::ranges::all_of(open, &Open::shown);
    if (shown) result += text.substr(0, begin);
    line += std::ranges::count(text.substr(0, begin), '\n');
    if (begin == text.size()) break;
    const size_t end = text.find("}}", begin);
    check(end != std::string_view::npos, "article.html, line {}: {{{{ without }}}}", line);
    std::string word(text.substr(begin + 2, end - begin - 2));
    text.remove_prefix(end + 2);
    const int64_t lines = std::ranges::count(word, '\n');
    std::ranges::replace(word, '\n', ' ');
    try {
      if (word.starts_with("if "))
        open.push_back({values.is(word.substr(3)), line});
      else if (word == "else" || word == "end") {
        check(!open.empty(), "{{{{{}}}}} without {{{{if}}}}", word);
        open.back().shown = !open.back().shown;
        if (word == "end") open.pop_back();
      } else if (shown)
        result += values.html(word);
    } catch (const Error& error) {
      throw Error(fmt::format("article.html, line {}: {}", line, error.what()));
    }
    line += lines;
  }
  check(open.empty(), "article.html, line {}: {{{{if}}}} without {{{{end}}}}",
        open.empty() ? 0 : open.back().line);
  return result;
}

std::string_view prose() { return fixtures::article; }

std::string page(const claims::Kept& kept) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"isobar\">\n<style>\n" +
         std::string(fixtures::article_style) + "</style>\n" + filled(prose(), Values(kept)) + "</html>\n";
}

}  // namespace isobar::article
