// How the kernel shares processors among threads.
#pragma once

namespace canopy::tools {

// Asks for short time slices for this thread and those that it starts. Their
// share of the processors stays the same, but when one wakes up (a disk has
// synced, a request has come) it need not wait for the end of another's slice:
// with more busy threads than processors that is up to 4 ms each time. Linux
// 6.12 or later; older ones ignore it.
void ask_for_short_slices() noexcept;

}  // namespace canopy::tools
