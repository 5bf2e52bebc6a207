// isobar duel --ledger FILE: a search, duel after duel, in which all duels share one error rate (duel/ledger.h).
//
//   isobar duel dyt rmsnorm --ledger search.toml --task digits    dyt against the champion that the search begins with
//   isobar duel my_norm.h --ledger search.toml                    the next candidate against the champion
//   isobar duel --ledger search.toml                              goes on with the duel that was stopped
//   isobar duel --ledger search.toml --check 3                    runs three duels again, to the bit
//
// A duel is begun in the ledger before it runs, so that none is left out that went badly. Its run is in a folder beside
// the ledger: search/1, search/2, …, with a copy of a header, whose author may change it then.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>

#include "../../data/file.h"
#include "../duel/contestant.h"
#include "../duel/ledger.h"
#include "../duel/own_norm.h"
#include "../run/json.h"
#include "../run/lists.h"
#include "../run/lock_file.h"
#include "../run/process.h"
#include "../run/stats.h"
#include "duels.h"

namespace isobar::verbs {
namespace {

namespace fs = std::filesystem;
using duel::Ledger, duel::LedgerRow;

constexpr const char* tool_name = "isobar duel";

// What the user asked for.
struct Asked {
  std::string path;
  Words contestants, flags, threads = {};
  std::optional<int64_t> check = {};
  bool gives_up = false;
};

Asked asked_by(const Words& given) {
  Asked asked;
  Words words = duel::with_contestants_kept(given);
  asked.path = taken(words, "--ledger").value_or("");
  check(asked.path.ends_with(".toml") && asked.path.size() > 5,
        "--ledger: wanted a file such as search.toml, got '{}'", asked.path);
  if (const auto count = taken(words, "--check")) asked.check = number_to_check(*count);
  if (const auto threads = taken(words, "--threads")) asked.threads = {"--threads", *threads};
  const auto gives_up = std::ranges::find(words, "--give_up");
  if ((asked.gives_up = gives_up != words.end())) words.erase(gives_up);
  const auto flag =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with("-"); });
  asked.contestants = {words.begin(), flag};
  asked.flags = {flag, words.end()};
  for (const char* own : {"--out", "--share", "--force", "-o", "--config", "--accept-old", "--seed"})
    check(std::ranges::none_of(
              asked.flags, [&](auto& one) { return one == own || one.starts_with(std::string(own) + "="); }),
          "{}: a search has it for itself; leave it out", own);
  check(asked.contestants.size() <= 2,
        "wanted a candidate, and at the beginning of a search its champion, got {} words",
        asked.contestants.size());
  return asked;
}

// `search/3` for duel 3 of `search.toml`.
std::string folder_of(const std::string& ledger, int64_t k) {
  return ledger.substr(0, ledger.size() - 5) + "/" + std::to_string(k);
}

// The text of a header with all but its #include lines in a namespace: two versions of a header have the same names.
std::string in_namespace(const std::string& text, const std::string& scope) {
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1)
    if (text.compare(at, 8, "#include") == 0 || text.compare(at, 12, "#pragma once") == 0)
      begin = std::min(text.find('\n', at), text.size() - 1) + 1;
  return text.substr(0, begin) + "namespace " + scope + " {\n" + text.substr(begin) + "\n}  // namespace " +
         scope + "\n";
}

// The words of a contestant whose header is copied into the folder of its duel.
std::string with_copied_header(const std::string& words, const std::string& folder, int64_t k) {
  const std::string header = duel::header_in(words);
  if (header.empty()) return words;
  const std::string copy = folder + "/" + fs::path(header).filename().string();
  fs::create_directories(folder);
  write_file_atomically(copy, in_namespace(read_file(header, size_t{1} << 24), fmt::format("of_duel_{}", k)));
  return duel::replaced(words, header, copy);
}

// The checksum of a contestant's header; "" without one.
std::string header_hash(const std::string& words) {
  const std::string header = duel::header_in(words);
  return header.empty() ? "" : checksum(read_file(header, size_t{1} << 24));
}

Words words_of_duel(const LedgerRow& begun, const std::string& folder) {
  Words words{begun["candidate"], begun["champion"]};
  const Words flags = shell_words(begun["flags"]).value_or(Words());
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--share", begun["share"], "--out", folder});
  return duel::with_contestants_kept(words);
}

