// isobar verify --jobs: the commands that it prints make the runs, on however many machines, and the same command then
// judges.
#include <doctest/doctest.h>

#include "../run.h"

namespace isobar::jobs_test {

TEST_CASE(
    "the commands of --jobs make the runs that verify needs, several at a time, and none that is there") {
  const TemporaryFolder folder;
  const std::string words = "verify --claim D06 --out v";
  const std::string jobs = ran("isobar", words + " --jobs", folder.path()).out;
  CHECK(folder.names().empty());
  CHECK(std::ranges::count(jobs, '\n') == 1);
  CHECK(jobs.starts_with("test -e v/"));
  CHECK(holds(jobs, "/decay_study "));
  folder.write("jobs", jobs);
  // Both share the run, or the second one finds the results.
  CHECK(run_command("sh jobs & sh jobs; wait; test -e v/*/summary.json", folder.path()).code == 0);
  CHECK(ran("isobar", words + " --jobs", folder.path()).out.empty());
  CHECK(holds(ran("isobar", words, folder.path()).out, "there already"));
}

}  // namespace isobar::jobs_test
