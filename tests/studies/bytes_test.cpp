// Bytes: what crosses between processes comes out as it went in.
#include "../../experiments/run/bytes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../message_of.h"

namespace isobar::bytes_test {

struct Part {
  int64_t number;
  std::array<float, 2> pair;
};
enum class Colour : uint8_t { red, green };
struct Outcome {
  double loss = 0;
  std::vector<double> losses;
  std::vector<bool> flags;
  std::optional<Part> part, none;
  std::map<std::string, double> values;
  std::vector<std::vector<std::variant<int64_t, double, std::string>>> rows;
  std::array<Part, 2> parts;
  std::pair<std::string, bool> pair;
  Colour colour = Colour::red;
};

Outcome outcome_of(int64_t i) {
  return {.loss = -0.0,
          .losses = std::vector<double>(static_cast<size_t>(i), std::numeric_limits<double>::quiet_NaN()),
          .flags = {true, false, i == 3},
          .part = Part{i, {1, 2}},
          .none = std::nullopt,
          .values = {{"a", 1.5}, {"", static_cast<double>(i)}},
          .rows = {{int64_t{1}, 2.5, std::string("three")}, {}},
          .parts = {{{4, {5, 6}}, {7, {8, 9}}}},
          .pair = {"text", true},
          .colour = Colour::green};
}

struct MemberWithArray {
  std::array<double, 3> a;
  std::optional<double> b;
};
static_assert(field_count<Part>() == 2);
static_assert(field_count<MemberWithArray>() == 2);
static_assert(field_count<Outcome>() == 10);

TEST_CASE("a result crosses as bytes with all of its fields and bits") {
  const std::string bytes = to_bytes(outcome_of(3));
  const Outcome there = from_bytes<Outcome>(bytes);
  CHECK(to_bytes(there) == bytes);
  CHECK(std::signbit(there.loss));
  CHECK(there.losses.size() == 3);
  CHECK(there.flags == std::vector<bool>{true, false, true});
  CHECK(there.part->pair[1] == 2);
  CHECK_FALSE(there.none.has_value());
  CHECK(there.values.at("") == 3);
  CHECK(std::get<std::string>(there.rows[0][2]) == "three");
  CHECK(there.parts[1].pair[1] == 9);
  CHECK(there.pair.second);
  CHECK(there.colour == Colour::green);
  CHECK(message_of([&] { from_bytes<Outcome>(bytes + "x"); }) == "bytes: a text is longer than its value");
  CHECK(message_of([&] { from_bytes<double>("1234"); }) == "bytes: a value of 8 bytes, and 4 are left");
}

}  // namespace isobar::bytes_test
