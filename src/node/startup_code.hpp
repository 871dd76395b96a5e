// Gives back the memory of program code that only start-up has used.
#pragma once

namespace canopy::node {

// The pages of the program's own code leave this process; those still needed come
// back from the page cache when they are. A daemon without queues never runs most
// of the store's code but for its initialisation, which is scattered over all of
// it.
void drop_startup_code();

}  // namespace canopy::node
