// Overwriting a tensor with values that an op may have computed.
#include "../../core/raw.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {

void assign(Tensor& target, const Tensor& source) {
  uint64_t mark = 0;  // of the thread that computed the source
  if (const Tape* const tape = Tape::active()) {
    tape->needs_gradient(source, "assign");  // refuses another thread's
  } else if (!recording.unmarked) {
    mark = foreign_mark("assign", source);
    if (mark == 0 && raw::slot(source).tape != 0) mark = thread_mark();
  }
  raw::assign(target, source);
  auto& result = raw::Access::of(target);
  if (!result.trainable && !result.slot.recorded()) result.slot.tape = mark;
}

}  // namespace isobar
