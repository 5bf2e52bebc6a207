#include "phase.h"

namespace isobar {

constinit thread_local Phase::Current Phase::current;

}  // namespace isobar
