/// Marks functions that the code of every device computes alike.
#pragma once

#if defined(__CUDACC__)
#define CONVOY_FORMULA __device__ inline
#else
#define CONVOY_FORMULA [[gnu::always_inline]] inline
#endif
