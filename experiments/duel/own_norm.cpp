#include "own_norm.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../run/lists.h"

namespace isobar::fixtures {
extern const char own_norms[], own_norms_check[];
}

namespace isobar::duel {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<std::string>;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Names, "::" and other characters one by one; without comments, literals and lines of the preprocessor.
Tokens tokens_of(const std::string& text) {
  Tokens tokens;
  size_t at = 0;
  const auto pass = [&](std::string_view end) {
    at = std::min(text.find(end, at), text.size() - end.size()) + end.size();
  };
  bool line_begins = true;
  while (at < text.size()) {
    const char c = text[at];
    const std::string_view rest = std::string_view(text).substr(at);
    if (c == '\n') {
      line_begins = true, ++at;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
    } else if (rest.starts_with("//") || (c == '#' && line_begins)) {
      while (at < text.size() && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
    } else if (rest.starts_with("/*")) {
      at += 2, pass("*/");
    } else if (rest.starts_with("R\"")) {
      pass(")" + std::string(rest.substr(2, rest.find('(') - 2)) + "\"");
    } else if (c == '"' || c == '\'') {
      for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at) at += text[at] == '\\';
      ++at;
    } else {
      const size_t begin = at;
      while (at < text.size() && (in_name(text[at]) || (at > begin && text[at] == '\'' && std::isdigit(c))))
        ++at;
      if (at == begin) at += rest.starts_with("::") ? 2 : 1;
      tokens.push_back(text.substr(begin, at - begin));
    }
    line_begins = line_begins && (c == '\n' || std::isspace(static_cast<unsigned char>(c)) != 0);
  }
  tokens.insert(tokens.end(), 4, "");  // whoever looks ahead finds an end
  return tokens;
}

struct Found {
  std::string type;
  Tokens bases;  // their names without namespaces
  bool is_template;
};

// The structs of namespaces that have a base.
std::vector<Found> structs_in(const Tokens& tokens) {
  std::vector<Found> found;
  Tokens scopes;  // of each brace that is open, its namespace with "::", or "{" of anything else
  bool is_template = false;
  std::string opens = "{";  // what the next brace does
  for (size_t i = 0; i + 4 < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    if (token == "{") {
      scopes.push_back(std::exchange(opens, "{"));
    } else if (token == "}") {
      if (!scopes.empty()) scopes.pop_back();
    } else if (token == "namespace" && tokens[i + 1] != "=" && tokens[i + 2] != "=") {
      for (opens.clear(); tokens[i + 1] != "{" && tokens[i + 1] != ";" && !tokens[i + 1].empty(); ++i)
        opens += tokens[i + 1] == "inline" ? "" : tokens[i + 1];
      if (!opens.empty()) opens += "::";
      if (tokens[i + 1] == ";") opens = "{";  // using namespace
    }
    if (token == ";" || token == "{" || token == "}") is_template = false;
    if (token == "template") is_template = true;
    if ((token != "struct" && token != "class") || (i > 0 && tokens[i - 1] == "enum")) continue;
    if (std::ranges::count(scopes, "{") > 0) continue;
    Found one{fmt::format("{}", fmt::join(scopes, "")), {}, is_template};
    size_t colon = i + 1;
    std::string name;
    for (; in_name((tokens[colon] + " ")[0]) || tokens[colon] == "::"; ++colon)
      if (tokens[colon] != "final") name = tokens[colon];
    if (tokens[colon] != ":" || name.empty()) continue;
    one.type += name;
    for (int angles = 0; !tokens[colon].empty() && tokens[colon] != "{"; ++colon) {
      angles += tokens[colon] == "<" ? 1 : tokens[colon] == ">" ? -1 : 0;
      const std::string& next = tokens[colon + 1];
      if (angles == 0 && in_name(tokens[colon][0]) && (next == "," || next == "{" || next == "<"))
        one.bases.push_back(tokens[colon]);
    }
    if (tokens[colon] != "{") continue;
    found.push_back(std::move(one));
  }
  return found;
}

std::string last_name(const std::string& type) { return type.substr(type.rfind(':') + 1); }

// FusedISRU, fused_isru and fusedisru are one name.
std::string plain(const std::string& name) {
  std::string letters;
  for (const char c : name)
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

// A text as C++ has it.
std::string literal(const std::string& text) { return "R\"own_norm(" + text + ")own_norm\""; }

}  // namespace

std::string module_in(const std::string& text, const std::string& header) {
  const std::vector<Found> all = structs_in(tokens_of(text));
  Tokens modules{"Module"};  // and what derives from it in this file
  std::vector<Found> found;
  for (const Found& one : all) {
    const auto is_module = [&](const std::string& base) { return std::ranges::count(modules, base) > 0; };
    if (!std::ranges::any_of(one.bases, is_module)) continue;
    modules.push_back(last_name(one.type));
    found.push_back(one);
  }
  if (found.empty()) found = all;  // one that derives from a layer of the library, which the compiler knows
  const std::string stem = fs::path(header).stem().string();
  const auto named = [&](const Found& one) { return plain(last_name(one.type)) == plain(stem); };
  if (const auto one = std::ranges::find_if(found, named); one != found.end()) found = {*one};
  check(
      !found.empty(),
      "{}: wanted a struct that derives from isobar::Module, found none; new_layer starts one, see new_layer --help",
      header);
  if (found.size() > 1) {
    Tokens names;
    for (const Found& one : found) names.push_back(one.type);
    throw_error(fmt::format(
        "{}: wanted one struct that derives from isobar::Module, found {}; give the norm the name of the file",
        header, fmt::join(names, " and ")));
  }
  check(!found[0].is_template, "{}: {} is a template; wanted a struct, such as struct Mine : {}<…> {{}}",
        header, found[0].type, found[0].type);
  return found[0].type;
}

std::vector<OwnNorm> own_norms(const std::vector<std::string>& headers) {
  std::vector<OwnNorm> norms;
  for (const std::string& header : headers) {
    if (std::ranges::count(norms, header, &OwnNorm::header) > 0) continue;
    const std::string folder = fs::path(header).parent_path().string();
    std::vector<std::string> others;
    for (const std::string& name : names_in(folder.empty() ? "." : folder))
      if (name.ends_with(fs::path(header).extension().string()))
        others.push_back((fs::path(folder) / name).string());
    check(fs::is_regular_file(header), "there is no file '{}'{}", header, did_you_mean(header, others));
    const OwnNorm norm{header, fs::canonical(header).string(),
                       module_in(read_file(header, size_t{1} << 24), header)};
    for (const OwnNorm& other : norms)
      check(other.path == norm.path || other.type != norm.type,
            "{} and {} both have a struct {}, and a program one of a name; rename one", other.header, header,
            norm.type);
    norms.push_back(norm);
  }
  return norms;
}

std::string replaced(std::string text, const std::string& name, const std::string& value) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
    text.replace(at, name.size(), value);
  return text;
}

std::string registration_of(const std::vector<OwnNorm>& norms) {
  std::string includes, rows;
  std::set<std::string> paths;
  for (const OwnNorm& norm : norms) {
    if (paths.insert(norm.path).second) includes += fmt::format("#include \"{}\"\n", norm.path);
    rows += fmt::format("const bool norm_{} = isobar::register_norm({}, made<{}>);\n", &norm - norms.data(),
                        literal(norm.header), norm.type);
  }
  return replaced(replaced(fixtures::own_norms, "$INCLUDES", includes), "$ROWS", rows);
}

std::string checking_of(const std::vector<OwnNorm>& norms) {
  std::string rows;
  for (const OwnNorm& norm : norms)
    rows += fmt::format(
        "      {{{0}, [] {{ return isobar::make_norm({0}, {{7}}); }}, x, {{.output_shape = x.shape()}}}},\n",
        literal(norm.header));
  return replaced(fixtures::own_norms_check, "$ROWS", rows);
}

}  // namespace isobar::duel
