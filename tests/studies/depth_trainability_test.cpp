// depth_trainability as its users meet it: the built program, on images that anything but a dead net learns.
#include <numeric>
#include <set>

#include "../../experiments/studies/depth_trainability/results.h"
#include "../fake_mnist.h"
#include "study_run.h"

namespace isobar::depth_trainability_test {

StudyRun on_stripes(const std::string& arguments) {
  const TemporaryFolder folder;
  write_stripes(folder);
  return StudyRun("depth_trainability", arguments + " --mnist " + folder.path().string());
}

const std::string small = " --width 64 --learning_rate 3e-3";

TEST_CASE("depth kills a plain net without a norm, and no pre-norm residual net") {
  const StudyRun run = on_stripes(
      "--nets plain.default.none,pre.default.rmsnorm --depths 2,32 "
      "--steps 60 --seeds 2" +
      small);
  CHECK(run("plain.default.none.depth2.accuracy") > 0.9);
  CHECK(run("plain.default.none.depth32.accuracy") < 0.35);
  CHECK(run("plain.default.none.fails_at") == 32);
  // Blind: it knows how often each digit comes, no more.
  CHECK(std::abs(run("plain.default.none.depth32.train_loss") - std::log(10)) < 0.05);

  CHECK(run("pre.default.rmsnorm.depth32.accuracy") > 0.9);
  CHECK(run("pre.default.rmsnorm.fails_at", "nonfinite") == 1);

  // The gradient: √6 a layer below the plateau of biases, which the first layers' larger inputs counter; and
  // layer 1's median has passed 31 layers more than the last one's (nets/decay/theory.h).
  const std::string ratio = "plain.default.none.depth32.gradient_last_over_first";
  // Two standard deviations: log10 of the norm walks at random, by √(5 · 32 / 64) / 2 / ln 10 = 0.34.
  CHECK(std::abs(std::log10(run(ratio) / run(ratio, "theory"))) < 0.7);
}

TEST_CASE("another activation is that of all hidden layers, and Fixup's is a ReLU") {
  const std::string ratio = "plain.default.none.depth8.gradient_last_over_first";
  const StudyRun run =
      on_stripes("--nets plain.default.none --depths 2,8 --steps 20 --seeds 1 --activation tanh" + small);
  // Three standard deviations of a norm of width 64 and depth 8: √(5 · 8 / 64) / 2.
  CHECK(std::abs(std::log(run(ratio) / run(ratio, "theory"))) < 1.2);
  const Json settled = Json::parse(ran("depth_trainability", "--activation gelu --print-config").out);
  CHECK_FALSE(holds(settled["nets"].get<std::string>(), "fixup"));
}

TEST_CASE("nets that start as the identity do so at every depth") {
  const StudyRun run = on_stripes(
      "--nets rezero.he_normal.none,fixup.he_normal.none --depths 2,16 --steps 40 --seeds 1" + small);
  REQUIRE(run.summary["expectations"].size() == 2);
  for (const Json& expectation : run.summary["expectations"]) CHECK(expectation["ok"] == true);
  CHECK(run("fixup.he_normal.none.depth16.accuracy") > 0.9);
  CHECK(run("fixup.he_normal.none.depth16.gradient_first") == 0);
  CHECK(run("fixup.he_normal.none.depth16.first_moved") > 0);
}

TEST_CASE("a diverged net counts as chance, and is reported") {
  // He's weights: each block triples the mean square, 3^300 is beyond f32.
  const StudyRun run = on_stripes("--nets pre.he_normal.none --depths 2,300 --steps 3 --seeds 2" + small);
  CHECK(run("pre.he_normal.none.depth300.diverged") == 2);
  CHECK(run("pre.he_normal.none.depth300.accuracy") == 0.1);
  CHECK(run("pre.he_normal.none.depth300.train_loss", "nonfinite") == 2);
  CHECK(run("pre.he_normal.none.depth2.diverged") == 0);
}

TEST_CASE("no image is in two of the three parts, and tuning and reporting have their own") {
  const TemporaryFolder folder;
  write_stripes(folder);
  const depth::Digits digits = depth::read_digits(folder.path().string());
  CHECK(digits.train.size() == 350);
  CHECK(digits.validation.size() == 50);
  CHECK(digits.test.size() == 100);
  const auto images_of = [](const std::vector<const depth::Part*>& parts) {
    std::multiset<std::vector<float>> images;
    for (const depth::Part* part : parts)
      for (int64_t i = 0; i < part->size(); ++i)
        images.insert(part->batch(std::vector{i}).x.to_vector<float>());
    return images;
  };
  std::vector<int64_t> numbers(500);
  std::iota(numbers.begin(), numbers.end(), 0);
  const depth::Part all(std::make_shared<Mnist>(folder.path(), MnistOptions{.train = false}), numbers);
  // Some images are equal, so they are counted.
  CHECK(images_of({&digits.train, &digits.validation, &digits.test}) == images_of({&all}));
}

TEST_CASE("names of nets are those of kinds that make sense") {
  // plain 3 · 5, pre 3 · 5, post 3 · 4, skipinit and rezero 3 each, fixup 1.
  CHECK(depth::kinds_of({"all"}).size() == 49);
  CHECK(depth::Config().kinds().size() == 10);
  CHECK(depth::kinds_of({"pre.default.rmsnorm", "fixup.he_normal.none"}) ==
        std::vector<depth::Kind>{{"pre", "default", "rmsnorm"}, {"fixup", "he_normal", "none"}});

  CHECK(depth::kinds_of({"plain.default.batchnorm"}) ==
        std::vector<depth::Kind>{{"plain", "default", "batchnorm"}});  // not in all
}

}  // namespace isobar::depth_trainability_test
