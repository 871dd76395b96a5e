// For programs that may be started without standard input, output or error, or
// with an output that takes no more.
#pragma once

namespace canopy::tools {

// Takes the numbers of those that are closed, so that no socket or timer gets
// them and is read from or written to by mistake. Using one still fails.
void keep_standard_files();

// Writes what is buffered for standard output. The program's exit status: this
// one, or 1 after saying that something could not be written.
int end_output(const char* program, int status);

}  // namespace canopy::tools
