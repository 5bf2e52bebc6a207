#include "tape_log.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "../core/norm_of.h"
#include "inspect.h"

namespace isobar {
namespace {

std::string head_of(const Node& node) {
  return fmt::format("  {:>5}  {:<14} ", fmt::format("%{}", node.slot), node.name);
}

}  // namespace

TapeLog::TapeLog() : outer_(std::exchange(recording.log, this)) { watch_thread_end(); }

TapeLog::~TapeLog() {
  if (home_ == nullptr) return;
  TapeLog** link = &home_->log;
  while (*link != nullptr && *link != this) link = &(*link)->outer_;
  if (*link != nullptr) *link = outer_;
}

void TapeLog::on_record(uint64_t tape, const Node& node, const Tensor& y,
                        std::span<const Tensor* const> inputs) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    texts.push_back(input_text(node.inputs[i]));
    if (inputs[i]->defined() && inputs[i]->trainable())
      uses_[inputs[i]->id()].push_back(
          {fmt::format("{} (%{}){}", node.name, node.slot, in_scope(node, " ")), tape, node.slot});
  }
  forward_ += fmt::format("{}({}) -> {}, norm {:.4g}{}\n", head_of(node), fmt::join(texts, ", "), y.shape(),
                          norm_of(y), in_scope(node, ", "));
}

void TapeLog::on_backward(uint64_t, const Node& node, const Tensor& dy) {
  dy_ = fmt::format("{}dy {}, norm {:.4g}", head_of(node), dy.shape(), norm_of(dy));
}

void TapeLog::on_gradients(uint64_t tape, const Node& node, std::span<const Tensor> dx) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < dx.size(); ++i) {
    if (node.inputs[i].slot < 0) continue;
    texts.push_back(dx[i].defined() ? fmt::format("%{} norm {:.4g}", node.inputs[i].slot, norm_of(dx[i]))
                                    : fmt::format("%{} none", node.inputs[i].slot));
  }
  backward_ += fmt::format("{} -> {}{}\n", dy_, fmt::join(texts, ", "), in_scope(node, ", "));
  for (auto& [id, uses] : uses_)
    for (Use& use : uses) use.walked |= use.tape == tape && use.slot == node.slot;
}

std::string TapeLog::text() const { return "forward\n" + forward_ + "backward\n" + backward_; }

std::string TapeLog::missing_gradients(const std::vector<std::pair<std::string, Tensor>>& parameters) const {
  std::string text;
  for (const auto& [name, tensor] : parameters) {
    const bool zero = tensor.grad().defined() && norm_of(tensor.grad()) == 0;
    if (tensor.grad().defined() && !zero) continue;
    const auto found = uses_.find(tensor.id());
    std::string reason;
    if (!tensor.trainable()) {
      reason = "it is frozen; set_trainable() makes it a parameter";
    } else if (found == uses_.end()) {
      reason =
          "no recorded op used it: does forward leave it out, or read it through detach(), data() or "
          "to_vector()?";
    } else {
      const std::vector<Use>& uses = found->second;
      const auto walked = std::find_if(uses.begin(), uses.end(), [](const Use& use) { return use.walked; });
      const std::string& op = (walked != uses.end() ? *walked : uses.front()).op;
      if (walked == uses.end())
        reason = fmt::format(
            "{} used it, but the loss does not depend on the result: is that dropped or detached?", op);
      else if (zero)
        reason = fmt::format(
            "its gradient is zero: {} gave only zeros (a factor of zero, or units that are off)", op);
      else
        reason = fmt::format("the backward of {} returned none for it", op);
    }
    text += fmt::format("{} {}: no gradient: {}\n", name, tensor.shape(), reason);
  }
  return text;
}

}  // namespace isobar
