// What a profile's rows say: shares of the machine's limits, and where a change would help most.
#pragma once

#include <string>
#include <vector>

#include "../../core/profile.h"
#include "machine_limits.h"

namespace isobar {

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
