# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # the parts share variables (job.sh)
# What a job script does about an exit code (docs/exit-codes.md).

# exit_action CODE: prints done, again (with a checkpoint, in another job), relaunch, or stop.
exit_action() {
  case $1 in
    0) echo "done" ;;
    75) echo again ;;
    # 1 is the launcher's own: a node or its daemon was lost, or it could not start.
    1 | 79) echo relaunch ;;
    253) echo stop ;;
    *) if (($1 > 128 && $1 <= 192)); then echo relaunch; else echo stop; fi ;;
  esac
}

# exit_advice CODE: prints what it means, and what to do where the script stops.
exit_advice() {
  case $1 in
    0) echo "done" ;;
    1) echo "the launcher failed; its message stands above" ;;
    64) echo "an unknown option or a value out of range: correct the options in the job script, submit it again" ;;
    65) echo "the content of a file is wrong: correct the file that the message above names, submit again" ;;
    66) echo "an input or every valid checkpoint is missing: see the paths named above" ;;
    69) echo "a device, driver or fabric is unfit: leave that node out, tell the site" ;;
    70) echo "a broken invariant, or restarts without progress: read the end of log.txt in the run folder" ;;
    71 | 253) echo "out of memory: a smaller --micro-batch, or more ranks; --dry-run predicts what is needed" ;;
    73) echo "an output cannot be written: look at free space and quota of the run folder, submit again" ;;
    74) echo "reading or writing failed: look at the file system that the message above names, submit again" ;;
    75) echo "stopped with a checkpoint" ;;
    76) echo "a loss or gradient is not finite: lower --lr, or look at the samples of that step" ;;
    78) echo "settings do not fit together, or the run folder is locked: the message above says which" ;;
    79) echo "a rank waited too long for another; hang.*.json in the run folder says for which" ;;
    *) if (($1 > 128 && $1 <= 192)); then echo "ended by signal $(($1 - 128))"; else echo "not a code of Charter's"; fi ;;
  esac
}