// What the run in this folder found.
LedgerRow found_in(const std::string& folder) {
  const Json summary = Json::parse(read_file(folder + "/summary.json", size_t{1} << 26));
  const Json& interval = summary.at("interval");
  const auto exact = [](const Json& number) { return fmt::format("{:.17g}", number_from(number)); };
  const size_t pairs = summary.at("measured").at("a_minus_b").at("values").size();
  return {{"outcome", summary.at("outcome").get<std::string>()},
          {"difference", exact(summary.at("measured").at("a_minus_b").value("mean", Json(NAN)))},
          {"low", exact(interval[0])},
          {"high", exact(interval[1])},
          {"pairs", std::to_string(pairs)},
          {"seeds", fmt::format("{} to {}", 0, pairs - 1)},
          {"pairs_xxh3", checksum(read_file(folder + "/pairs.csv", size_t{1} << 26))}};
}

// Refuses a header that is another one than when its duel was begun.
void check_headers(const Ledger& ledger, const LedgerRow& begun) {
  for (const char* side : {"candidate", "champion"})
    check(header_hash(begun[side]) == begun[std::string(side) + "_xxh3"],
          "{}: {} of duel {}, {}, was changed since; restore the file", ledger.path(), side, begun["duel"],
          duel::header_in(begun[side]));
}

// Begins the next duel. Returns its row.
LedgerRow begin(Ledger& ledger, const Asked& asked) {
  const int64_t k = ledger.duels() + 1;
  check(!asked.contestants.empty(), "{}: all duels of this search have ended; wanted the next candidate",
        ledger.path());
  check(k > 1 || asked.contestants.size() == 2,
        "a search begins with a candidate and its champion: isobar duel {} rmsnorm --ledger {}",
        shell_word(asked.contestants[0]), shell_word(asked.path));
  const std::string flags = shell_line(asked.flags);
  check(k == 1 || asked.contestants.size() == 1 || asked.contestants[1] == ledger.champion(),
        "{}: the champion is {}, not {}; leave it out", ledger.path(), ledger.champion(),
        asked.contestants.back());
  check(
      k == 1 || flags.empty() || flags == ledger.begun(1)["flags"],
      "{}: all duels of a search have the flags of the first, '{}', got '{}'; leave them out, or begin another search",
      ledger.path(), ledger.begun(1)["flags"], flags);
  const std::string folder = folder_of(asked.path, k);
  const std::string candidate = with_copied_header(asked.contestants[0], folder, k),
                    champion = k == 1 ? with_copied_header(asked.contestants[1], folder_of(asked.path, 0), 0)
                                      : ledger.champion();
  LedgerRow row{{"duel", std::to_string(k)},
                {"event", "begun"},
                {"candidate", candidate},
                {"candidate_xxh3", header_hash(candidate)},
                {"champion", champion},
                {"champion_xxh3", header_hash(champion)},
                {"flags", k == 1 ? flags : ledger.begun(1)["flags"]},
                {"share", fmt::format("{:.17g}", duel::share_of_duel(k))}};
  // What would be refused spends nothing: a header is compiled and checked by the run below.
  for (const std::string& contestant : {candidate, champion})
    if (duel::header_in(contestant).empty()) duel::parse_contestant(contestant);
  Words words = words_of_duel(row, folder);
  words.push_back("--print-config");
  check(run_duel(words, true) == 0, "{}: duel {} is not begun", ledger.path(), k);
  ledger.add(row);
  return ledger.rows().back();
}

void say_state(const Ledger& ledger) {
  double spent = 0;
  for (int64_t k = 1; k <= ledger.duels(); ++k) spent += duel::share_of_duel(k);
  fmt::print("the champion is {}; {} duels, {:.2f} of the error rate spent; last hash {}\n",
             ledger.champion(), ledger.duels(), spent, ledger.last_hash());
}

