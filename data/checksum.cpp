#include "checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace isobar {
namespace {

std::string hex(XXH64_hash_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace

std::string checksum(std::string_view bytes) { return hex(XXH3_64bits(bytes.data(), bytes.size())); }

struct Checksum::State {
  XXH3_state_t* const hash = XXH3_createState();
  State() {
    if (hash == nullptr) throw std::bad_alloc();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(hash); }
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(state_->hash); }
Checksum::~Checksum() = default;

void Checksum::add(std::string_view bytes) { XXH3_64bits_update(state_->hash, bytes.data(), bytes.size()); }

std::string Checksum::text() const { return hex(XXH3_64bits_digest(state_->hash)); }

}  // namespace isobar
