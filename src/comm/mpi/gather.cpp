/// A text may hold any bytes.
#include "convoy/comm/gather.h"

#include <cstddef>
#include <span>

#include "convoy/comm/packed.h"

namespace convoy::mpi {

namespace {

std::vector<std::byte> gather_packed(const Communicator& group, const std::string& mine) {
  Packer packer;
  packer.add(mine);
  return group.gather(packer.bytes(), 0);
}

std::vector<std::string> unpack(std::span<const std::byte> bytes) {
  std::vector<std::string> texts;
  for (Unpacker unpacker(bytes); !unpacker.is_empty();) texts.emplace_back(unpacker.text());
  return texts;
}

}  // namespace

std::vector<std::string> gather_texts(const Communicator& group, const std::string& mine) {
  return unpack(gather_packed(group, mine));
}

std::vector<std::string> share_texts(const Communicator& group, const std::string& mine) {
  return unpack(group.broadcast(gather_packed(group, mine), 0));
}

}  // namespace convoy::mpi
