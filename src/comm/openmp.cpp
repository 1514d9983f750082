/// GNU's OpenMP binds the first thread to one processor when it is loaded, before main. A later question which
/// processors this process may use is answered with that one alone, on each rank of a node with the same one.
#include "convoy/comm/openmp.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace convoy {

namespace {

constexpr std::array<std::string_view, 4> kBindingVariables = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                                               "KMP_AFFINITY"};
// Their entries of the environment, "NAME=VALUE". Plain data: no constructor has run when they are written.
const char* g_removed[kBindingVariables.size()] = {};

// The system calls it before the constructors of all libraries. So it may use nothing that they prepare.
__attribute__((no_sanitize("address", "thread", "undefined"))) void remove_binding(int, char**, char** environment) {
  char** kept = environment;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    bool is_binding = false;
    for (std::size_t i = 0; i < kBindingVariables.size(); ++i) {
      const std::string_view name = kBindingVariables[i];
      std::size_t same = 0;
      while (same < name.size() && (*entry)[same] == name[same]) ++same;
      if (same < name.size() || (*entry)[same] != '=') continue;
      g_removed[i] = *entry;
      is_binding = true;
    }
    if (!is_binding) *kept++ = *entry;
  }
  *kept = nullptr;
}

__attribute__((section(".preinit_array"), used)) void (*g_before_all_libraries)(int, char**, char**) = remove_binding;

bool means_none(std::string_view entry) {
  return entry.ends_with("=") || entry.ends_with("=false") || entry.ends_with("=FALSE");
}

}  // namespace

std::string openmp_binding() {
  std::string text;
  for (const char* const entry : g_removed) {
    if (entry == nullptr || means_none(entry)) continue;
    const std::string_view all = entry;
    const std::size_t equals = all.find('=');
    text += text.empty() ? "" : ", ";
    text += std::string(all.substr(0, equals)) + " = " + std::string(all.substr(equals + 1));
  }
  return text;
}

std::optional<std::int64_t> openmp_threads() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  const std::int64_t threads = text == nullptr ? 0 : std::atoll(text);
  return threads > 0 ? std::optional(threads) : std::nullopt;
}

}  // namespace convoy
