#include "checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <memory>
#include <new>

namespace isobar {
namespace {

std::string hex(XXH64_hash_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace

std::string checksum(std::string_view bytes) { return hex(XXH3_64bits(bytes.data(), bytes.size())); }

std::string checksum(const std::function<std::string_view()>& next) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  for (std::string_view bytes = next(); !bytes.empty(); bytes = next())
    XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
  return hex(XXH3_64bits_digest(state.get()));
}

}  // namespace isobar
