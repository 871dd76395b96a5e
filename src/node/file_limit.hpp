// How many files, sockets among them, this process may have open.
#pragma once

namespace canopy::node {

// As many as the system allows without privileges; warns where these are too
// few for a daemon with many peers and clients.
void raise_file_limit();

}  // namespace canopy::node
