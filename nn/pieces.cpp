#include "pieces.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "../core/parallel.h"
#include "../core/ranks/sum_over_ranks.h"
#include "../core/serial_loops.h"
#include "model.h"
#include "observe.h"

namespace isobar {
namespace {

std::atomic<uint64_t> last_step{0};

// Whether fields() lists a buffer, such as running statistics; those of parts count for a whole model.
bool has_buffer(Module& model, bool whole) {
  bool found = false;
  visit_tensors(model, [&](const std::string& name, Tensor&, bool is_buffer) {
    found |= is_buffer && (whole || name.find('.') == std::string::npos);
  });
  return found;
}

// Whether pieces may, and should, be processed in parallel. Each piece changes running statistics for the
// next one; observers, a listener and an outer tape belong to this thread.
bool goes_side_by_side(Module& model, const std::vector<NamedModule>& modules,
                       const std::vector<Tensor>& parameters) {
  int64_t size = 0;
  for (const Tensor& parameter : parameters) size += parameter.numel();
  return size < large_model && recording.tape == nullptr && recording.listener == nullptr &&
         !has_buffer(model, true) &&
         std::none_of(modules.begin(), modules.end(),
                      [](const NamedModule& part) { return part.module->observed(); });
}

// Returns how many of the remaining pieces are processed next: one on each thread, or a single one on all
// threads if half of the threads would have none.
int64_t next_round(int64_t left) {
  const int64_t round = std::min<int64_t>(left, threads());
  return 2 * round > threads() ? round : 1;
}

std::vector<Tensor> taken_gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    gradients.push_back(parameter.grad());
    parameter.clear_grad();
  }
  return gradients;
}

std::unordered_map<const void*, size_t> places_of(const std::vector<Tensor>& parameters) {
  std::unordered_map<const void*, size_t> places;
  for (size_t i = 0; i < parameters.size(); ++i) places.emplace(parameters[i].id(), i);
  return places;
}

// The results of a piece besides its gradients.
struct Result {
  double loss = 0;
  TargetCount targets = {};

  // Relative to other pieces with as many targets. A loss that counts no targets has 1.
  double weight() const {
    return targets.given == targets.counted
               ? 1
               : static_cast<double>(targets.counted) / static_cast<double>(targets.given);
  }
};

void check_any_counted(bool any) {
  check(any,
        "backward_in_pieces: every target of the batch is ignored, so that it has no loss; leave it out");
}

// A step of several pieces.
struct Step {
  const std::vector<Tensor> parameters;
  const int64_t pieces;
  const std::function<Tensor(int64_t)>& loss_of;
  const TapeOptions& options;
  const uint64_t number = ++last_step;  // the model's modules have it too: others are outsiders
  std::unordered_map<const void*, size_t> places = places_of(parameters);
  std::vector<Result> results = std::vector<Result>(static_cast<size_t>(pieces));
  std::vector<DrawnKeys> draws = std::vector<DrawnKeys>(static_cast<size_t>(pieces));

  // Runs the forward and backward pass of one piece. Returns the gradients of its share of the mean loss.
  std::vector<Tensor> run(int64_t piece) try {
    const RecordingGuard guard;
    recording.pieces = number;
    Result& result = results[static_cast<size_t>(piece)];
    recording.counts_targets = true;
    TapeOptions own = options;
    if (own.rng && pieces > 1) own.rng = own.rng->split(static_cast<uint64_t>(piece));
    Tape tape(own);
    const Tensor loss = loss_of(piece);
    check(loss.numel() == 1, "backward_in_pieces: a piece's loss must be a single number, got {}",
          loss.shape());
    result.loss = loss.item();
    result.targets = tape.targets_of(loss);
    const double weight = result.weight();
    if (weight == 0) return std::vector<Tensor>(parameters.size());
    const Tensor share = full(loss.shape(), weight / static_cast<double>(pieces), loss.dtype());
    return gradients(tape, loss, share, piece);
  } catch (const NotFinite& error) {
    throw NotFinite(place(piece) + error.what());
  } catch (const Error& error) {
    throw Error(place(piece) + error.what());
  }

  // "piece 3 of 8: "
  std::string place(int64_t piece) const { return fmt::format("piece {} of {}: ", piece + 1, pieces); }

