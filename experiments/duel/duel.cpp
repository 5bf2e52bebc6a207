// Which of two trains better, by how much, and why? Two norms, placements or sets of flags, in pairs of trainings.
//
//   duel dyt dyt_sqrtd                         two norms, on Tiny Shakespeare
//   duel rmsnorm post.rmsnorm --task digits    a norm in two places, in a deep MLP
//   duel dyt dyt_sqrtd --settings one          without the sixteen other settings that follow
//
// Each contestant gets the learning rate that is best on one half of the validation part; pairs of one seed, hence
// of the same tokens and initial weights, are compared on the other. After each pair a rule looks (duel/decision.h)
// and ends the duel where it decides. Pairs that ran ahead on other threads do not count.
//
// Held fixed: as in lm_norms, the embedding's std of 1, no warm-up, a constant rate, clipping at 1, no biases. Rates
// are searched with seeds of their own. A training that breaks off counts with the loss of the best guess that
// does not look at the text.
#include "../../core/serial_loops.h"
#include "../../data/file.h"
#include "../page/page.h"
#include "../run/clock.h"
#include "../run/environment.h"
#include "../run/output_file.h"
#include "../run/program.h"
#include "answer.h"
#include "in_settings.h"
#include "shared_trainings.h"
#include "why.h"

using namespace isobar;
using namespace isobar::duel;