int go_on(Ledger& ledger, const Asked& asked) {
  if (ledger.is_open()) {
    const LedgerRow open = ledger.begun(ledger.duels());
    const bool same =
        asked.contestants.empty() || fs::path(duel::header_in(asked.contestants[0])).filename() ==
                                         fs::path(duel::header_in(open["candidate"])).filename();
    check(
        same && (asked.contestants.empty() || !duel::header_in(open["candidate"]).empty() ||
                 asked.contestants[0] == open["candidate"]),
        "{}: duel {}, of {}, has not ended; go on with it: isobar duel --ledger {}, or end it as it is with --give_up",
        ledger.path(), open["duel"], open["candidate"], shell_word(ledger.path()));
    if (asked.gives_up) {
      ledger.add({{"duel", open["duel"]}, {"event", "ended"}, {"outcome", "given up"}});
      say_state(ledger);
      return 0;
    }
  }
  check(!asked.gives_up, "--give_up: no duel of {} is open", ledger.path());
  const LedgerRow row = ledger.is_open() ? ledger.begun(ledger.duels()) : begin(ledger, asked);
  check_headers(ledger, row);
  const std::string folder = folder_of(asked.path, ledger.duels()) + "/run";
  Words words = words_of_duel(row, folder);
  words.insert(words.end(), asked.threads.begin(), asked.threads.end());
  words.insert(words.end(), {"--shared", folder_of(asked.path, 0) + ".jsonl"});
  if (!fs::exists(folder + "/summary.json"))
    if (const int code = run_duel(words); code != 0) {
      complain(stderr, tool_name,
               fmt::format("duel {} has not ended; go on with it: isobar duel --ledger {}", row["duel"],
                           asked.path));
      return code;
    }
  LedgerRow ended{{"duel", row["duel"]}, {"event", "ended"}};
  for (const auto& field : found_in(folder)) ended.push_back(field);
  ledger.add(ended);
  fmt::print("\nduel {} of {}: {} is {}\n", row["duel"], asked.path, row["candidate"],
             ended["outcome"] == "better" ? "kept" : "not kept");
  say_state(ledger);
  return 0;
}

// Runs some duels again, and compares what they find with their rows.
int check_again(const Ledger& ledger, const Asked& asked) {
  std::vector<int64_t> can;
  for (int64_t k = 1; k <= ledger.duels(); ++k)
    if (const std::string outcome = ledger.ended(k)["outcome"]; !outcome.empty() && outcome != "given up")
      can.push_back(k);
  check(!can.empty(), "{}: no duel has ended that could be run again", ledger.path());
  std::random_device device;  // who edits a row does not know which
  std::ranges::shuffle(can, device);
  can.resize(std::min(can.size(), static_cast<size_t>(*asked.check)));
  int differing = 0;
  for (const int64_t k : can) {
    const LedgerRow begun = ledger.begun(k), ended = ledger.ended(k);
    check_headers(ledger, begun);
    const std::string folder = folder_of(asked.path, k) + "/again";
    fs::remove_all(folder);
    Words words = words_of_duel(begun, folder);
    words.insert(words.end(), asked.threads.begin(), asked.threads.end());
    check(run_duel(words, true) == 0, "{}: duel {} cannot be run again", ledger.path(), k);
    std::string differs;
    for (const auto& [field, value] : found_in(folder))
      if (differs.empty() && ended[field] != value)
        differs =
            fmt::format("{} is {} in the ledger, and {} when it is run again", field, ended[field], value);
    fs::remove_all(folder);
    differing += !differs.empty();
    fmt::print("duel {}, {} against {}: {}\n", k, begun["candidate"], begun["champion"],
               differs.empty() ? "the same to the bit, " + ended["outcome"] : differs);
  }
  return differing > 0 ? 1 : 0;
}

}  // namespace

int search(const Words& given) {
  return exit_code_of(tool_name, stderr, [&] {
    const Asked asked = asked_by(given);
    const std::string folder = asked.path.substr(0, asked.path.size() - 5);
    fs::create_directories(folder);
    LockFile lock(folder + "/.lock");
    check(lock.try_lock(0), "{}: another process runs a duel of this search; wait for its end", asked.path);
    Ledger ledger(asked.path);
    if (!asked.check) return go_on(ledger, asked);
    check(asked.contestants.empty() && asked.flags.empty(),
          "--check: wanted no contestants and no other flags");
    return check_again(ledger, asked);
  });
}

}  // namespace isobar::verbs
