// Under a launcher: whether sums over its ranks have the documented tree (tree.h). Exit code 1 where one has
// another.
#include "tree.h"

using namespace isobar;

int main() {
  Ranks ranks;
  int64_t all_wrong = 0;
  for (const int64_t pieces : {8, 12, 24}) {
    const int64_t wrong = other_than_documented(masks_of(pieces), ranks);
    all_wrong += wrong;
    if (ranks.first())
      fmt::print("{} pieces on {} ranks ({}): {} pairs, {} elements of another tree\n", pieces, ranks.size(),
                 ranks.library(), pairs_of(pieces).size(), wrong);
  }
  return all_wrong > 0 ? 1 : 0;
}
