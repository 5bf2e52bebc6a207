// The ledger of a search: what it spends, that it is not believed once it was edited, and that nothing is lost.
#include "../../experiments/duel/ledger.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "../../core/rng.h"
#include "../../data/file.h"
#include "../message_of.h"
#include "../studies/study_run.h"

namespace isobar::ledger_test {

using duel::Ledger;

const std::string flags =
    " --tiny --corpus " ISOBAR_SOURCE_DIR "/README.md --learning_rate 3e-3 --max_pairs 9 --steps 6";

isobar::Outcome search(const TemporaryFolder& folder, const std::string& words) {
  return run_built("isobar", "duel " + words + " --ledger search.toml", folder.path());
}

TEST_CASE("the duels of a search spend the error rate once, however many there are") {
  double spent = 0;
  for (int64_t k = 1; k <= 100'000; ++k) spent += duel::share_of_duel(k);
  CHECK(spent < 1);
  CHECK(spent > 0.9999);
  CHECK(duel::share_of_duel(1) == doctest::Approx(0.6079271));  // 6/π²
}

TEST_CASE("a ledger that was edited, cut or mixed up anywhere is refused, and one that was not is read") {
  const TemporaryFolder folder;
  const std::string path = folder / "search.toml";
  Ledger written(path);
  for (const char* k : {"1", "2"}) {
    written.add(
        {{"duel", k}, {"event", "begun"}, {"candidate", "a \"quoted\"\n\\ norm"}, {"champion", "rmsnorm"}});
    written.add({{"duel", k}, {"event", "ended"}, {"outcome", *k == '1' ? "better" : "worse"}});
  }
  const Ledger read(path);
  CHECK(read.rows() == written.rows());
  CHECK(read.champion() == "a \"quoted\"\n\\ norm");
  CHECK(read.duels() == 2);
  CHECK_FALSE(read.is_open());
  const std::string text = read_file(path, 1 << 20);
  const auto refused = [&](const std::string& damaged) {
    folder.write("search.toml", damaged);
    return message_of([&] { Ledger again(path); });
  };
  const std::string sentence = "restore the file from a copy, or begin another search";
  for (size_t at = 0; at < text.size(); at += 3) {
    std::string damaged = text;
    damaged[at] ^= 1;
    CAPTURE(at);
    const std::string says = refused(damaged);
    CHECK((says.find(sentence) != std::string::npos ||
           says.find("is no ledger of isobar duel") != std::string::npos));
  }
  const size_t second = text.find("\n[[row]]", text.find("[[row]]")),
               third = text.find("\n[[row]]", second + 9);
  CHECK(refused(text.substr(0, second) + text.substr(third)).find(sentence) !=
        std::string::npos);                                                             // one left out
  CHECK(refused(text.substr(0, text.size() - 3)).find(sentence) != std::string::npos);  // half a row
  CHECK(refused(text + "\n").find(sentence) != std::string::npos);
  CHECK(refused(text).empty());
}

TEST_CASE(
    "a search keeps what is better, continues where it was killed, and its duels run again to the bit") {
  const TemporaryFolder folder;
  CHECK(search(folder, "dyt").code == 2);  // no champion
  CHECK_FALSE(std::filesystem::exists(folder / "search.toml"));
  CHECK(search(folder, "no_such_norm rmsnorm" + flags).code == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "search.toml"));
  const std::string journal = folder / "search/1/run/trainings.jsonl";
  {
    const std::string words =
        "isobar duel none rmsnorm --threads 1 --ledger " + folder / "search.toml" + flags;
    StartedProgram program(words_in(words), folder);
    wait_until(program,
               [&] { return std::filesystem::exists(journal) && std::filesystem::file_size(journal) > 600; });
    program.send(SIGKILL);
    program.wait();
  }
  CHECK(Ledger(folder / "search.toml").is_open());
  const isobar::Outcome other = search(folder, "dyt");
  CHECK(other.code == 2);
  CHECK(holds(other.err, "duel 1, of none, has not ended; go on with it"));
  const isobar::Outcome ended = search(folder, "");
  INFO(ended.out, ended.err);
  CHECK(ended.code == 0);
  CHECK(holds(ended.out, "duel 1 of search.toml: none is"));
  CHECK(search(folder, "dyt --margin 0.3").code == 2);  // other flags
  CHECK(search(folder, "dyt").code == 0);
  const Ledger ledger(folder / "search.toml");
  CHECK(ledger.duels() == 2);
  CHECK(ledger.begun(2)["flags"] == ledger.begun(1)["flags"]);
  CHECK(std::stod(ledger.begun(2)["share"]) == duel::share_of_duel(2));
  const isobar::Outcome again = search(folder, "--check 2");
  INFO(again.out, again.err);
  CHECK(again.code == 0);
  CHECK(holds(again.out, "duel 1, none against rmsnorm: the same to the bit"));
  CHECK(holds(again.out, "duel 2, dyt against"));
  // A row that is rewritten whole, with its hash: the chain holds, and running it again does not.
  std::filesystem::remove(folder / "search.toml");
  Ledger forged(folder / "search.toml");
  for (duel::LedgerRow row : ledger.rows()) {
    std::erase_if(row, [](const auto& field) { return field.first == "hash" || field.first == "before"; });
    for (auto& [name, value] : row)
      if (name == "low") value = "-0.5";
    forged.add(row);
  }
  const isobar::Outcome found = search(folder, "--check 2");
  CHECK(found.code == 1);
  CHECK(holds(found.out, "low is -0.5 in the ledger, and "));
}

}  // namespace isobar::ledger_test
