// Lists: settings that are words or numbers with commas between, and a few items chosen from many.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobar {

// "a,b" → {"a", "b"}; "" → {}. An empty word between commas stays one.
std::vector<std::string> words_of(const std::string& list);

// The words of a line as a shell reads them, by its quotes and \ alone: "a 'b c' ''" → {"a", "b c", ""}. None
// where a quote is not closed. shell_line is its inverse, and shell_word that of one word: every name that a program
// puts into a command that a user may copy goes through them. What a terminal would not show, or would obey, is written
// in $'…': $'a\x1b[31m'.
std::optional<std::vector<std::string>> shell_words(std::string_view line);
std::string shell_line(std::span<const std::string> words);
std::string shell_word(const std::string& word);

// Up to `most` of the numbers 0 … n − 1, evenly, with the first and the last among them; of one, the last.
std::vector<size_t> evenly_chosen(size_t n, size_t most);

// --- The nearest name to one that nobody knows, for error messages.

// Levenshtein distance: single-byte insertions, deletions and replacements that lead from a to b.
size_t edit_distance(std::string_view a, std::string_view b);

// "; did you mean depth?" with the nearest name, or "" where more than half of its letters would change.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);
// "wanted one of depth, width, got 'dept'; did you mean depth?"
std::string not_one_of(std::span<const std::string> known, std::string_view name);

}  // namespace isobar
