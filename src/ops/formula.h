/// The macro CONVOY_FORMULA marks functions that are compiled into the code of every device.
#pragma once

#if defined(__CUDACC__)
#define CONVOY_FORMULA __device__ inline
#else
#define CONVOY_FORMULA [[gnu::always_inline]] inline
#endif
