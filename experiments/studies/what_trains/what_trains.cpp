// What trains? A map of learning rate, initial scale, depth and norm, whose borders are predicted before they are
// measured.
//
// Source 003 says that deep nets need norms (D10); others train without (004, F16). What a norm buys is indifference to
// the scale of the initial weights: this study measures at how many octaves of the rate a net learns, at each scale.
//
//   what_trains                      MLPs of 8 residual blocks, without a norm and with RMSNorm; half a minute
//   what_trains --norm none --depth 12 --init_std 0.02 --optimizer adamw     answers from the kept map
//
// A net learns where its gain on blind guessing is at least 90 % of the best cell's of its task, after 100 steps.
// README.md has the design, predictions.md the formulas of the borders, which prediction.cpp computes.
#include "../../run/program.h"
#include "../../run/table.h"
#include "answer.h"
#include "page_training.h"
#include "picture.h"
#include "prediction.h"
#include "scores.h"
#include "training.h"

using namespace isobar;
using namespace isobar::trains;

namespace {

// All nets that are measured, each with its rates, and the lines on which neighbours are compared.
struct Search {
  std::vector<Point> points = {};
  std::map<std::string, double> enough = {};  // by task

  Point& point(const Net& net) {
    const auto found = std::ranges::find(points, net, &Point::net);
    return found != points.end() ? *found : points.emplace_back(net);
  }
};

// The coarse net of scales, and that of depths.
Search first_points(const Config& config) {
  Search search;
  const auto add = [&](const std::string& norm, const std::string& optimizer) {
    for (const std::string& task : config.tasks) {
      Net net = config.net(task, norm, optimizer);
      if (!makes_sense(net)) continue;
      const bool adam_w = optimizer == "adamw";
      const std::vector<double> embeddings = net.is_mlp() ? std::vector{1.0}
                                             : adam_w     ? config.embedding_stds
                                                          : std::vector{config.embedding_stds[0]};
      for (const double embedding : embeddings) {
        net.embedding_std = embedding;
        for (const double scale : adam_w ? config.scales : config.few_scales) {
          net.scale = scale;
          search.point(net);
        }
      }
      if (!adam_w) continue;
      net = config.net(task, norm, optimizer);
      net.embedding_std = embeddings[0];
      for (const int64_t depth : net.is_mlp() ? config.depths : config.n_layers) {
        net.depth = depth;
        search.point(net);
      }
    }
  };
  for (const std::string& norm : config.norms)
    for (const std::string& optimizer : config.optimizers) add(norm, optimizer);
  for (const std::string& norm : config.more_norms) add(norm, "adamw");
  return search;
}

struct Job {
  Net net;
  Cell cell;
};

void train_cells(Grid& grid, const Run& run, const Config& config, const Data& data, Search& search,
                 std::vector<Job> jobs) {
  const auto cost = [](const Job& job) { return (job.net.optimizer == "muon" ? 3 : 1) * job.net.depth; };
  std::stable_sort(jobs.begin(), jobs.end(), [&](const Job& a, const Job& b) { return cost(a) > cost(b); });
  std::vector<Json> rows;
  for (const Job& job : jobs) {
    rows.push_back(job.net.settings());
    rows.back()["octave"] = job.cell.octave;
    rows.back()["seed"] = run.seed() + job.cell.seed;
  }
  const auto train_one = [&](size_t i) {
    return train(config, data, jobs[i].net, std::exp2(static_cast<double>(jobs[i].cell.octave)),
                 run.seed() + jobs[i].cell.seed);
  };
  grid.train<Outcome>(rows, train_one, [&](size_t i, const Outcome& outcome) {
    Point& point = search.point(jobs[i].net);
    point.add(jobs[i].cell, outcome.gain);
    if (jobs[i].cell.octave != point.gains().begin()->first || jobs[i].cell.seed > 0) return;
    point.start_logits = outcome.start_logits;
    point.change_over_rate = outcome.first_change / std::exp2(static_cast<double>(jobs[i].cell.octave));
  });
}

std::vector<Job> wanted_cells(const Search& search, int64_t seeds) {
  std::vector<Job> jobs;
  for (const Point& point : search.points) {
    const auto enough = search.enough.find(point.net().task);
    for (const Cell& cell :
         enough == search.enough.end() ? point.coarse() : point.wanted(enough->second, seeds))
      jobs.push_back({point.net(), cell});
  }
  return jobs;
}

Map map_of(const Config& config, const Search& search) {
  Map map{.steps = config.steps, .enough = search.enough};
  for (const Point& point : search.points) {
    MeasuredNet one{.net = point.net(),
                    .best_gain = point.best_gain(),
                    .best_rate = std::exp2(static_cast<double>(point.best())),
                    .window = point.window(search.enough.at(point.net().task)),
                    .start_logits = point.start_logits,
                    .change_over_rate = point.change_over_rate};
    for (const auto& cell : point.gains()) one.cells.emplace_back(cell.first, point.gain(cell.first));
    double& best = map.best[point.net().task];
    best = std::max(best, one.best_gain);
    map.nets.push_back(one);
  }
  return map;
}

// Nets between two neighbours of a line of which one trains and one does not.
bool refine(const Config& config, Search& search) {
  const size_t before = search.points.size();
  const Map map = map_of(config, search);
  for (const MeasuredNet& one : map.nets) {
    Net net = one.net;
    if (net.depth == default_depth(net.task))
      for (const double scale : between_neighbours(map.along_scale(net), false)) {
        Net next = net;
        next.scale = scale;
        search.point(next);
      }
    if (net.scale == default_scale(net.task))
      for (const double depth : between_neighbours(map.along_depth(net), true)) {
        Net next = net;
        next.depth = static_cast<int64_t>(depth);
        search.point(next);
      }
  }
  return search.points.size() > before;
}

Map measure(Run& run, const Config& config, const Data& data) {
  Search search = first_points(config);
  // What is trained may grow: these settings decide no training's bits.
  Grid grid(run, {.free = {"tasks", "norms", "more_norms", "optimizers", "scales", "few_scales",
                           "embedding_stds", "depths", "n_layers", "seeds", "share"}});
  train_cells(grid, run, config, data, search, wanted_cells(search, 1));
  for (const Point& point : search.points) {
    double& enough = search.enough[point.net().task];
    enough = std::max(enough, config.share * point.best_gain());
  }
  do {
    for (std::vector<Job> jobs; !(jobs = wanted_cells(search, config.seeds)).empty();)
      train_cells(grid, run, config, data, search, jobs);
  } while (refine(config, search));
  grid.finish();
  return map_of(config, search);
}

std::string picture_name(const std::string& task, const std::string& optimizer, double embedding) {
  return fmt::format("{}_{}{}.svg", task, optimizer,
                     task == "transformer" ? fmt::format("_e{:g}", embedding) : "");
}

// "residual.adamw.none.scale1", "….depth32".
std::string key_of(const Net& net) {
  if (net.depth != default_depth(net.task)) return fmt::format("{}.depth{}", net.key(), net.depth);
  return fmt::format("{}.scale{:.3g}", net.key(), net.scale);
}

std::string window_text(double low, double high) {
  return low < high ? fmt::format("{:.2g} to {:.2g}", low, high) : "none";
}

void publish(Run& run, const Map& map) {
  Table table({"net", "scale", "depth", "learns at rates", "predicted", "best gain", "sensitivity"},
              "lrrllrr");
  for (const MeasuredNet& one : map.nets) {
    const Borders predicted = predicted_borders(one.net, map.steps);
    const std::string key = key_of(one.net);
    const double low = one.window ? one.window->lowest_rate() : 0,
                 high = one.window ? one.window->highest_rate() : 0;
    run.measured(key + ".octaves", one.window ? one.window->octaves() : 0,
                 std::max(0.0, predicted.octaves()));
    if (one.window) {
      run.measured(key + ".lowest_rate", low, predicted.lowest_rate);
      run.measured(key + ".highest_rate", high, predicted.highest_rate);
    }
    run.measured(key + ".best_gain", one.best_gain);
    run.measured(key + ".best_rate", one.best_rate);
    run.measured(key + ".sensitivity", one.sensitivity());
    table.row({one.net.key(), fmt::format("{:.3g}", one.net.scale), std::to_string(one.net.depth),
               window_text(low, high), window_text(predicted.lowest_rate, predicted.highest_rate),
               fmt::format("{:.3f}", one.best_gain), fmt::format("{:.2f}", one.sensitivity())});
  }
  for (const auto& [task, best] : map.best) {
    run.measured(task + ".best_gain", best);
    run.measured(task + ".enough", map.enough.at(task));
  }
  run.say_text(table.text());
}

void publish_scores(Run& run, const Map& map) {
  const std::vector<Border> borders = borders_of(map);
  Csv& csv = run.csv("borders.csv",
                     {"kind", "task", "optimizer", "norm", "depth", "scale", "embedding_std", "measured",
                      "predicted", "null", "null_here", "within", "null_within", "null_here_within"});
  for (const Border& b : borders)
    csv.row({std::string(kind_name(b.kind)), b.net.task, b.net.optimizer, b.net.norm, b.net.depth,
             b.net.scale, b.net.embedding_std, b.measured, b.predicted, b.null.value_or(NAN),
             b.null_here.value_or(NAN), static_cast<int64_t>(b.within(b.predicted)),
             static_cast<int64_t>(b.within(b.null)), static_cast<int64_t>(b.within(b.null_here))});
  const auto add = [&](const std::vector<std::pair<std::string, Score>>& scores) {
    for (const auto& [name, score] : scores) {
      std::string key = "score." + name;
      std::ranges::replace(key, ' ', '_');
      const auto n = static_cast<double>(score.borders);
      run.measured(key + ".borders", n);
      run.measured(key + ".predicted", static_cast<double>(score.predicted) / n);
      run.measured(key + ".null", static_cast<double>(score.null) / n);
      if (score.paired > 0)
        run.measured(key + ".null_here",
                     static_cast<double>(score.null_here) / static_cast<double>(score.paired));
    }
  };
  add(scores_by(borders, [](const Border&) { return std::string("all"); }));
  add(scores_by(borders, [](const Border& b) { return std::string(kind_name(b.kind)); }));
  add(scores_by(borders, [](const Border& b) { return b.net.task; }));
  add(scores_by(borders, [](const Border& b) { return b.net.norm; }));
  add(scores_by(borders, [](const Border& b) { return b.net.optimizer; }));
  run.say_text(scores_text(map));
}

// The closed form of the first logits, at the default depth and scale, where width plays no great part.
void expect_starts(Run& run, const Map& map) {
  for (const MeasuredNet& one : map.nets) {
    if (one.net.scale != default_scale(one.net.task) || one.net.depth != default_depth(one.net.task))
      continue;
    // The formula takes the last norm for one that makes the stream's mean square 1, which elementwise ones do not.
    if (one.net.norm.starts_with("pre.dy")) continue;
    const double theory = start_of(one.net).logits;
    run.expect(one.net.key() + ": the size of the first logits",
               std::abs(std::log(one.start_logits / theory)) < std::log(2),
               fmt::format("{:.3g}, theory {:.3g}", one.start_logits, theory));
  }
}

// Nets that nobody chose, each at a rate of its own: is the answer of the kept map right?
void try_answers(Run& run, const Config& config, const Data& data) {
  const Map& map = kept_map();
  const Rng rng = Rng(static_cast<uint64_t>(run.seed())).split("nets");
  std::vector<std::pair<Net, double>> nets;
  std::vector<Json> rows;
  for (int64_t i = 0; i < config.draw; ++i) {
    nets.push_back(config.drawn(rng.split(static_cast<uint64_t>(i))));
    rows.push_back(nets.back().first.settings());
    rows.back()["octave"] = nets.back().second;
    rows.back()["seed"] = run.seed();
  }
  Grid grid(run);
  const std::vector<Outcome> outcomes = grid.train<Outcome>(rows, [&](size_t i) {
    return train(config, data, nets[i].first, std::exp2(nets[i].second), run.seed());
  });
  grid.finish();
  Table table({"net", "depth", "scale", "rate", "gain", "learns", "answer", "formulas"}, "lrrrrlll");
  double right = 0, by_formulas = 0, learning = 0;
  for (size_t i = 0; i < nets.size(); ++i) {
    const auto& [net, octave] = nets[i];
    const double rate = std::exp2(octave);
    const Borders predicted = predicted_borders(net, config.steps);
    const bool learns = outcomes[i].gain >= map.enough.at(net.task),
               expected = expected_to_train(map, net, rate),
               formulas = rate >= predicted.lowest_rate && rate <= predicted.highest_rate;
    right += learns == expected;
    by_formulas += learns == formulas;
    learning += learns;
    const auto said = [](bool yes) { return std::string(yes ? "yes" : "no"); };
    table.row({net.key(), std::to_string(net.depth), fmt::format("{:.3g}", net.scale),
               fmt::format("{:.2g}", rate), fmt::format("{:.2f}", outcomes[i].gain), said(learns),
               said(expected), said(formulas)});
  }
  run.say_text(table.text());
  run.measured("drawn.nets", static_cast<double>(config.draw));
  run.measured("drawn.learn", learning);
  run.measured("drawn.right", right);
  run.measured("drawn.right_by_formulas", by_formulas);
  run.say("the answers for {} of {} nets are right, by the formulas alone {}; {} learn\n", right, config.draw,
          by_formulas, learning);
}

void study(Run& run, const Config& config) {
  const Data data(config);
  if (data.digits) data.digits->announce(run);
  if (data.text) {
    data.text->corpus.announce(run);
    run.summary()["corpus"] = data.text->name();
  }
  if (config.draw > 0) return try_answers(run, config, data);
  const Map map = measure(run, config, data);
  run.text_file("map.json", json_text(to_json(map)));
  for (const std::string& task : config.tasks)
    for (const std::string& optimizer : config.optimizers)
      for (const double embedding : task == "transformer" ? config.embedding_stds : std::vector{1.0})
        if (const std::string picture = picture_of(map, task, optimizer, embedding); !picture.empty())
          run.text_file(picture_name(task, optimizer, embedding), picture);
  publish(run, map);
  publish_scores(run, map);
  expect_starts(run, map);
}

// The words of the command line; where they ask about a net, --answer is among them.
std::vector<char*> words_of(int argc, char** argv) {
  static char answer[] = "--answer";
  std::vector<char*> words(argv, argv + argc);
  bool asks = false, prints = false;
  for (std::string word : words) {
    if (!word.starts_with("-")) continue;
    word = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    word = word.substr(0, word.find('='));
    std::ranges::replace(word, '-', '_');
    asks |= Config::questions().contains(word);
    prints |= word == "h" || word.starts_with("help") || word == "about" || word == "version" ||
              word == "answer" || word == "on_page" || word == "scores" || word == "picture" ||
              word == "print_config";
  }
  if (asks && !prints) words.push_back(answer);
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const auto text = [&] { return answer(kept_map(), config.asked(), config.rate); };
  std::vector<char*> words = words_of(argc, argv);
  return run_program(
      {.name = "what_trains",
       .about = "At which learning rates, initial scales and depths does a net train, with each\n"
                "norm? The answer is a map, whose borders were predicted before the measurement.",
       .example = "what_trains --depth 12 --init_std 0.02 --norm none --optimizer adamw",
       .page = "studies/what_trains/README.md",
       .trained = {{.of = "transformer.",
                    .en = "blocks of width {n_embd}, {steps} steps on {corpus}, every rate",
                    .zh = "宽 {n_embd} 的块，在{corpus}上训练 {steps} 步，所有学习率"},
                   {.of = "score.",
                    .en = "nets of width {width} and {n_embd}, {steps} steps, every rate",
                    .zh = "宽 {width} 与 {n_embd} 的网络，训练 {steps} 步，所有学习率"},
                   {.en = "layers of width {width}, {steps} steps on {digits}, every rate",
                    .zh = "宽 {width} 的层，在{digits}上训练 {steps} 步，所有学习率"}},
       .presets =
           {{"quick", "residual MLPs without a norm and with RMSNorm, AdamW, 5 scales",
             "--tasks residual --norms none,pre.rmsnorm --optimizers adamw --scales 0.25,0.5,1,2,4 --depths "
             "\"\" --seeds 1"},
            {"full", "the whole map"}},
       .tiny =
           "--tasks plain,transformer --norms none,pre.rmsnorm --optimizers adamw --scales 1 --depths \"\" --n_layers \"\" --steps 2 "
           "--seeds 1 --embedding_stds 1 --width 16 --n_embd 16",
       .printers = {{.flag = "answer",
                     .about = "whether the net of --norm … trains; implied by it",
                     .text = text},
                    {.flag = "on_page",
                     .about = "trains that net on the digits of the page's live chapter",
                     .text = [&] { return page_training_text(config.asked(), config.rate); }},
                    {.flag = "scores",
                     .about = "tables of the kept map: scales, predicted borders",
                     .text = [] { return scores_text(kept_map()); }},
                    {.flag = "picture",
                     .about = "the kept map of --task as SVG",
                     .text =
                         [&] {
                           const Net net = config.asked();
                           const double embedding = config.embedding_std > 0 ? config.embedding_std : 1;
                           return picture_of(kept_map(), net.task, net.optimizer, embedding) + "\n";
                         }}},
       .first_settings = {"norm", "depth", "init_std", "optimizer", "task"},
       .shares = true,
       .check = [&] { config.check_together(); }},
      config, static_cast<int>(words.size()), words.data(), [&](Run& run) { study(run, config); });
}
