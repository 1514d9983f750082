/// Machines that tests describe, in hwloc's short form.
#pragma once

namespace convoy::test {

/// Two sockets, each a NUMA domain of 8 cores with 2 hardware threads, numbered as on Xeons: 0-7,16-23 and 8-15,24-31.
inline constexpr const char* kXeons =
    "package:2 [numa(memory=68719476736)] l3:1(size=33554432) core:8 pu:2(indexes=2*16:16*1)";

/// One socket and NUMA domain, with 8 caches of 4 cores.
inline constexpr const char* kEpyc = "package:1 [numa(memory=137438953472)] l3:8(size=33554432) core:4 pu:1";

/// What hwloc cannot read: no part of this machine is known.
inline constexpr const char* kUnknown = "nonsense";

}  // namespace convoy::test