  // What the sums of the gradients are to be multiplied by: one over the mean weight of the pieces.
  double factor() const {
    double weights = 0;
    for (const Result& result : results) weights += result.weight();
    check_any_counted(weights > 0);
    const auto whole = [](const Result& result) { return result.weight() == 1; };
    if (std::ranges::all_of(results, whole)) return 1;
    for (const Result& result : results)
      check(
          result.targets.losses <= 1,
          "backward_in_pieces: some targets are ignored, and then a piece must have one cross-entropy, got {}, which no "
          "one weight fits; call backward_in_pieces for each",
          result.targets.losses);
    for (const Result& result : results)
      check(
          result.targets.given == results[0].targets.given,
          "backward_in_pieces: some targets are ignored, and then pieces must have equally many targets, ignored "
          "ones included; got {} and {}",
          results[0].targets.given, result.targets.given);
    return static_cast<double>(pieces) / weights;
  }

  // The losses, by their weights, whose mean is 1.
  std::vector<double> losses() const {
    const double scale = factor();
    std::vector<double> all;
    for (const Result& result : results) all.push_back(result.loss * result.weight() * scale);
    return all;
  }

  // Undefined where the loss does not depend on the parameter.
  std::vector<Tensor> gradients(Tape& tape, const Tensor& loss, const Tensor& dloss, int64_t piece) {
    std::vector<Tensor> all(parameters.size());
    std::vector<LeafGradient> found = tape.leaf_gradients(loss, dloss);
    draws[static_cast<size_t>(piece)] = tape.take_draws();
    for (LeafGradient& of : found) {
      const auto place = places.find(of.leaf.id());
      check(
          place != places.end(),
          "backward_in_pieces: the loss depends on a trainable tensor {} that is no parameter of the model; list it in "
          "fields()",
          of.leaf.shape());
      all[place->second] = std::move(of.gradient);
    }
    return all;
  }

  // The pieces from `first` on, as many as `gradients` has room for, on a thread each.
  void run_round(int64_t first, std::vector<std::vector<Tensor>>& gradients) {
    if (gradients.size() == 1) {
      gradients[0] = run(first);
      return;
    }
    thread_mark();
    const Recording caller = recording;
    parallel_tasks(static_cast<int64_t>(gradients.size()), [&](int64_t i) {
      const AsCaller of_caller(caller);
      gradients[static_cast<size_t>(i)] = run(first + i);
    });
  }

  void run_share(const IndexRange& share, bool side_by_side, TreeSum& tree) {
    for (int64_t done = share.begin; done < share.end;) {
      std::vector<std::vector<Tensor>> gradients(
          static_cast<size_t>(side_by_side ? next_round(share.end - done) : 1));
      run_round(done, gradients);
      done += static_cast<int64_t>(gradients.size());
      for (std::vector<Tensor>& piece : gradients) tree.add(std::move(piece));
    }
    for (DrawnKeys& of_piece : draws) check_draws(std::move(of_piece), parameters);
  }
};

void multiply(Tensor& gradient, double factor) {
  const NoTape pause;
  if (factor != 1 && gradient.defined()) gradient = gradient * factor;
}

// The outcome of the pieces of a rank, as a text for the others: the results and which gradients there are,
// or the error of the first piece that failed.
struct Report {
  enum Kind : char { done = '0', not_finite = '1', error = '2' };
  Kind kind = done;
  std::string text;  // bytes of the results and a presence(), or a message
};

Report report_of(Step& step, const IndexRange& share, bool side_by_side, TreeSum& tree,
                 std::vector<TreeSum::Block>& blocks) try {
  step.run_share(share, side_by_side, tree);
  blocks = tree.take_blocks();
  const auto results = std::as_bytes(std::span(step.results).subspan(share.begin, share.size()));
  return {Report::done,
          std::string(reinterpret_cast<const char*>(results.data()), results.size()) + presence(blocks)};
} catch (const NotFinite& failure) {
  return {Report::not_finite, failure.what()};
} catch (const Error& failure) {
  return {Report::error, failure.what()};
}

