#include "tree.h"

#include <filesystem>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../duel/norm_table.h"
#include "../run/lists.h"

namespace isobar::verbs {
namespace {

constexpr size_t most_bytes = size_t{1} << 26;  // of a file of the tree

// The files of claims, in the order of their names.
std::vector<claims::ClaimFile> claims_in(const std::string& tree) {
  const std::string folder = tree + "/experiments/claims/texts";
  check(std::filesystem::is_directory(folder),
        "--tree: wanted a source tree with experiments/claims/texts, found none in '{}'", tree);
  std::vector<claims::ClaimFile> files;
  for (const std::string& name : names_in(folder)) {
    if (!name.ends_with(".toml")) continue;
    files.push_back(claims::parse_claims(read_file(folder + "/" + name, most_bytes), name));
    files.back().shipped = true;
  }
  return files;
}

}  // namespace

TreeClaims claims_of(const std::string& tree) {
  if (tree.empty()) return {claims::builtin_claims(), claims::Kept::shipped()};
  return {claims_in(tree), claims::Kept(read_file(tree + "/experiments/claims/full.json", most_bytes))};
}

Json norms_of(const std::string& tree) {
  const std::string table = tree + "/experiments/norms.toml";
  if (tree.empty() || !std::filesystem::exists(table)) return {};
  return duel::facts_of(duel::read_norm_table(table));
}

}  // namespace isobar::verbs
