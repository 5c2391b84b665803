// SPDX-License-Identifier: Apache-2.0
// What a process owes its files and its standard streams, whatever started it. Local.
#pragma once

namespace charter {

// First thing in main. A standard descriptor that was closed is filled, so that no file is opened in its
// place and then gets the log or the progress lines written into it; writing to it still fails. A file size
// limit (ulimit -f) becomes an error of write() like a full disk, instead of the signal that ends a process.
void prepare_process();

// For programs whose work does not stand on their standard streams: when the reader of a pipe has gone
// (`| head`, a terminal that was closed), writing to it fails instead of ending the process.
void ignore_broken_pipes();

// Last thing before a program reports success: what it printed has left the process. Throws cannot_write.
void require_output_written();

}  // namespace charter
