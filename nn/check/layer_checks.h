// The checks of check_layer that compare two runs of a layer, or one run with differences. Each returns its
// result without a name.
#pragma once

#include "layer_runner.h"

namespace isobar {

inline LayerCheck passed(std::string text) { return {"", LayerCheck::passed, std::move(text)}; }
inline LayerCheck failed(std::string text) { return {"", LayerCheck::failed, std::move(text)}; }
inline LayerCheck skipped(std::string text) { return {"", LayerCheck::skipped, std::move(text)}; }

// What body() throws, or "".
std::string thrown(const std::function<void()>& body);

LayerCheck repeated(const LayerRunner& runner);
LayerCheck another_call(const LayerRunner& runner);
LayerCheck used_twice(const LayerRunner& runner);
LayerCheck save_and_load(const LayerRunner& runner);
LayerCheck recomputed(const LayerRunner& runner);
LayerCheck composed(const LayerRunner& runner);
LayerCheck large_batch(const LayerRunner& runner);
LayerCheck strided(const LayerRunner& runner);
LayerCheck thread_counts(const LayerRunner& runner);
LayerCheck narrow(const LayerRunner& runner);

// gradient_check.cpp: the result for one gradient with its diagnosis; `mode` is appended to its name.
LayerCheck gradient_check(const Jacobian& j, const Diagnosis& found, double tolerance,
                          const std::string& mode);
// If a gradient is wrong and the report has no diagnosis yet, puts it there: the names of the wrong gradients
// and of the right ones, what that means, the plainest cause, and the worst entries.
void choose_diagnosis(LayerReport& report, const std::vector<Jacobian>& all, double tolerance,
                      const std::string& mode);

}  // namespace isobar