// Every rank's share, and what they add up to.
void run_over_ranks(Step& step, bool side_by_side, Ranks& ranks) {
  const IndexRange mine = ranks.share(step.pieces);
  TreeSum tree(mine.begin);
  std::vector<TreeSum::Block> blocks;
  const Report report = report_of(step, mine, side_by_side, tree, blocks);
  std::vector<std::string> reports = ranks.gather(static_cast<char>(report.kind) + report.text);
  for (int rank = ranks.size() - 1; rank >= 0; --rank) {  // in order of pieces
    std::string& text = reports[static_cast<size_t>(rank)];
    if (text[0] == Report::not_finite) throw NotFinite(text.substr(1));
    check(text[0] == Report::done, "{}", text.substr(1));
    const IndexRange share = ranks.share(step.pieces, rank);
    const size_t bytes = static_cast<size_t>(share.size()) * sizeof(Result);
    if (bytes > 0) std::memcpy(&step.results[static_cast<size_t>(share.begin)], &text[1], bytes);
    text.erase(0, 1 + bytes);
  }
  const double factor = step.factor();  // throws before any gradient has changed
  std::vector<Tensor> sums = sum_over_ranks(ranks, std::move(blocks), reports, step.pieces, step.parameters);
  for (size_t i = 0; i < sums.size(); ++i) {
    multiply(sums[i], factor);
    if (sums[i].defined()) step.parameters[i].set_grad(std::move(sums[i]));
  }
}

void check_for_ranks(Module& model, const std::vector<Tensor>& parameters) {
  check(
      !has_buffer(model, true),
      "backward_in_pieces: the model has buffers, such as a BatchNorm's running statistics, which each piece changes for "
      "the next; train it in one process");
  for (const Tensor& parameter : parameters)
    check(
        !parameter.grad().defined(),
        "backward_in_pieces: on several ranks gradients do not add up over calls; take an optimizer's step first");
}

double backward_of_one(const std::function<Tensor(int64_t)>& loss_of, const TapeOptions& options) {
  const RecordingGuard guard;
  recording.counts_targets = true;
  Tape tape(options);
  const Tensor loss = loss_of(0);
  const TargetCount targets = loss.defined() ? tape.targets_of(loss) : TargetCount();
  check_any_counted(targets.counted > 0 || targets.given == 0);
  tape.backward(loss);
  return loss.item();
}

}  // namespace

std::vector<double> backward_in_pieces(Module& model, int64_t pieces,
                                       const std::function<Tensor(int64_t)>& loss_of,
                                       const TapeOptions& options, Ranks& ranks) {
  check(pieces >= 1, "backward_in_pieces: wanted at least one piece, got {}", pieces);
  check(
      !options.higher_order,
      "backward_in_pieces: a piece's tape ends with the piece; take second derivatives on a tape of your own");
  const bool alone = ranks.size() == 1;
  if (alone && pieces == 1) return {backward_of_one(loss_of, options)};
  assign_missing_paths(model, model.path(), Module::Naming::lasting);
  Step step{.parameters = parameters(model), .pieces = pieces, .loss_of = loss_of, .options = options};
  const std::vector<NamedModule> modules = named_modules(model);
  for (const NamedModule& part : modules) part.module->set_pieces(step.number);
  const bool side_by_side = threads() > 1 && goes_side_by_side(model, modules, step.parameters);
  if (!alone) {
    check_for_ranks(model, step.parameters);
    run_over_ranks(step, side_by_side, ranks);
    return step.losses();
  }
  TreeSum tree;
  step.run_share({0, pieces}, side_by_side, tree);
  const double factor = step.factor();
  std::vector<Tensor> own = tree.take();
  for (Tensor& gradient : own) multiply(gradient, factor);
  std::vector<GradientAge> ages;
  for (size_t i = 0; i < own.size(); ++i) {
    const Tensor& parameter = step.parameters[i];
    ages.push_back(own[i].defined() ? age_of_sum(parameter) : raw::gradient_age(parameter));
  }
  TreeSum with_earlier;
  with_earlier.add(taken_gradients(step.parameters));
  with_earlier.add(std::move(own));
  const std::vector<Tensor> sums = with_earlier.take();
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!sums[i].defined()) continue;
    step.parameters[i].set_grad(sums[i]);
    raw::gradient_age(step.parameters[i]) = ages[i];
  }
  return step.losses();
}

void check_outsider(Module& module) {
  const bool tracks = module.training() && has_buffer(module, false);
  check(
      !tracks && !module.observed(),
      "backward_in_pieces: {} {}, and is no part of the model: pieces would reach it in any order; list it in the model's "
      "fields(){}",
      module.type_name(), tracks ? "has a buffer, such as running statistics" : "is observed",
      tracks ? ", or call eval() of it" : "");
}

}  // namespace isobar
