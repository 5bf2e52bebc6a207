#include "muon.h"

#include "../core/kernels/newton_schulz.h"
#include "../core/kernels/scratch.h"

namespace isobar {
namespace {

// Bytes of the matrix to be orthogonalized and of the workspace, for numbers of `size` bytes, in whole cache
// lines.
int64_t room(const Shape& shape, size_t size) {
  const int64_t numbers = shape.numel() + kernels::newton_schulz_workspace(shape[0], shape[1]);
  return (numbers * static_cast<int64_t>(size) + 63) / 64 * 64;
}

}  // namespace

Muon::Muon(const std::vector<Tensor>& parameters, const MuonOptions& options)
    : Muon(std::vector<ParameterGroup>{{.parameters = parameters}}, options) {}

Muon::Muon(const std::vector<ParameterGroup>& groups, const MuonOptions& options)
    : Optimizer({.op = "muon", .writer = "Muon's step", .states = {"momentum"}}, groups, options.lr,
                options.weight_decay),
      options_(options) {
  check(options.momentum >= 0 && options.momentum < 1, "muon: momentum must be in [0, 1), got {}",
        options.momentum);
  check(options.rounds >= 1, "muon: wanted at least 1 round of Newton-Schulz, got {}", options.rounds);
  size_t i = 0;
  for (const ParameterGroup& group : groups)
    for (const Tensor& tensor : group.parameters)
      check(tensor.ndim() == 2, "muon: parameter {} {} is not a matrix; give vectors and the like to AdamW",
            i++, tensor.shape());
}

// Updates the momentum; update_all() moves the weights.
void Muon::update(const Update& u, int64_t begin, int64_t end) const {
  u.part(begin, end, [&]<class T>(const Slice<T>& run) {
    const T momentum = static_cast<T>(options_.momentum), factor = static_cast<T>(u.factor);
    T* const m = run.state[0];
    for (int64_t i = 0; i < run.n; ++i) m[i] = momentum * m[i] + factor * run.dw[i];
  });
}

// Updates the momenta of all matrices, then moves each matrix in a task of its own. All workspaces are
// allocated here: the number of tasks that run at once, and so their memory, would change from step to step.
void Muon::update_all(const std::vector<Update>& all) const {
  Optimizer::update_all(all);
  const kernels::Scratch<int64_t> first(static_cast<int64_t>(all.size()) + 1, 0);
  for (size_t i = 0; i < all.size(); ++i)
    all[i].whole([&]<class T>(const Slice<T>&) { first[i + 1] = first[i] + room(all[i].shape, sizeof(T)); });
  const kernels::Scratch<std::byte> rooms(first[all.size()]);
  parallel_each(static_cast<int64_t>(all.size()), 1, [&](int64_t i) {
    all[i].whole([&]<class T>(const Slice<T>& run) {
      orthogonal_step(all[i], run, reinterpret_cast<T*>(&rooms[first[i]]));
    });
  });
}

// w ← (1 − lr · weight_decay) w − lr · √max(1, rows/cols) · o for one matrix. x is memory for the matrix to
// be orthogonalized and, after it, for the workspace.
template <class T>
void Muon::orthogonal_step(const Update& u, const Slice<T>& run, T* x) const {
  const int64_t rows = u.shape[0], cols = u.shape[1];
  // The matrix to be orthogonalized.
  const T ahead = static_cast<T>(options_.nesterov ? options_.momentum : 1);
  const T factor = static_cast<T>(options_.nesterov ? u.factor : 0);
  for (int64_t j = 0; j < run.n; ++j) x[j] = factor * run.dw[j] + ahead * run.state[0][j];
  const T* const o = kernels::newton_schulz(rows, cols, options_.rounds, x, x + run.n);
  // The step.
  const double tall = std::max(1.0, static_cast<double>(rows) / static_cast<double>(cols));
  const T rate = static_cast<T>(u.lr * std::sqrt(tall));
  const T shrink = static_cast<T>(1 - u.lr * u.weight_decay);
  for (int64_t j = 0; j < run.n; ++j) run.w[j] = shrink * run.w[j] - rate * o[j];
}

}  // namespace isobar
