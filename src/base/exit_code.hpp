// SPDX-License-Identifier: Apache-2.0
// The exit codes of every Charter program (docs/exit-codes.md). Job scripts decide by them.
#pragma once

namespace charter {

enum class ExitCode : int {
  done = 0,
  different = 1,       // checkpoint_tool diff: the two are not equal
  usage = 64,          // wrong option or value on the command line
  bad_input = 65,      // a file's content is wrong
  missing_input = 66,  // a file or a valid checkpoint is missing
  device_unfit = 69,   // no device, driver or fabric that can do the job
  internal = 70,       // a broken invariant of our own, or no progress after restarts
  out_of_memory = 71,  // the pool's report was printed
  cannot_write = 73,   // an output could not be created or the disk is full
  io_error = 74,       // reading or writing failed
  requeue = 75,        // stopped with a checkpoint written: submit me again
  numerical = 76,      // a loss or gradient is not finite
  configuration = 78,  // settings that do not fit together or a locked run folder
  hang = 79,           // a rank waited longer than --hang-timeout
};

}  // namespace charter
