// A whole program, from its start to its end: the small study that a student runs first.
#include "../../experiments/harness/process.h"
#include "../../core/parallel.h"
#include "../temporary_folder.h"
#include "case.h"

namespace isobar::bench {

void add_process(Cases& cases) {
  cases.push_back(
      {.name = "process_blog8", .work = {}, .setup = [] {
         const std::string program = std::filesystem::path(own_path()).replace_filename("decay_study");
         return Step([program, folder = std::make_shared<TemporaryFolder>()] {
           const Finished run =
               run_child(program, {"--preset", "blog8", "--seeds", "1", "--threads",
                                   std::to_string(threads()), "--force", "--out", *folder / "run"});
           check(run.code <= 1, "{}: ended with {}", program, run.code);  // 1: an expectation failed
         });
       }});
}

}  // namespace isobar::bench
