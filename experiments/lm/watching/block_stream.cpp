#include "block_stream.h"

#include <limits>

namespace isobar {

Stream stream_of(const Probe& probe) {
  Stream stream;
  for (const ModuleSignal& m : probe.signals()) {
    if (m.type != "TransformerBlock" && m.type != "NGPTBlock") continue;
    stream.std.push_back(m.output.std);
    stream.rms.push_back(m.output.rms);
    stream.gradient_norm.push_back(m.gradient_norm);
  }
  return stream;
}

Stream unknown_stream(int64_t layers) {
  const std::vector<double> unknown(static_cast<size_t>(layers), std::numeric_limits<double>::quiet_NaN());
  return {unknown, unknown, unknown};
}

}  // namespace isobar
