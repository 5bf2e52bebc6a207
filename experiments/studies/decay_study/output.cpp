#include "output.h"

#include <numbers>

#include "../../nets/decay/bits.h"
#include "../../nets/decay/plots.h"
#include "../../run/lists.h"
#include "../../run/table.h"
#include "../../run/text_chart.h"

namespace isobar::decay {
namespace {

constexpr size_t most_rows = 24;  // of a table on the terminal

// The two nets in three that theory places around its median; null where it knows no spread.
Json band_or_null(const Prediction& theory) {
  if (std::isnan(theory.log_sd)) return Json();
  return {theory.median * std::exp(-theory.log_sd), theory.median * std::exp(theory.log_sd)};
}

using Layers = std::vector<LayerSignal>;

// One value per seed.
template <class Value>
Spread over_seeds(const Result& result, const Value& value) {
  return spread_over(result.runs, [&](const Signals& signals) { return value(signals.layers); });
}

// What theory knows of the layers, as a run would show it; the rest is NaN.
Layers expected_layers(const Result& result) {
  constexpr double unknown = Run::no_theory;
  Layers layers;
  for (const LayerTheory& theory : result.theory) {
    LayerSignal& layer = layers.emplace_back();
    for (const Quantity& quantity : quantities) layer.*quantity.value = unknown;
    layer.output_std = theory.output_std.median;
    layer.weight_gradient_norm = theory.weight_gradient_norm.median;
    layer.output_along_one = theory.along_one;
  }
  return layers;
}

double finite_or_none(double theory) { return std::isfinite(theory) ? theory : Run::no_theory; }

// std of one layer over that of the layer below.
double std_ratio(const Layers& layers, size_t layer) {
  return layers[layer].output_std / layers[layer - 1].output_std;
}

// Of the squared gradient at the outputs, per layer going down: the geometric mean of the middle half.
double squared_growth(const Layers& layers) {
  const size_t top = layers.size() - 1, low = top / 4, high = top - top / 4;
  return std::pow(layers[low].output_gradient_norm / layers[high].output_gradient_norm,
                  2 / static_cast<double>(high - low));
}

// The same in theory, of relu(BatchNorm(W x)) with B rows, wide and far from both ends (Yang et al. 2019 find
// its limit π/(π − 1) for many rows). A feature's B values y are a random direction orthogonal to (1, …, 1),
// times √B, so two rows' correlation is c = −1/(B − 1); so is that of two rows of a gradient that came down
// through a BatchNorm. With κ as in theory.h, E relu(y_a) relu(y_b) = κ(c)/2, E relu'(y_a) relu'(y_b) =
// κ'(c)/2:
//   up    W relu(y) has B − 1 free values of variance s = v (1 − κ)/2, and 1/σ² of them the mean B/(B − 3)/s;
//   down  the ReLU leaves 1/2 of the squared gradient; of that BatchNorm's projections take (1 − κ')/B along
//         (1, …, 1) and (1 − κ)/B along y; it divides by σ², and Wᵀ multiplies by v.
double batch_norm_growth(int64_t batch) {
  const auto rows = static_cast<double>(batch);
  if (rows <= 3) return Run::no_theory;  // 1/σ² has no mean
  const double c = -1 / (rows - 1), theta = std::acos(c), slope = 1 - theta * std::numbers::inv_pi;
  const double kappa = std::sin(theta) * std::numbers::inv_pi + slope * c;
  return (rows - 2 + kappa + slope) / ((1 - kappa) * (rows - 3));
}

double growth_theory(const Config& config) {
  if (config.topology != "plain" || config.order != "norm_relu" || config.norm != "batchnorm" ||
      config.activation != "relu")
    return Run::no_theory;
  return batch_norm_growth(config.batch);
}

// The least and the greatest mean among the layers of each seed's net, and how far they lie apart.
void measured_range(Run& run, const std::string& key, const Result& result, double LayerSignal::*mean) {
  const auto lowest = [=](const Layers& layers) { return std::ranges::min(layers, {}, mean).*mean; };
  const auto highest = [=](const Layers& layers) { return std::ranges::max(layers, {}, mean).*mean; };
  run.measured(key + ".lowest", over_seeds(result, lowest));
  run.measured(key + ".highest", over_seeds(result, highest));
  run.measured(key + ".range",
               over_seeds(result, [&](const Layers& layers) { return highest(layers) - lowest(layers); }));
}

Json layer_json(const Result& result, size_t layer) {
  Json json = {{"layer", layer + 1}};
  for (const auto& [group, part, value] : quantities) {
    const bool absent = value == &LayerSignal::norm_std && result.config.norm == "none";
    Json& place = *part ? json[group][part] : json[group];
    place = absent ? Json() : to_json(layer_spread(result.runs, layer, value));
  }
  const auto& [output_std, gradient_norm, along_one] = result.theory[layer];
  json["theory"] = {{"output_std", number_or_null(output_std.median)},
                    {"output_std_band", band_or_null(output_std)},
                    {"weight_grad_norm", number_or_null(gradient_norm.median)},
                    {"weight_grad_norm_band", band_or_null(gradient_norm)},
                    {"along_one", number_or_null(along_one)}};
  return json;
}

void add_row(Csv& csv, const Result& result, size_t layer) {
  std::vector<Csv::Cell> cells = {result.config.net_name(), static_cast<int64_t>(layer + 1)};
  for (const Quantity& quantity : quantities) {
    const Spread spread = layer_spread(result.runs, layer, quantity.value);
    cells.insert(cells.end(), {spread.median, spread.min, spread.max, spread.nonfinite});
  }
  const LayerTheory& theory = result.theory[layer];
  for (const Prediction& prediction : {theory.output_std, theory.weight_gradient_norm})
    cells.insert(cells.end(), {prediction.median, prediction.log_sd});
  csv.row(cells);
}

void measured_layer(Run& run, const std::string& prefix, const Result& result, size_t layer) {
  const Layers expected = expected_layers(result);
  const auto measured = [&](const char* name, const auto& of) {
    run.measured(fmt::format("{}layer{}.{}", prefix, layer + 1, name), over_seeds(result, of), of(expected));
  };
  const auto value = [=](double LayerSignal::*quantity) {
    return [=](const Layers& layers) { return layers[layer].*quantity; };
  };
  const auto mean_over_std = [=](double LayerSignal::*mean, double LayerSignal::*std) {
    return [=](const Layers& layers) { return std::abs(layers[layer].*mean) / layers[layer].*std; };
  };
  measured("std", value(&LayerSignal::output_std));
  measured("weight_grad_norm", value(&LayerSignal::weight_gradient_norm));
  if (result.config.norm != "none") measured("std_norm", value(&LayerSignal::norm_std));
  measured("along_one", value(&LayerSignal::output_along_one));
  measured("linear_along_one", value(&LayerSignal::linear_along_one));
  measured("output_mean_over_std", mean_over_std(&LayerSignal::output_mean, &LayerSignal::output_std));
  measured("linear_mean_over_std", mean_over_std(&LayerSignal::linear_mean, &LayerSignal::linear_std));
  if (layer == 0) return;
  const auto ratio = [=](const Layers& layers) { return std_ratio(layers, layer); };
  run.measured(fmt::format("{}layer{}.ratio", prefix, layer + 1), over_seeds(result, ratio),
               finite_or_none(ratio(expected)));
}

}  // namespace

Csv& open_layers_csv(Run& run) {
  std::vector<std::string> columns = {"net", "layer"};
  for (const Quantity& quantity : quantities)
    for (const char* part : {"median", "min", "max", "nonfinite"})
      columns.push_back(fmt::format("{}_{}", quantity.name(), part));
  columns.insert(columns.end(), {"theory_std_output", "theory_std_output_log_sd", "theory_grad_norm_weight",
                                 "theory_grad_norm_weight_log_sd"});
  return run.csv("layers.csv", std::move(columns));
}

Json publish_layer(Run& run, Csv& csv, const std::string& prefix, const Result& result, size_t layer) {
  add_row(csv, result, layer);
  measured_layer(run, prefix, result, layer);
  return layer_json(result, layer);
}

void record_series(Run& run, const std::string& prefix, const Result& result) {
  for (const Quantity& quantity : quantities)
    for (const Signals& signals : result.runs)
      run.record(prefix + quantity.name(), values_of(signals.layers, quantity.value));
}

void plot_layers(Run& run, const Result& result, const PrintedColumns& printed) {
  std::vector<Spread> stds, gradients;
  for (size_t layer = 0; layer < result.theory.size(); ++layer) {
    stds.push_back(layer_spread(result.runs, layer, &LayerSignal::output_std));
    gradients.push_back(layer_spread(result.runs, layer, &LayerSignal::weight_gradient_norm));
  }
  run.plot(std_plot(result.config, stds, result.theory, printed.std));
  run.plot(gradient_plot(result.config, gradients, result.theory, printed.weight_gradient_norm));
}

std::string bits_of(const Result& result) {
  Bits bits;
  for (const Signals& signals : result.runs)
    for (const LayerSignal& layer : signals.layers)
      bits.add(layer.output_std), bits.add(layer.weight_gradient_norm);
  return bits.text();
}

void print_layers(Run& run, const Result& result) {
  const size_t depth = result.theory.size();
  Table table({"layer", "std after W1", "std of output", "theory", "std across the batch", "grad norm of W1",
               "theory"},
              "rrrrrrr");
  for (const size_t layer : evenly_chosen(depth, most_rows)) {
    const auto spread = [&](double LayerSignal::*quantity) {
      return layer_spread(result.runs, layer, quantity);
    };
    table.row({std::to_string(layer + 1), number_text(spread(&LayerSignal::linear_std).median),
               spread_text(spread(&LayerSignal::output_std)),
               number_or_dash(result.theory[layer].output_std.median),
               number_text(spread(&LayerSignal::across_batch_std).median),
               spread_text(spread(&LayerSignal::weight_gradient_norm)),
               number_or_dash(result.theory[layer].weight_gradient_norm.median)});
  }
  run.say("{}, width {}, batch {}, {}: median [min, max] over {} seeds\n\n{}\n", result.config.net_name(),
          result.config.width, result.config.batch, result.config.dtype, result.runs.size(), table.text());
  if (const Spread first = layer_spread(result.runs, 0, &LayerSignal::weight_gradient_norm);
      first.max > 1000 * first.min)
    run.say(
        "The gradient norm of layer 1 goes from {} to {}: no net has to be near the median. A width far above "
        "the depth narrows this.\n\n",
        number_text(first.min), number_text(first.max));

  std::vector<ChartRow> stds, gradients;
  for (size_t layer = 0; layer < depth; ++layer) {
    const std::string label = std::to_string(layer + 1);
    const LayerTheory& theory = result.theory[layer];
    stds.push_back(
        {label, layer_spread(result.runs, layer, &LayerSignal::output_std).median, theory.output_std.median});
    gradients.push_back({label, layer_spread(result.runs, layer, &LayerSignal::weight_gradient_norm).median,
                         theory.weight_gradient_norm.median});
  }
  run.say_text(log_chart("std of each layer's output", stds) + "\n");
  run.say_text(log_chart("gradient norm of each layer's weight", gradients));
}

std::vector<ComparedCell> compare(const Result& result, const Reference& reference) {
  std::vector<ComparedCell> cells;
  const auto add = [&](const char* quantity, const std::vector<ReferenceCell>& references,
                       double LayerSignal::*ours, Prediction LayerTheory::*predicted) {
    for (const ReferenceCell& cell : references) {
      const auto layer = static_cast<size_t>(cell.layer - 1);
      const std::vector<double> values = layer_values(result.runs, layer, ours);
      const Prediction& theory = result.theory[layer].*predicted;
      cells.push_back({quantity, cell, compare(cell, reference.config.seeds, values), theory,
                       agreement_of(theory, values)});
    }
  };
  add("std.output", reference.output_std, &LayerSignal::output_std, &LayerTheory::output_std);
  add("grad_norm.weight", reference.weight_gradient_norm, &LayerSignal::weight_gradient_norm,
      &LayerTheory::weight_gradient_norm);
  return cells;
}

bool all_agree(const std::vector<ComparedCell>& cells) {
  return std::all_of(cells.begin(), cells.end(), [](const ComparedCell& cell) { return cell.ours.agrees; });
}

Json compared_json(const Config& config, const std::vector<ComparedCell>& cells) {
  Json json = {{"topology", config.topology}, {"init", config.init},   {"norm", config.norm},
               {"loss", config.loss},         {"depth", config.depth}, {"width", config.width},
               {"batch", config.batch},       {"dtype", config.dtype}, {"agrees", all_agree(cells)},
               {"cells", Json::array()}};
  for (const ComparedCell& cell : cells)
    json["cells"].push_back(
        {{"quantity", cell.quantity},
         {"layer", cell.reference.layer},
         {"reference",
          {{"median", cell.reference.median},
           {"log10_sd", cell.reference.log10_sd},
           {"zeros", cell.reference.zeros},
           {"nonfinite", cell.reference.nonfinite}}},
         {"measured",
          {{"median", cell.ours.median}, {"zeros", cell.ours.zeros}, {"nonfinite", cell.ours.nonfinite}}},
         {"theory", number_or_null(cell.theory.median)},
         {"theory_log_sd", number_or_null(cell.theory.log_sd)},
         {"theory_z", number_or_null(cell.agreement.z)},
         {"log10_ratio", number_or_null(cell.ours.log10_ratio)},
         {"tolerance", number_or_null(cell.ours.tolerance)},
         {"agrees", cell.ours.agrees}});
  return json;
}

void print_comparison(Run& run, const std::vector<std::pair<Config, std::vector<ComparedCell>>>& nets) {
  Table table({"net", "std top", "reference", "theory", "grad 1", "reference", "theory", "grad top",
               "reference", "theory", "agrees"},
              "lrrrrrrrrrl");
  std::vector<ChartRow> chart;
  int64_t deepest = 0;
  for (const auto& [config, cells] : nets) deepest = std::max(deepest, config.depth);
  for (const auto& [config, cells] : nets) {
    std::vector<std::string> row = {config.net_name()};
    const auto add = [&](const ComparedCell& cell) {
      row.insert(row.end(), {number_text(cell.ours.median), number_text(cell.reference.median),
                             number_or_dash(cell.theory.median)});
    };
    // Each quantity's cells go from the first layer to the last.
    const size_t half = cells.size() / 2;
    add(cells[half - 1]);
    add(cells[half]);
    add(cells.back());
    row.push_back(all_agree(cells) ? "yes" : "NO");
    table.row(std::move(row));
    if (config.depth == deepest)
      chart.push_back({config.net_name(), cells[half].ours.median, cells[half].reference.median});
  }
  run.say("Medians over the seeds, beside PyTorch's and the closed forms:\n\n{}\n", table.text());
  run.say_text(log_chart(fmt::format("gradient norm of layer 1 of {}, PyTorch in place of theory", deepest),
                         chart, std::max<size_t>(chart.size(), 2)));
}

void measured_net(Run& run, const std::string& prefix, const Result& result) {
  const Layers expected = expected_layers(result);
  const auto measured = [&](const char* name, const auto& of) {
    run.measured(prefix + name, over_seeds(result, of), finite_or_none(of(expected)));
  };
  const auto last_over_first = [](double LayerSignal::*quantity) {
    return [=](const Layers& layers) { return layers.back().*quantity / layers.front().*quantity; };
  };
  const auto first_over_last = [=](double LayerSignal::*quantity) {
    return [=](const Layers& layers) { return 1 / last_over_first(quantity)(layers); };
  };
  measured("weight_grad_norm.last_over_first", last_over_first(&LayerSignal::weight_gradient_norm));
  measured("weight_grad_norm.first_over_last", first_over_last(&LayerSignal::weight_gradient_norm));
  measured("output_grad_norm.first_over_last", first_over_last(&LayerSignal::output_gradient_norm));
  measured("std.last_over_first", last_over_first(&LayerSignal::output_std));
  measured_range(run, prefix + "output_mean", result, &LayerSignal::output_mean);
  measured_range(run, prefix + "linear_mean", result, &LayerSignal::linear_mean);

  const size_t top = result.theory.size() - 1;
  if (top < 2) return;  // two ratios at least
  run.measured(prefix + "output_grad_norm.squared_growth", over_seeds(result, squared_growth),
               growth_theory(result.config));
  measured("ratio.last_over_second",
           [=](const Layers& layers) { return std_ratio(layers, top) / std_ratio(layers, 1); });
}

}  // namespace isobar::decay
