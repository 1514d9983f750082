/// A directory on the disk for all ranks of a test.
#pragma once

#include <optional>
#include <string>

#include "parallel/mpi_main.h"
#include "unit/io/temporary_directory.h"

namespace convoy::test {

/// A directory that rank 0 makes, and removes once all ranks are done with it: all construct and destroy it together.
class SharedDirectory {
 public:
  SharedDirectory() {
    if (world().rank() == 0) own_.emplace();
    path_ = world().broadcast(own_ ? own_->path() : std::string(), 0);
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
