// isobar duel --table FILE: norms that texts propose, each against RMSNorm (duel/norm_table.h).
//
//   isobar duel --table experiments/norms.toml                     runs what is missing, the second round last
//   isobar duel --table experiments/norms.toml --only dyt,derf --text synthetic
//   isobar duel --table experiments/norms.toml --check 3           runs three results again, and compares each to the bit
//
// Results are in experiments/norms.jsonl, each as soon as it is known; runs are in runs/norms/NAME_TEXT/run, or below --out. A kill loses
// nothing: the same command goes on from the last training.
#include <algorithm>
#include <filesystem>
#include <random>

#include "../../data/file.h"
#include "../duel/contestant.h"
#include "../duel/norm_table.h"
#include "../run/lists.h"
#include "../run/lock_file.h"
#include "../run/process.h"
#include "duels.h"

namespace isobar::verbs {
namespace {

using duel::ListedNorm, duel::NormResults, duel::NormTable, duel::Round;

// What the user asked for.
struct WantedOfTable {
  std::string path, runs;
  Words only, texts, threads;  // empty: all
  std::optional<int64_t> check;
};

WantedOfTable wanted_by(Words words) {
  WantedOfTable wanted;
  wanted.path = taken(words, "--table").value_or("");
  check(wanted.path.ends_with(".toml") && wanted.path.size() > 5,
        "--table: wanted a file such as experiments/norms.toml, got '{}'", wanted.path);
  if (const auto count = taken(words, "--check")) wanted.check = number_to_check(*count);
  if (const auto only = taken(words, "--only")) wanted.only = words_of(*only);
  if (const auto text = taken(words, "--text")) wanted.texts = words_of(*text);
  wanted.runs = taken(words, "--out").value_or("runs/" + std::filesystem::path(wanted.path).stem().string());
  if (const auto threads = taken(words, "--threads")) wanted.threads = {"--threads", *threads};
  check(
      words.empty(),
      "--table: wanted --text, --only, --check, --out or --threads beside it, got '{}'; the table has all else",
      words.empty() ? "" : words[0]);
  return wanted;
}

// A norm on a text, in a round.
struct Place {
  const ListedNorm* norm;
  std::string text;
  Round round = Round::first;
};

// "dyt on shakespeare", "dyt on shakespeare with --optimizer muon"
std::string name_of(const NormTable& table, const Place& place) {
  const std::string name = place.norm->name + " on " + place.text;
  return place.round == Round::first ? name : name + " with " + table.second_flags;
}

// Those of the first round.
std::vector<Place> places_of(const NormTable& table, const WantedOfTable& wanted) {
  Words names;
  for (const ListedNorm& norm : table.norms) names.push_back(norm.name);
  for (const std::string& name : wanted.only)
    check(std::ranges::count(names, name) > 0, "--only: {} has no norm '{}'{}", table.path, name,
          did_you_mean(name, names));
  for (const std::string& text : wanted.texts)
    check(std::ranges::count(table.texts, text) > 0, "--text: {}", not_one_of(table.texts, text));
  const auto is_wanted = [](const Words& some, const std::string& one) {
    return some.empty() || std::ranges::count(some, one) > 0;
  };
  std::vector<Place> places;
  for (const std::string& text : table.texts)
    for (const ListedNorm& norm : table.norms)
      if (is_wanted(wanted.texts, text) && is_wanted(wanted.only, norm.name)) places.push_back({&norm, text});
  return places;
}

// Those of the second round, of norms that are better or worse in the first.
std::vector<Place> second_places(const NormResults& results, const std::vector<Place>& first) {
  std::vector<Place> places;
  for (const Place& place : first)
    if (results.wants_second(*place.norm, place.text))
      places.push_back({place.norm, place.text, Round::second});
  return places;
}

// Returns what this norm's duel finds on this text, with at most so many pairs. Its run is in `folder`/run. `more` are flags
// that change no result.
Json result_of(const NormTable& table, const Place& place, int64_t max_pairs, const std::string& folder,
               const Words& more) {
  Words words{table.words_of(place.norm->contestant), table.words_of(table.against)};
  const Words flags = shell_words(table.flags_of(place.round)).value_or(Words());
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(),
               {"--task", place.text, "--max_pairs", std::to_string(max_pairs), "--out", folder + "/run"});
  words.insert(words.end(), more.begin(), more.end());
  const int code = run_duel(duel::with_contestants_kept(words), true);
  check(code == 0, "{}, line {}: the duel of {} ended with {}; mend it, and the same command goes on",
        table.path, place.norm->line, name_of(table, place), code);
  return duel::result_in(folder + "/run");
}

// Prepares the folder of a duel: what another contestant or other settings left there goes, and with `anew` all does.
void make_folder_of(const std::string& folder, const Json& key, bool anew = false) {
  const std::string path = folder + "/duel.json", text = json_text(key);
  const bool is_own = std::filesystem::exists(path);
  check(is_own || names_in(folder).empty(), "'{}' is no duel of a table; choose another folder by --out",
        folder);
  if (is_own && !anew && read_file(path, size_t{1} << 20) == text) return;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  write_file_atomically(path, text);
}

std::string sentence_of(const Json& result) {
  const auto number = [&](const char* field) {
    return result[field].is_number() ? fmt::format("{:+.3f}", result[field].get<double>())
                                     : result[field].get<std::string>();
  };
  return fmt::format("{}, {} nats, [{}, {}], {} pairs", result["outcome"].get<std::string>(),
                     number("difference"), number("low"), number("high"), result["pairs"].get<int64_t>());
}

// Runs those of a round that are missing.
void fill_round(const NormTable& table, NormResults& results, const std::vector<Place>& places,
                const WantedOfTable& wanted) {
  const auto is_there = [&](const Place& place) {
    return results.of(*place.norm, place.text, place.round) != nullptr;
  };
  auto there = std::ranges::count_if(places, is_there);
  fmt::print("{} of {} results are there\n", there, places.size());
  for (const Place& place : places) {
    if (is_there(place)) continue;
    const Json key = results.key_of(*place.norm, place.text, place.round);
    const std::string end = place.text + (place.round == Round::second ? "_second" : "");
    const std::string folder = fmt::format("{}/{}_{}", wanted.runs, place.norm->name, end);
    make_folder_of(folder, key);
    // The other side's trainings are those of all duels of this text and round.
    Words more{"--shared", fmt::format("{}/against_{}.jsonl", wanted.runs, end)};
    more.insert(more.end(), wanted.threads.begin(), wanted.threads.end());
    const Json found = result_of(table, place, table.max_pairs, folder, more);
    Json result = key;
    result["max_pairs"] = table.max_pairs;
    result.update(found);
    results.add(result);
    fmt::print("{} of {}: {}: {}\n", ++there, places.size(), name_of(table, place), sentence_of(found));
    std::fflush(stdout);
  }
}

int fill(const NormTable& table, const std::vector<Place>& places, const WantedOfTable& wanted) {
  NormResults results(table);
  fmt::print("{}: ", table.path);
  fill_round(table, results, places, wanted);
  if (table.second_flags.empty()) return 0;
  fmt::print("{}, with {}: ", table.path, table.second_flags);
  fill_round(table, results, second_places(results, places), wanted);
  return 0;
}

// Runs some results again, chosen at random: who edits one does not know which.
int check_results(const NormTable& table, const std::vector<Place>& places, const WantedOfTable& wanted) {
  const NormResults results(table);
  std::vector<Place> can;
  for (const std::vector<Place>& round : {places, second_places(results, places)})
    for (const Place& place : round)
      if (results.of(*place.norm, place.text, place.round) != nullptr) can.push_back(place);
  check(!can.empty(), "{}: there is no result that could be run again", table.path);
  std::random_device device;
  std::ranges::shuffle(can, device);
  can.resize(std::min(can.size(), static_cast<size_t>(*wanted.check)));
  int differing = 0;
  for (const Place& place : can) {
    const Json& kept = *results.of(*place.norm, place.text, place.round);
    const std::string folder = wanted.runs + "/again";
    make_folder_of(folder, results.key_of(*place.norm, place.text, place.round), true);
    const Json again = result_of(table, place, kept["max_pairs"].get<int64_t>(), folder, wanted.threads);
    std::filesystem::remove_all(folder);
    const std::string differs = duel::difference_of_results(kept, again);
    differing += !differs.empty();
    fmt::print("{}: {}\n", name_of(table, place),
               differs.empty() ? "the same to the bit: " + sentence_of(again) : differs);
    std::fflush(stdout);
  }
  return differing > 0 ? 1 : 0;
}

}  // namespace

int table(const Words& given) {
  return exit_code_of("isobar duel", stderr, [&] {
    const WantedOfTable wanted = wanted_by(given);
    const NormTable norms = duel::read_norm_table(wanted.path);
    const std::vector<Place> places = places_of(norms, wanted);
    std::filesystem::create_directories(wanted.runs);
    LockFile lock(wanted.runs + "/.lock");
    check(lock.try_lock(0), "{}: another process fills this table; wait for its end", wanted.path);
    return wanted.check ? check_results(norms, places, wanted) : fill(norms, places, wanted);
  });
}

}  // namespace isobar::verbs
