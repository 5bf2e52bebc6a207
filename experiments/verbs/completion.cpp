// isobar completion: the script with which a shell completes verbs, studies, their options and values.
//
//   source <(isobar completion bash)
#include "../harness/tool.h"
#include "verbs.h"

namespace isobar::fixtures {
extern const char completion[];  // completion.bash
}

namespace isobar::verbs {

int completion(const Words& words) {
  std::string shell;
  Tool tool("isobar completion",
            "Prints a script with which a shell completes words for isobar and the studies.",
            "source <(isobar completion bash)");
  tool.word("SHELL", shell, "bash");
  return tool.run(words, [&] {
    check(shell == "bash", "SHELL: wanted bash, got {}", shell);
    write_out(fixtures::completion);
  });
}

}  // namespace isobar::verbs
