// For programs that may be started without standard input, output or error.
#pragma once

namespace canopy::tools {

// Takes the numbers of those that are closed, so that no socket or timer gets
// them and is read from or written to by mistake. Using one still fails.
void keep_standard_files();

}  // namespace canopy::tools
