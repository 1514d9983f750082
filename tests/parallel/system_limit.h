/// A system that refuses this process more of something.
#pragma once

#include <csignal>

#include <sys/resource.h>
#include <unistd.h>

namespace convoy::test {

/// For as long as it lives; what the process has it keeps.
class SystemLimit {
 public:
  /// It can open no more files.
  static SystemLimit no_more_files() {
    const int next = dup(STDIN_FILENO);  // the number that a new file would have
    close(next);
    return {RLIMIT_NOFILE, static_cast<rlim_t>(next)};
  }
  /// No file can grow, those in memory included.
  static SystemLimit no_growing_files() {
    std::signal(SIGXFSZ, SIG_IGN);  // an error of the call instead
    return {RLIMIT_FSIZE, 0};
  }
  ~SystemLimit() { setrlimit(resource_, &before_); }
  SystemLimit(const SystemLimit&) = delete;
  SystemLimit& operator=(const SystemLimit&) = delete;

 private:
  SystemLimit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    getrlimit(resource, &before_);
    const rlimit limit = {.rlim_cur = value, .rlim_max = before_.rlim_max};
    setrlimit(resource, &limit);
  }

  __rlimit_resource resource_;
  rlimit before_ = {};
};

}  // namespace convoy::test
