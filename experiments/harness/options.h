// Options: what the command lines of all programs have in common. Long options may be spelled with - or _, an unknown
// one is refused with the nearest name, --help has one form, and the shell can ask what may come next.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace isobar {

// The group of those options that --help leaves to --help-all.
inline constexpr const char* more_settings = "More settings";

// The first word of a command line that asks for completions.
inline constexpr const char* complete_flag = "--complete";

// Gives the app, and the subcommands that are added to it later, this form of help: no line beyond 80 columns, and
// `example` on top, one command a line.
void set_help_form(CLI::App& app, const std::string& example);

// A row of the help: a name and what it means, wrapped below each other.
std::string help_row(const std::string& name, const std::string& meaning);

// The option takes one of these words; they are completed. Whoever reads the value checks it.
void set_choices(CLI::Option& option, const std::vector<std::string>& choices);

// Parses the words after the program's name. Throws Error for what the app does not take, and CLI::Success where
// --help of CLI11 or --version is among them.
void parse_words(CLI::App& app, const std::vector<std::string>& words);

// The words that may stand in place of the last one, one a line; none where it is the user's own value.
std::string completions(const CLI::App& app, std::vector<std::string> words);

}  // namespace isobar
