// The checks of check_layer that compare two runs of a layer, or one run with differences. Each returns its result
// without a name.
#pragma once

#include <string>

#include "layer_trial.h"

namespace isobar {

inline LayerCheck passed(std::string text) { return {"", LayerCheck::passed, std::move(text)}; }
inline LayerCheck failed(std::string text) { return {"", LayerCheck::failed, std::move(text)}; }
inline LayerCheck skipped(std::string text) { return {"", LayerCheck::skipped, std::move(text)}; }

// What body() throws, or "".
std::string thrown(const std::function<void()>& body);

LayerCheck repeated(const LayerTrial& trial);
LayerCheck another_call(const LayerTrial& trial);
LayerCheck used_twice(const LayerTrial& trial);
LayerCheck save_and_load(const LayerTrial& trial);
LayerCheck recomputed(const LayerTrial& trial);
LayerCheck composed(const LayerTrial& trial);
LayerCheck large_batch(const LayerTrial& trial);
LayerCheck strided(const LayerTrial& trial);
LayerCheck thread_counts(const LayerTrial& trial);
LayerCheck narrow(const LayerTrial& trial);

}  // namespace isobar
