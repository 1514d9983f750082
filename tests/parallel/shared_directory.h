/// A place on the disk for all ranks of a test.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel/mpi_main.h"
#include "unit/io/temporary_directory.h"

namespace convoy::test {

/// A directory that rank 0 makes, and removes once all ranks are done with it: all construct and destroy it together.
class SharedDirectory {
 public:
  SharedDirectory() {
    if (world().rank() == 0) own_.emplace();
    const std::string known = own_ ? own_->path() : "";
    const auto bytes = std::as_bytes(std::span(known));
    const std::vector<std::byte> path = world().broadcast(std::vector<std::byte>(bytes.begin(), bytes.end()), 0);
    path_.assign(reinterpret_cast<const char*>(path.data()), path.size());
  }
  ~SharedDirectory() { world().barrier(); }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::optional<TemporaryDirectory> own_;  ///< rank 0
  std::string path_;
};

}  // namespace convoy::test
