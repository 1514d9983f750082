/// A system that refuses: it lets this process open no more files.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace convoy::test {

/// For as long as it lives; what is open stays open.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    const int next = dup(STDIN_FILENO);  // the number that a new file would have
    close(next);
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none = {.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace convoy::test
