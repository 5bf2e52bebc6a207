#include "results.h"

#include "../../../nn/model.h"
#include "../../lm/training/pairs.h"
#include "../../run/table.h"

namespace isobar::ladder {
namespace {

// Those with whom others are compared.
const std::vector<std::string> others = {"rmsnorm", "layernorm", "dyt", "derf", "dyt_alpha1"};

using duel::Trained;

// One number of each training, seed by seed.
std::vector<double> losses_of(const Cell& cell) { return values_of(cell.trained, &Trained::val_loss); }
std::vector<double> train_losses_of(const Cell& cell) {
  return values_of(cell.trained, [](const Trained& trained) { return trained.closer.train_loss; });
}

// The pairs of one rung with one optimizer, the first of each against those of `others`.
void for_each_pair(const Results& results, size_t rung, const std::string& optimizer,
                   const std::function<void(const Cell&, const Cell&)>& visit) {
  for (const Cell& a : results.cells)
    for (const std::string& other : others)
      if (a.rung == rung && a.optimizer == optimizer && a.net != other)
        if (const Cell* b = results.find(rung, optimizer, other)) visit(a, *b);
}

std::string pair_name(const Cell& a, const Cell& b) { return a.net + "_minus_" + b.net; }

std::string of_rung(const std::string& key, size_t rung) { return fmt::format("{}.rung{}", key, rung + 1); }

void measure_pair(Run& run, const Results& results, const Cell& a, const Cell& b) {
  const std::string key = a.optimizer + "." + pair_name(a, b);
  const std::vector<double> nats = pairwise(losses_of(a), losses_of(b), std::minus());
  const auto measured = [&](const std::string& name, const std::vector<double>& values) {
    run.measured(of_rung(key + name, a.rung), spread_of(values));
  };
  measured("", nats);
  measured(".train", pairwise(train_losses_of(a), train_losses_of(b), std::minus()));
  if (b.net != "rmsnorm") return;
  measured(".share_of_gain", shares_of_gain(nats, losses_of(b), results.blind_loss));
  measured(".perplexity_percent", perplexity_percent(nats));
}

std::vector<double> saturated_of(const Cell& cell) {
  return values_of(cell.trained, [](const Trained& trained) { return trained.closer.saturated; });
}

// Nothing where a training has no such value.
void measure_if_known(Run& run, const std::string& key, const std::vector<double>& values) {
  if (std::ranges::none_of(values, [](double value) { return std::isnan(value); }))
    run.measured(key, spread_of(values));
}

void measure_cell(Run& run, const Cell& cell) {
  const std::string key = cell.optimizer + "." + cell.net;
  const auto measured = [&](const std::string& name, const std::vector<double>& values) {
    measure_if_known(run, of_rung(key + name, cell.rung), values);
  };
  measured(".loss", losses_of(cell));
  measured(".saturated", saturated_of(cell));
  for (const size_t end : {0U, 1U})
    measured(end == 0 ? ".tail_over_centre.first" : ".tail_over_centre.last",
             values_of(cell.trained, [&](const Trained& t) {
               return t.closer.tail_over_centre.empty() ? NAN : t.closer.tail_over_centre[end];
             }));
  run.measured(of_rung(key + ".diverged", cell.rung),
               static_cast<double>(std::ranges::count(cell.trained, true, &Trained::diverged)));
  run.measured(of_rung(key + ".learning_rate", cell.rung), cell.rate);
}

// Of the lowest rung minus the highest, over the seeds that both have.
void measure_change(Run& run, const Config& config, const Results& results) {
  for (const std::string& optimizer : config.optimizers)
    for (const std::string& net : config.nets) {
      std::vector<double> first = saturated_of(*results.find(0, optimizer, net));
      const std::vector<double> last = saturated_of(*results.find(results.rungs.size() - 1, optimizer, net));
      first.resize(last.size());
      measure_if_known(run, optimizer + "." + net + ".saturated.first_minus_last",
                       pairwise(first, last, std::minus()));
    }
}

// What Muon changes in a difference, and in a net.
void measure_coupling(Run& run, const Results& results, size_t rung) {
  for (const Cell& cell : results.cells) {
    const Cell* other = results.find(rung, "adamw", cell.net);
    if (cell.rung == rung && cell.optimizer == "muon" && other != nullptr)
      measure_if_known(run, of_rung("muon_minus_adamw." + cell.net + ".saturated", rung),
                       pairwise(saturated_of(cell), saturated_of(*other), std::minus()));
  }
  for_each_pair(results, rung, "muon", [&](const Cell& a, const Cell& b) {
    const Cell *of_a = results.find(rung, "adamw", a.net), *of_b = results.find(rung, "adamw", b.net);
    if (of_a == nullptr || of_b == nullptr) return;
    const auto differences = [](const Cell& x, const Cell& y) {
      return pairwise(losses_of(x), losses_of(y), std::minus());
    };
    run.measured(of_rung("muon_minus_adamw." + pair_name(a, b), rung),
                 spread_of(pairwise(differences(a, b), differences(*of_a, *of_b), std::minus())));
  });
}

void write_csv(Run& run, const Results& results) {
  Csv& rates = run.csv("rates.csv", {"rung", "optimizer", "net", "learning_rate", "tuning_loss"});
  Csv& pairs = run.csv("pairs.csv", {"rung", "optimizer", "net", "learning_rate", "seed", "parameters",
                                     "val_loss", "train_loss", "diverged"});
  for (const Cell& cell : results.cells) {
    const auto rung = static_cast<int64_t>(cell.rung + 1);
    for (const auto& [rate, loss] : cell.sweep.losses)
      rates.row({rung, cell.optimizer, cell.net, rate, loss});
    for (size_t i = 0; i < cell.trained.size(); ++i) {
      const Trained& t = cell.trained[i];
      pairs.row({rung, cell.optimizer, cell.net, cell.rate, run.seed() + static_cast<int64_t>(i),
                 t.parameters, t.val_loss, t.closer.train_loss, static_cast<int64_t>(t.diverged)});
    }
  }
}

void plot_differences(Run& run, const Config& config, const Results& results) {
  for (const std::string& optimizer : config.optimizers) {
    const std::string shown = optimizer == "muon" ? "Muon" : "AdamW";
    Plot plot{.title = {"loss above RMSNorm's, " + shown, "高于 RMSNorm 的损失，" + shown},
              .x = config.climbs_by_tokens()
                       ? Phrase{"log2 of tokens a parameter", "每参数词元数的 log2"}
                       : Phrase{"log2 of a training's operations", "一次训练运算量的 log2"},
              .y = {"nats", "nat"},
              .key = optimizer + "_minus_rmsnorm",
              .figures = {optimizer + "."}};
    for (const std::string& net : config.nets) {
      PlotCurve curve{.label = net};
      for (size_t rung = 0; rung < results.rungs.size() && net != "rmsnorm"; ++rung)
        curve.add(results.log2_compute[rung],
                  spread_of(pairwise(losses_of(*results.find(rung, optimizer, net)),
                                     losses_of(*results.find(rung, optimizer, "rmsnorm")), std::minus())));
      if (net != "rmsnorm") plot.curves.push_back(curve);
    }
    run.plot(plot);
  }
}

// A ladder for each contestant and optimizer: its difference to rmsnorm on the first `rungs` rungs.
std::vector<std::pair<std::string, claims::Ladder>> ladders_below(const Config& config,
                                                                  const Results& results, size_t rungs) {
  std::vector<std::pair<std::string, claims::Ladder>> all;
  for (const std::string& optimizer : config.optimizers)
    for (const std::string& net : config.nets) {
      if (net == "rmsnorm") continue;
      claims::Ladder ladder;
      for (size_t rung = 0; rung < rungs; ++rung) {
        ladder.log2_compute.push_back(results.log2_compute[rung]);
        ladder.rungs.push_back(
            spread_of(pairwise(losses_of(*results.find(rung, optimizer, net)),
                               losses_of(*results.find(rung, optimizer, "rmsnorm")), std::minus())));
      }
      all.emplace_back(optimizer + "." + net + "_minus_rmsnorm", ladder);
    }
  return all;
}

}  // namespace

const Cell* Results::find(size_t rung, const std::string& optimizer, const std::string& net) const {
  const auto at = std::ranges::find_if(cells, [&](const Cell& cell) {
    return cell.rung == rung && cell.optimizer == optimizer && cell.net == net;
  });
  return at != cells.end() ? &*at : nullptr;
}

void name_rungs(const Config& config, Results& results) {
  for (size_t i = results.names.size(); i < results.rungs.size(); ++i) {
    const Rung& rung = results.rungs[i];
    const auto parameters = static_cast<double>(
        results.find(i, config.optimizers.front(), "rmsnorm")->trained.front().parameters);
    if (config.climbs_by_tokens()) {
      const double each = static_cast<double>(rung.train_tokens) / parameters;
      results.names.push_back({fmt::format("{} tokens, {:.3g} a parameter", rung.train_tokens, each),
                               fmt::format("{} 词元，每参数 {:.3g}", rung.train_tokens, each)});
      results.log2_compute.push_back(std::log2(each));
    } else {
      const auto tokens = static_cast<double>(rung.steps * config.batch_size * config.block_size);
      results.names.push_back({fmt::format("{} wide, {} steps", rung.width, rung.steps),
                               fmt::format("宽 {}，{} 步", rung.width, rung.steps)});
      // Two operations forward and four back for each parameter and token.
      results.log2_compute.push_back(std::log2(6 * parameters * tokens));
    }
  }
}

void publish(Run& run, const Config& config, const Results& results) {
  Json rungs = Json::array();
  for (size_t i = 0; i < results.rungs.size(); ++i) {
    rungs.push_back({{"name", {{"en", results.names[i].en}, {"zh", results.names[i].in_chinese()}}},
                     {"log2_compute", results.log2_compute[i]}});
    for (const std::string& optimizer : config.optimizers)
      for_each_pair(results, i, optimizer,
                    [&](const Cell& a, const Cell& b) { measure_pair(run, results, a, b); });
    measure_coupling(run, results, i);
  }
  run.summary()["rungs"] = rungs;
  for (const Cell& cell : results.cells) measure_cell(run, cell);
  measure_change(run, config, results);
  write_csv(run, results);
  plot_differences(run, config, results);
}

void publish_foretold(Run& run, const Config& config, const Results& results) {
  const size_t all = config.all_rungs().size(), top = all - 1;
  if (all < 4 || results.rungs.size() < top) return;
  const auto ladders = ladders_below(config, results, top);
  // The parameters of a net of another width are known without training it.
  const Rung rung = config.all_rungs()[top];
  const std::unique_ptr<duel::Task> task = make_task(config.duel(rung, config.optimizers.front()));
  const auto parameters = static_cast<double>(parameter_count(*task->net(contestant_of("rmsnorm"), Rng(0))));
  const double at = std::log2(
      config.climbs_by_tokens()
          ? static_cast<double>(rung.train_tokens) / parameters
          : 6 * parameters * static_cast<double>(rung.steps * config.batch_size * config.block_size));
  std::vector<claims::Ladder> below;
  for (const auto& [name, ladder] : ladders) below.push_back(ladder);
  const std::vector<claims::Foretold> foretold = claims::foretell(below, at, rung.seeds);
  Csv& csv = run.csv("foretold.csv", {"comparison", "foretold", "low", "high", "measured"});
  Table table({"comparison", "foretold", "from", "to", "measured"}, "lrrrr");
  const bool measured = results.rungs.size() == all;
  const auto whole = measured ? ladders_below(config, results, all) : ladders;
  std::vector<double> covered, widths;
  for (size_t i = 0; i < ladders.size(); ++i) {
    const auto& [value, interval] = foretold[i];
    const Spread& seeds = whole[i].second.rungs.back();
    const double mean = measured ? seeds.linear.mean : NAN;
    csv.row({ladders[i].first, value, interval.low, interval.high, mean});
    table.row({ladders[i].first, number_text(value), number_text(interval.low), number_text(interval.high),
               measured ? number_text(mean) : ""});
    if (!measured) continue;
    covered.push_back(interval.contains(mean) ? 1 : 0);
    const Range own = mean_interval(seeds, 0.025, false);
    widths.push_back((interval.high - interval.low) / (own.high - own.low));
  }
  run.say("\nThe highest rung as those below foretell it:\n{}\n", table.text());
  if (!measured) return;
  run.measured("foretold.covered", spread_of(covered).linear.mean);
  run.measured("foretold.width_over_seeds", spread_of(widths).median);
  run.say(
      "{:.0f} % of the intervals cover what was measured; their median width is {:.2g} times that of the seeds' own\n",
      100 * spread_of(covered).linear.mean, spread_of(widths).median);
}

}  // namespace isobar::ladder
