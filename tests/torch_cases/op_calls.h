// op_calls: ops by name, with their arguments as JSON. Each has the name of its function and arguments named
// as its parameters; torch_cases.py draws them.
#pragma once

#include <nlohmann/json.hpp>

#include "../../autograd/ops.h"

namespace isobar {

using Json = nlohmann::json;

// Throws Error for a name that is not there.
Tensor call_op(const std::string& name, const Json& arguments, const std::vector<Tensor>& inputs);

}  // namespace isobar
