// train_lm as its users meet it: the built program, run on real text.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "../../experiments/lm/checkpoints/checkpoint.h"
#include "../../experiments/lm/training/config.h"
#include "../../experiments/lm/training/corpus.h"
#include "../../nn/model.h"
#include "../message_of.h"
#include "study_run.h"

namespace isobar::train_lm_test {

// A model that trains in a tenth of a second. The synthetic language alone takes as long to make.
const std::string text = ISOBAR_SOURCE_DIR "/README.md";
const std::string tiny = " --corpus " + text +
                         " --n_layer 2 --n_head 2 --n_kv_head 1 --n_embd 16 --block_size 16 --batch_size 4"
                         " --max_iters 12 --warmup_iters 2 --eval_interval 6 --eval_iters 2 --log_interval 5";

TEST_CASE("train_lm with Muon beside AdamW gives the same bits on one and on two threads, at WSD's rates") {
  const std::string words = tiny +
                            " --optimizer muon --schedule wsd --decay_iters 4 --no-tie_embeddings"
                            " --learning_rate 0.01 --min_lr 0.002 --threads ";
  const StudyRun one("train_lm", words + "1"), two("train_lm", words + "2");
  CHECK(one.text("loss.csv") == two.text("loss.csv"));
  const std::vector<double> rates = one.series("learning_rate").to_vector<double>();
  REQUIRE(rates.size() == 12);
  CHECK(rates[1] == doctest::Approx(0.01 * 2 / 3).epsilon(1e-12));        // warming up
  CHECK(rates[8] == doctest::Approx(0.01).epsilon(1e-12));                // 12 − 4: the last one up there
  CHECK(rates[11] == doctest::Approx(0.002 + 0.008 / 4).epsilon(1e-12));  // one step from the end
}

TEST_CASE("train_lm's summary, HDF5 file and log hold what its loop saw") {
  const StudyRun run("train_lm", tiny + " --corpus synthetic --json");
  const Json& summary = run.summary;
  CHECK(run.outcome.out == run.text("summary.json"));
  CHECK(summary["iterations"] == 12);
  CHECK(summary["val_loss"] > summary["entropy_floor"]);
  CHECK(summary["perplexity"].get<double>() ==
        doctest::Approx(std::exp(summary["val_loss"].get<double>())).epsilon(1e-12));

  CHECK(run.series("loss").numel() == 12);
  CHECK(run.series("module_step").to_vector<double>() == std::vector<double>{0, 5, 10, 11});

  // The log has std and gradient norm of each module at each log step, the console has not.
  const std::string log = run.text("run.log");
  std::istringstream layers(run.text("layers.csv"));
  std::string row;
  std::getline(layers, row);  // the names of the columns
  int rows = 0;
  for (; std::getline(layers, row); ++rows) {
    const size_t step = row.find(','), module = row.find(',', step + 1);
    const std::string line =
        " debug   step " + row.substr(0, step) + " " + row.substr(step + 1, module - step - 1) + ": std ";
    CHECK_MESSAGE(holds(log, line), line);
  }
  CHECK(rows >= 4 * 30);
  CHECK_FALSE(holds(run.outcome.out + run.outcome.err, ": std "));
}

TEST_CASE(
    "a training shorter than its evaluation interval has one validation loss, and a best checkpoint of it") {
  const StudyRun run("train_lm", tiny + " --eval_interval 100");
  const std::vector<double> losses = run.series("val_loss").to_vector<double>();
  REQUIRE(losses.size() == 12);
  CHECK(std::ranges::count_if(losses, [](double loss) { return std::isfinite(loss); }) == 1);
  CHECK(run.summary["best_val_loss"] == losses.back());
  const Checkpoint best = load_checkpoint(run.folder / "run/checkpoints/best.safetensors");
  CHECK(best.step == 12);
  CHECK(best.best_val_loss == losses.back());
}

TEST_CASE("--patience ends a training whose validation loss no longer falls, also when it is resumed") {
  // At a learning rate of zero no evaluation is below the first one.
  const std::string still =
      tiny +
      " --max_iters 40 --learning_rate 0 --min_lr 0 --weight_decay 0 --eval_interval 4 --checkpoint_interval 3";
  const TemporaryFolder folder;
  const auto results = [&](const std::string& name) { return results_in(folder / name); };
  const Outcome whole = ran("train_lm", still + " --patience 3 --out a", folder.path());
  CHECK(holds(whole.out, "stopped after step 16: in 3 evaluations the val loss was never below "));
  CHECK(results("a")["iterations"] == 16);
  CHECK(results("a")["best_step"] == 4);
  CHECK(load_checkpoint(folder / "a/checkpoints/best.safetensors").step == 4);
  CHECK(load_checkpoint(folder / "a/checkpoints/step_000016.safetensors").step == 16);

  // Killed between the evaluations, it stops at the same step.
  std::filesystem::copy(folder / "a", folder / "b", std::filesystem::copy_options::recursive);
  std::filesystem::remove(folder / "b/checkpoints/step_000016.safetensors");
  std::filesystem::rename(folder / "b/summary.json", folder / "b/summary.partial.json");
  CHECK(holds(ran("train_lm", "--resume b", folder.path()).out, "going on after step 15 of 40"));
  CHECK(results("b") == results("a"));
  CHECK(file_text(folder / "b/loss.csv") == file_text(folder / "a/loss.csv"));

  // Seeds may stop at different steps; their curves have the steps of all.
  ran("train_lm", still + " --patience 2 --seeds 2 --out s", folder.path());
  CHECK(Hdf5File::open(folder / "s/run.h5").read("/series/loss").shape() == Shape{12, 2});
  check_refused("train_lm", tiny + " --patience 2",
                "--patience: wanted less than the 2 evaluations of 12 steps, got 2");
}

TEST_CASE("run.h5 has the shares of every module's values at each log step, and the summary some of them") {
  const StudyRun run("train_lm", tiny + " --log_interval 1 --max_iters 30");
  const auto modules =
      static_cast<int64_t>(Hdf5File::open(run.folder / "run/run.h5").read_strings("/modules").size());
  REQUIRE(run.summary["ridges"].size() == 2);
  for (const Json& ridges : run.summary["ridges"]) {
    const std::string quantity = ridges["quantity"];
    CAPTURE(quantity);
    const Tensor rows = run.series(quantity + "_histogram");
    CHECK(rows.shape() == Shape{30, modules * 65});
    for (const double sum : sum(reshape(rows, {30 * modules, 65}), {-1}).to_vector<double>())
      CHECK(sum == doctest::Approx(1).epsilon(1e-12));
    CHECK(ridges["edges"] == Json(run.series(quantity + "_edges").to_vector<double>()));
    CHECK(ridges["edges"].size() == 65);
    CHECK(ridges["steps"].size() == 12);
    CHECK(ridges["steps"].front() == 0);
    CHECK(ridges["steps"].back() == 29);
    CHECK(ridges["modules"] == Json({"embed_tokens", "blocks.0", "blocks.1", "norm", "lm_head", "(model)"}));
    // The last log step's row of the embedding, the first module of the file.
    for (int64_t bin = 0; bin < 64; ++bin)
      CHECK(std::abs(ridges["shares"].back()[0][bin].get<double>() - rows.at({29, bin})) <= 5.1e-5);
  }
}

TEST_CASE("--alpha of train_lm is where the norms that have one start") {
  LmConfig config;
  config.norm = "dyt";
  config.alpha = 0.9;
  LanguageModel model(config.model(7), Rng(1));
  int alphas = 0;
  for (const NamedTensor& parameter : named_state(model)) {
    if (!parameter.name.ends_with(".alpha")) continue;
    CHECK(parameter.tensor.item() == doctest::Approx(0.9));
    ++alphas;
  }
  CHECK(alphas == 2 * config.n_layer + 1);
}

TEST_CASE("a default that a given flag makes impossible gives way, and one sentence says so") {
  struct Row {
    std::vector<std::string> given;
    std::function<void(LmConfig&)> set;
    std::string said;  // the changes, without their reasons
  };
  for (const Row& row : std::vector<Row>{
           {{}, [](LmConfig&) {}, ""},
           {{"max_iters"}, [](LmConfig& c) { c.max_iters = 100; }, ""},
           {{"max_iters"}, [](LmConfig& c) { c.max_iters = 99; }, "warmup_iters is 9 instead of 100"},
           {{"max_iters", "warmup_iters"}, [](LmConfig& c) { c.max_iters = 99; }, ""},
           {{"max_iters", "schedule"},
            [](LmConfig& c) { c.max_iters = 40, c.schedule = "wsd"; },
            "warmup_iters is 4 instead of 100; decay_iters is 8 instead of 400"},
           {{"max_iters", "schedule", "decay_iters"},
            [](LmConfig& c) { c.max_iters = 40, c.schedule = "wsd", c.decay_iters = 38; },
            "warmup_iters is 2 instead of 100"},
           {{"warmup_iters", "schedule"},
            [](LmConfig& c) { c.warmup_iters = 1400, c.schedule = "wsd"; },
            "decay_iters is 100 instead of 400"},
           {{"learning_rate"},
            [](LmConfig& c) { c.learning_rate = 1e-4; },
            "min_lr is 1e-05 instead of 0.0003"},
           {{"n_head"}, [](LmConfig& c) { c.n_head = 1; }, "n_kv_head is 1 instead of 2"},
           {{"n_head"},
            [](LmConfig& c) { c.n_head = 3; },
            "n_embd is 132 instead of 128; n_kv_head is 3 instead of 2"},
           {{"n_embd"}, [](LmConfig& c) { c.n_embd = 100; }, "n_head is 2 instead of 4"},
           {{"n_embd", "n_head"}, [](LmConfig& c) { c.n_embd = 100; }, ""}}) {
    LmConfig config;
    row.set(config);
    std::string said;
    for (const std::string& sentence : give_way(config, {row.given.begin(), row.given.end()}))
      said += (said.empty() ? "" : "; ") + sentence.substr(0, sentence.find(", because "));
    CHECK(said == row.said);
    if (row.said != "" || row.given.empty()) CHECK(message_of([&] { config.check_together(); }) == "");
  }
  const Outcome printed = run_built("train_lm", "--preset nanogpt_cpu --max_iters 40 --print-config");
  CHECK(Json::parse(printed.out)["warmup_iters"] == 4);
  const StudyRun run("train_lm", tiny + " --max_iters 4 --warmup_iters 1 --n_kv_head 1 --schedule wsd");
  CHECK(run.outcome.out.starts_with("decay_iters is 1 instead of 400, because max_iters is 4\n"));
}

TEST_CASE("fine-tuning begins with the weights and sizes of a checkpoint, a run or a safetensors file") {
  const TemporaryFolder folder;
  const auto train = [&](const std::string& arguments, const std::string& name) {
    ran("train_lm", arguments + " --out " + name, folder.path());
    return Json::parse(file_text(folder / (name + "/summary.json")));
  };
  const Json start = train(tiny + " --norm_eps 1e-4", "start");
  ran("isobar", "export start --layout llama -o hf/model.safetensors", folder.path());
  const std::string still =
      "--corpus " + text + " --batch_size 4 --max_iters 1 --learning_rate 0 --weight_decay 0";
  for (const std::string from :
       {"start", "start/checkpoints/step_000012.safetensors", "hf/model.safetensors", "hf"}) {
    CAPTURE(from);
    const Json still_there = train(still + " --init_from " + from, "still");
    CHECK(still_there["val_loss"] == start["val_loss"]);
    CHECK(still_there["config"]["n_embd"] == 16);
    CHECK(still_there["config"]["norm_eps"] == 1e-4);
    std::filesystem::remove_all(folder / "still");
  }

  // What contradicts the model is refused; what does not is free.
  const std::string more =
      "--corpus " + text + " --batch_size 4 --max_iters 4 --eval_iters 2 --checkpoint_interval 2";
  folder.write("other.txt", "☃" + std::string(1000, 'a'));
  for (const auto& [arguments, part] : std::map<std::string, std::string>{
           {"--n_layer 3", "'start' is a model with another n_layer: 2 there, 3 here; leave the option out"},
           {"--tokenizer byte", "--tokenizer: start brings its own; leave the option out"},
           {"--corpus other.txt", "other.txt: encode: '☃' (U+2603) at byte 0 is none of the "},
           {"--init_from none", "none"}})
    check_refused("train_lm", more + " --log_level error --init_from start " + arguments, part,
                  folder.path());
  // Which of two models is meant is the user's to say.
  folder.write("start/model.safetensors", "an export");
  check_refused("train_lm", more + " --log_level error --init_from start --out two",
                "'start' holds a model.safetensors and checkpoints of a run, which may have other weights",
                folder.path());
  std::filesystem::remove(folder / "start/model.safetensors");
  train(more + " --init_from start --n_layer 2 --block_size 8 --dropout 0.1", "tuned");

  // A fine-tuning that stopped goes on without its start.
  const std::string losses = file_text(folder / "tuned/loss.csv");
  std::filesystem::remove_all(folder / "start");
  std::filesystem::remove(folder / "tuned/summary.json");
  std::filesystem::remove(folder / "tuned/checkpoints/step_000004.safetensors");
  const Outcome resumed = ran("train_lm", "--resume tuned", folder.path());
  CHECK(holds(resumed.out, "going on after step 2 of 4"));
  CHECK(file_text(folder / "tuned/loss.csv") == losses);
}

TEST_CASE("--seeds trains each seed in a folder of its own, sums up, and goes on where it stopped") {
  const TemporaryFolder folder;
  const std::string command = tiny + " --checkpoint_interval 6 --seed 3 --seeds 2 --out s";
  const Outcome run = ran("train_lm", command, folder.path());
  ran("train_lm", tiny + " --checkpoint_interval 6 --seed 4 --out one", folder.path());
  CHECK(file_text(folder / "s/seed_4/loss.csv") == file_text(folder / "one/loss.csv"));
  const auto summary_of = [&](const std::string& name) { return results_in(folder / name); };
  CHECK(summary_of("s/seed_4") == summary_of("one"));
  const nlohmann::json summary = summary_of("s");
  const double a = summary_of("s/seed_3")["val_loss"], b = summary_of("one")["val_loss"];
  CHECK(summary["val_loss"].get<double>() == doctest::Approx((a + b) / 2).epsilon(1e-12));
  CHECK(summary["val_loss_sd"].get<double>() ==
        doctest::Approx(std::abs(a - b) / std::sqrt(2)).epsilon(1e-9));
  CHECK(summary["val_loss_interval_99"][0] < std::min(a, b));
  CHECK(summary["measured"]["val_loss"]["n"] == 2);
  CHECK(Hdf5File::open(folder / "s/run.h5").read("/series/loss").shape() == Shape{12, 2});
  CHECK(holds(run.out, "val loss over 2 seeds: mean "));

  for (const char* killed : {"s/", "s/seed_4/"})  // as a kill leaves them
    std::filesystem::rename(folder / killed + "summary.json", folder / killed + "summary.partial.json");
  std::filesystem::remove(folder / "s/seed_4/checkpoints/step_000012.safetensors");
  check_refused("train_lm", command + " --dropout 0.1", "'s/seed_3' holds a run with other settings",
                folder.path());
  const Outcome again = ran("train_lm", command, folder.path());
  CHECK(holds(again.out, "(was there)\nseed 4: "));
  CHECK(holds(file_text(folder / "s/seed_4/run.log"), "going on after step 6 of 12"));
  CHECK(summary_of("s") == summary);
  check_refused("train_lm", "--resume s", "--resume: 's' holds several seeds", folder.path());
}

TEST_CASE(
    "a finished seed on another text, by other sources or from other weights counts with --accept-old alone") {
  const TemporaryFolder folder;
  const std::string words = file_text(ISOBAR_SOURCE_DIR "/README.md");
  folder.write("a.txt", words);
  const std::string more = " --corpus a.txt --max_iters 2 --eval_interval 2 --eval_iters 1";
  ran("train_lm", tiny + more + " --out start", folder.path());
  const std::string command = more + " --init_from start --block_size 16 --batch_size 4 --seeds 2 --out s";
  const auto summary_of = [&](const std::string& name) {
    return Json::parse(file_text(folder / (name + "/summary.json")));
  };
  // As a kill leaves it when all seeds are trained.
  const auto again = [&](const std::string& flags) {
    std::filesystem::rename(folder / "s/summary.json", folder / "s/summary.partial.json");
    return ran("train_lm", command + flags, folder.path()).out;
  };
  const auto set = [&](const std::string& key, const std::string& value) {
    Json summary = summary_of("s/seed_0");
    summary["environment"][key] = value;
    folder.write("s/seed_0/summary.json", summary.dump());
  };
  ran("train_lm", command, folder.path());
  const Json first = summary_of("s");
  CHECK(first["environment"]["data"] == Json{{"a.txt", checksum(words)}});
  CHECK(first["environment"]["data"] == summary_of("s/seed_1")["environment"]["data"]);
  CHECK(holds(again(""), "(was there)"));

  // On another text of the same length and letters: neither average nor curves mix the two.
  std::string other = words;
  std::rotate(other.begin(), other.begin() + static_cast<ptrdiff_t>(other.find('\n', other.size() / 2)),
              other.end());
  folder.write("a.txt", other);
  const std::string change = "its data have changed since: a.txt is another file";
  CHECK(holds(again(" --accept-old"), "is taken by --accept-old, though " + change));
  CHECK(summary_of("s")["accepted_old"] == change);
  CHECK(summary_of("s")["val_loss"] == first["val_loss"]);
  CHECK(summary_of("s")["environment"]["data"] == first["environment"]["data"]);
  CHECK(holds(again(""), "seed 1 was trained before, and does not count: " + change + "; trained anew"));
  CHECK(summary_of("s")["val_loss"] != first["val_loss"]);
  CHECK(summary_of("s")["environment"]["data"] == Json{{"a.txt", checksum(other)}});
  CHECK_FALSE(summary_of("s").contains("accepted_old"));

  set("sources", "0");
  CHECK(holds(again(""),
              "seed 0 was trained before, and does not count: the sources of its program have changed"));
  set("init_from", "0");
  CHECK(holds(again(""), "does not count: --init_from names other weights now"));
  CHECK(holds(again(""), "seed 0: "));
  CHECK(summary_of("s/seed_0")["environment"]["init_from"] ==
        summary_of("s/seed_1")["environment"]["init_from"]);

  // A seed that did not finish goes on with the weights that it began with alone.
  const auto interrupt = [&] {
    std::filesystem::rename(folder / "s/seed_1/summary.json", folder / "s/seed_1/summary.partial.json");
    std::filesystem::remove(folder / "s/seed_1/checkpoints/step_000002.safetensors");
  };
  const std::string in_parts = " --checkpoint_interval 1 --force";
  ran("train_lm", command + in_parts, folder.path());
  interrupt();
  CHECK_FALSE(holds(again(" --checkpoint_interval 1"), "was begun before"));
  CHECK(holds(file_text(folder / "s/seed_1/run.log"), "going on after step 1 of 2"));
  interrupt();
  ran("train_lm", tiny + more + " --seed 9 --force --out start", folder.path());
  CHECK(holds(
      again(" --checkpoint_interval 1"),
      "seed 1 was begun before, and does not go on: --init_from names other weights now; trained anew"));
  CHECK(summary_of("s/seed_0")["environment"]["init_from"] ==
        summary_of("s/seed_1")["environment"]["init_from"]);
}

TEST_CASE("a finished seed whose files are damaged is refused, and none is waited for") {
  const TemporaryFolder folder;
  const std::string command = tiny + " --max_iters 2 --eval_interval 2 --eval_iters 1 --seeds 2 --out s",
                    summary = folder / "s/seed_0/summary.json", lines = folder / "s/seed_0/metrics.jsonl";
  ran("train_lm", command, folder.path());
  std::filesystem::rename(folder / "s/summary.json", folder / "s/summary.partial.json");
  const std::string right = file_text(summary), all = file_text(lines);
  const auto refused = [&](const std::string& sentence) {
    check_refused("train_lm", command, sentence, folder.path());
  };
  const auto with_fifo = [&](const std::string& path, const std::string& right_bytes,
                             const std::string& sentence) {
    std::filesystem::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    refused(sentence);
    std::filesystem::remove(path);
    std::ofstream(path) << right_bytes;
  };
  with_fifo(summary, right, "s/seed_0/summary.json: cannot be read; is it there, and a file?");
  const std::string steps =
      "s/seed_0/metrics.jsonl: wanted 'loss' of the 2 steps that its summary.json is of, got ";
  with_fifo(lines, all, steps + "0");
  std::ofstream(lines) << all.substr(0, all.find('\n') + 1);
  refused(steps + "1");
  std::ofstream(lines) << all;
  for (const char* damaged : {"", "[]", "{\"config\": 1}", "{\"config\": {}, \"environment\": []}"}) {
    std::ofstream(summary) << damaged;
    refused("s/seed_0/summary.json: wanted a summary of a run");
  }
  const auto with_value = [&](const Json::json_pointer& key, const Json& value, const std::string& sentence) {
    Json changed = Json::parse(right);
    changed[key] = value;
    std::ofstream(summary) << changed.dump();
    refused("--seeds: s/seed_0/summary.json: " + sentence);
  };
  const Json::json_pointer environment("/environment");
  for (const char* name : {"train_loss", "val_loss", "best_val_loss"})
    for (const Json& value : {Json("2.5"), Json(), Json({1, 2})})
      with_value(Json::json_pointer() / name, value, fmt::format("{}: wanted a number, got", name));
  for (const char* name : {"version", "sources"})
    with_value(environment / name, 3, fmt::format("{}: wanted a text, got 3", name));
  with_value(environment / "data", 3, "data: wanted an object, got 3");
  with_value(environment / "data" / "a.txt", 3, "data: a.txt: wanted a text, got 3");
  std::ofstream(summary) << right;
  CHECK(holds(ran("train_lm", command, folder.path()).out, "(was there)"));
}

TEST_CASE("the synthetic corpus is a text of its own symbols") {
  const Corpus corpus = open_corpus("synthetic", "char");
  CHECK(corpus.text.tokenizer->vocab_size() == MarkovSource::symbols);
  CHECK(tokens_per_character(corpus) == 1);
  CHECK_FALSE(is_tiny_shakespeare(corpus));
}

}  // namespace isobar::train_lm_test
