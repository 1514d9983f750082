/// Names and constants are the paper's.
#include "watch/siphash.h"

#include <bit>
#include <cstring>

namespace convoy {

namespace {

static_assert(std::endian::native == std::endian::little);

struct State {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }

  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash(const SipKey& key, std::span<const std::byte> message) {
  const auto [k0, k1] = key;
  State state{.v0 = k0 ^ 0x736f6d6570736575,
              .v1 = k1 ^ 0x646f72616e646f6d,
              .v2 = k0 ^ 0x6c7967656e657261,
              .v3 = k1 ^ 0x7465646279746573};
  std::uint64_t last = static_cast<std::uint64_t>(message.size()) << 56;
  for (; message.size() >= sizeof last; message = message.subspan(sizeof last)) {
    std::uint64_t word = 0;
    std::memcpy(&word, message.data(), sizeof word);
    state.take(word);
  }
  std::uint64_t rest = 0;
  if (!message.empty()) std::memcpy(&rest, message.data(), message.size());  // an empty one may have no address
  state.take(last | rest);
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace convoy
