// What a program says and writes with --profile: where the time went, which share of the machine's limits was
// reached, and where a change would help most.
#pragma once

#include "../../autograd/profile.h"
#include "machine_limits.h"
#include "run.h"

namespace isobar {

// Prints the tables by op and by module, and what would help; writes profile.csv, a row for each op of each
// module, and profile.json, the first intervals for chrome://tracing.
void report_profile(Run& run, Profile& profile);

// The share of the machine's limit that a row reaches: of products for products of f32 matrices, of memory
// traffic for other ops whose bytes are known (those whose numbers stay in a cache are compared with a triad
// there). NaN where neither is known.
double share_of_limit(const ProfileRow& row, const MachineLimits& limits);

// Rows added up. Their share of the limit is that of the rows that have one, where these take most of the
// time.
struct ProfileSum : ProfileRow {
  double limited = 0, at_limit = 0;  // seconds of rows that have a limit, and what they would take there
  double share() const;
};
// The rows of the same op and part, of all modules; and those of modules whose paths differ in numbers alone
// ("blocks.*.fc1"), of all ops. Both in the order of time.
std::vector<ProfileSum> by_op(const std::vector<ProfileRow>& rows, const MachineLimits& limits);
std::vector<ProfileSum> by_module(const std::vector<ProfileRow>& rows, const MachineLimits& limits);

// Up to three sentences, each with its numbers: the products, the other ops, and the activity outside of ops
// that lose the most time.
std::vector<std::string> advice(const ProfileResult& result, const MachineLimits& limits);

}  // namespace isobar