namespace {

constexpr int64_t gain_pairs = 4;  // pairs of the experiment of equal gains

// They decide no training's bits.
const std::vector<std::string> free_settings = {"margin", "max_pairs", "settings", "share", "shared"};

// Trainings are a killed run's, and this one's, where this is the same.
GridOptions options_of(const Findings& found) {
  return {.free = free_settings,
          .of = {{"a", fingerprint(found.a.contestant)}, {"b", fingerprint(found.b.contestant)}}};
}

// What decides the trainings of B, which other duels with the same B share.
Json all_that_decides_b(const Run& run, const Findings& found) {
  Json config = run.config();
  for (const std::string& name : free_settings) config.erase(name);
  config.erase("a");
  return {{"config", config},
          {"b", fingerprint(found.b.contestant)},
          {"provenance", provenance(isobar_sources(), run.environment().value("data", Json::object()))}};
}

// Best rates, each on its own; and how many trainings of a search there may be, to say how long it takes.
void search(const Config& config, Trainings& trainings, Findings& found) {
  std::array<Side*, 2> sides{&found.a, &found.b};
  const auto train = [&](const std::array<std::vector<double>, 2>& rates) {
    std::vector<Training> wanted;
    for (int64_t side : {0, 1})
      for (const double rate : rates[static_cast<size_t>(side)])
        for (int64_t seed = 0; seed < config.seeds; ++seed)
          wanted.push_back({side, rate, sweep_seeds + seed});
    std::map<std::pair<int64_t, double>, std::vector<double>> losses;
    trainings.of(wanted, [&](size_t i, const Trained& trained) {
      losses[{wanted[i].side, wanted[i].rate}].push_back(trained.diverged ? claims::infinity
                                                                          : trained.tuning_loss);
    });
    for (const auto& [key, values] : losses)
      sides[static_cast<size_t>(key.first)]->sweep.losses[key.second] =
          spread_of(values).nonfinite > 0 ? claims::infinity : spread_of(values).median;
    return !wanted.empty();
  };
  if (config.learning_rate > 0) {
    for (Side* side : sides) side->rate = config.learning_rate;
    return;
  }
  const auto next = [&](const auto& of_side) { return std::array{of_side(found.a), of_side(found.b)}; };
  train({first_rates(8), first_rates(8)});
  while (train(next([&](const Side& side) { return side.sweep.next(found.blind_loss); }))) continue;
  for (Side* side : sides) side->rate = side->sweep.best();
  // Then up the ladder, to where it does not learn.
  while (train(next([&](const Side& side) -> std::vector<double> {
    const auto& [rate, loss] = *side.sweep.losses.rbegin();
    const auto* const beyond = std::ranges::upper_bound(swept_rates, rate);
    if (beyond == std::end(swept_rates) || !has_learned(loss, found.blind_loss)) return {};
    return {*beyond};
  })))
    continue;
  for (Side* side : sides)
    for (const auto& [rate, loss] : side->sweep.losses)
      if (has_learned(loss, found.blind_loss)) side->largest_stable_rate = rate;
}

// Pair after pair until the rule decides; after the first look as many at a time as threads train.
void train_pairs(Run& run, const Config& config, Trainings& trainings, Findings& found, int64_t most) {
  for (int64_t begun = 0; begun < most && found.decision.outcome == Outcome::undecided;) {
    const int64_t end = std::min(
        most, std::max(begun + std::max<int64_t>(1, trainings.at_a_time() / 2), first_look(config.share)));
    std::vector<Training> wanted;
    for (int64_t pair = begun; pair < end; ++pair)
      for (const int64_t side : {0, 1})
        wanted.push_back({side, (side == 0 ? found.a : found.b).rate, run.seed() + pair});
    trainings.of(wanted, [&](size_t i, const Trained& trained) {
      if (found.decision.outcome != Outcome::undecided) return;  // it ran ahead
      (wanted[i].side == 0 ? found.a : found.b).trained.push_back(trained);
      if (wanted[i].side == 0) return;
      found.decision = decide(found.differences(), config.margin, found.share);
      run.say("{}\n", pair_text(found));
    });
    begun = end;
  }
}

// Says at once how long it may take: by three steps of each net, forward and back.
void say_how_long(Run& run, const Config& config, const Task& task, const Findings& found,
                  int64_t at_a_time) {
  const SerialLoops alone;
  double seconds = 0;
  for (const Side* side : {&found.a, &found.b}) {
    const std::unique_ptr<Module> net = task.net(side->contestant, Rng(0));
    const double begin = speed::steady_seconds();
    for (int64_t step = 0; step < 3; ++step) {
      Tape tape;
      tape.backward(task.loss(*net, step));
    }
    seconds += (speed::steady_seconds() - begin) / 3 * static_cast<double>(config.steps);
  }
  const auto clock = [&](int64_t pairs) {
    return clock_text(seconds * static_cast<double>(pairs) /
                      static_cast<double>(std::min<int64_t>(2, at_a_time)));
  };
  const int64_t rates = config.learning_rate > 0 ? 0 : 5, extra = gain_pairs, searched = rates * config.seeds;
  run.say("a pair of trainings takes about {}; the search for learning rates {}, all {} to {}{}\n", clock(1),
          clock(searched), clock(searched + std::min(first_look(config.share), config.max_pairs)),
          clock(searched + config.max_pairs + extra),
          config.settings == "all"
              ? fmt::format("; then sixteen other settings, {}", clock(pairs_in_settings(rates)))
              : "");
}

void study(Run& run, const Config& config) {
  Findings found{.a = {.contestant = parse_contestant(config.a)},
                 .b = {.contestant = parse_contestant(config.b)},
                 .share = config.share};
  const std::unique_ptr<Task> task = make_task(config);
  for (Side* side : {&found.a, &found.b}) {
    task->check_contestant(side->contestant);
    side->check = check_norm(side->contestant);
    check(side->check.right, "{}: the duel does not start: {}", side->label(), side->check.line);
    if (side->check.looks_ahead && config.task != "digits")
      run.warn("{} sees later letters than the one that it predicts: its loss says nothing", side->label());
  }
  found.blind_loss = task->blind_loss();
  task->announce(run);
  run.summary()["corpus"] = task->name();
  run.say("{} against {} on {}: {} wide, {} layers, {} steps of {}; {}\n", found.a.label(), found.b.label(),
          task->name(), config.width, config.n_layer, config.steps, config.optimizer, workers(run.ranks()));

  const TasksInSettings in_settings(config);
  SharedTrainings shared(config.shared, all_that_decides_b(run, found));
  const auto train = [&](const Training& training) {
    const Contestant& contestant = (training.side == 0 ? found.a : found.b).contestant;
    if (training.setting > 0) return in_settings.train(contestant, training);
    const bool shares = training.side == 1 && training.gain == 1;
    if (const auto there = shares ? shared.find(training) : std::nullopt) return *there;
    Trained trained =
        task->train(training.gain == 1 ? contestant : with_gain(contestant, training.gain), training);
    if (shares) shared.add(training, trained);
    return trained;
  };
  Trainings trainings(run, options_of(found), train);
  say_how_long(run, config, *task, found, trainings.at_a_time());

  for (Side* side : {&found.a, &found.b}) side->gain = gain_of(side->contestant, config.width);
  found.distance = distance_of_nets(*task, found.a.contestant, found.b.contestant);
  if (found.distance < rounding_of_f64) {
    for (Side* side : {&found.a, &found.b})
      side->rate = config.learning_rate > 0 ? config.learning_rate : first_rates(8)[1];
    train_pairs(run, config, trainings, found, 1);
    found.likeness = likeness_of(found.distance, found.a.trained.front(), found.b.trained.front());
  } else {
    search(config, trainings, found);
    run.say("best learning rates: {} {}, {} {}\n", found.a.label(), found.a.rate, found.b.label(),
            found.b.rate);
    train_pairs(run, config, trainings, found, config.max_pairs);
  }
  const auto train_loser = [&](double rate, double gain) {
    const Side& loser = found.loser();
    with_gain(loser.contestant, gain);  // registers it before threads ask for it
    std::vector<Training> wanted;
    for (int64_t pair = 0; pair < std::min(gain_pairs, std::ssize(loser.trained)); ++pair)
      wanted.push_back({&loser == &found.a ? 0 : 1, rate, run.seed() + pair, gain});
    std::vector<Trained> all;
    trainings.of(wanted, [&](size_t, const Trained& trained) { all.push_back(trained); });
    return all;
  };
  found.reasons = reasons_of(found, train_loser);
  for (Side* side : {&found.a, &found.b}) side->deep = deep_nets(side->contestant, run.seed());
  const std::vector<Row> rows = rows_of(found);
  std::vector<Row> costs;
  const auto make_step = [&](const Contestant& contestant) {
    return training_step(task->net(contestant, Rng(0)), [&](Module& net) { return task->loss(net, 0); });
  };
  const double turn_seconds =
      std::min(2e-2, 1e-4 * static_cast<double>(config.steps));  // short for short duels
  if (run.writes()) {
    const Costs measured = costs_of(found.a.contestant, found.b.contestant, make_step, turn_seconds);
    costs = cost_rows(measured);
    run.timing()["a_over_b"] = {
        {"step", measured.step.median}, {"norm", measured.norm.median}, {"busy", measured.busy}};
  }
  record(run, found, config.margin, rows, costs);
  print(run, found, config.margin, rows, costs);
  if (found.likeness == Likeness::different) {
    if (config.settings == "all")
      compare_in_settings(run, config, in_settings, trainings, found);
    else if (config.why_one_setting().empty() && config.shared.empty())
      run.say("\nThis is one setting; --settings all repeats the comparison in sixteen others.\n");
  }
  // An open duel continues with more pairs.
  if (found.likeness != Likeness::different || found.decision.outcome != Outcome::undecided) trainings.end();
}

// The page of a finished run.
void write_page(const std::string& folder, const std::string& output) {
  report::Content content;
  content.add(folder);
  const std::string page = content.page("en");
  write_file_atomically(output, page, PathFrom::user);
  say_written(output, fmt::format("{}: {} KiB\n", output, page.size() / 1024));
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  config.settings = "all";  // of a duel; a ladder's rungs have one
  std::vector<std::string> contestants;
  std::string output, folder;
  // A contestant may be a word of flags.
  std::vector<std::string> words = with_contestants_kept({argv, argv + argc});
  std::vector<char*> kept;
  for (std::string& word : words) kept.push_back(word.data());
  kept.push_back(nullptr);
  const auto take_words = [&](const std::set<std::string>& given) -> std::vector<std::string> {
    config.take_size(given);
    if (!contestants.empty()) {
      check(contestants.size() == 2, "wanted two contestants, A and B, got {}", contestants.size());
      config.a = contestants[0];
      config.b = contestants[1];
    }
    config.settle_settings(given.contains("settings"));
    return {};
  };
  const Program program{
      .name = "duel",
      .about = "Which norm trains better, by how much, and why?",
      .example =
          "duel rmsnorm \"--norm layernorm --bias\" --task digits -o duel.html\n"
          "isobar duel dyt rmsnorm --ledger search.toml   a search of many duels\n"
          "isobar duel --table experiments/norms.toml     a table of norms",
      .page = "duel/README.md",
      .trained =
          {{.of = ".start"},
           {.of = ".layers_"},
           {.of = ".parameters"},
           {.of = "blind_loss"},
           {.en = "{n_layer} layers of width {width}, {steps} steps on {data}, each net at its own best rate",
            .zh = "{n_layer} 层、宽 {width}，在{data}上训练 {steps} 步，每个网络取各自最佳学习率"}},
      .presets = {{"quick", "small nets"}, {"full", "larger nets and longer trainings", "--size medium"}},
      .tiny =
          "--steps 2 --n_layer 1 --width 16 --block_size 8 --batch_size 2 --eval_iters 1 --max_pairs 2 "
          "--settings one",
      .positionals = {.name = "A B",
                      .about = "norms by name, headers, formulas, flags of train_lm",
                      .values = &contestants},
      .output = &output,
      .first_settings = {"task", "corpus", "size", "optimizer", "margin", "max_pairs", "settings",
                         "learning_rate"},
      .shares = true,
      .goes_on = MayDiffer{.settings = {"margin", "settings", "share", "shared"}, .may_grow = {"max_pairs"}},
      .settle = take_words,
      .check = [&] { config.check_together(); }};
  const int code = run_program(program, config, argc, kept.data(), [&](Run& run) {
    study(run, config);
    if (run.writes()) folder = run.folder();
  });
  if (code > 1 || output.empty() || folder.empty()) return code;
  return std::max(code, exit_code_of(program.name, stderr, [&] { return write_page(folder, output), 0; }));
}
