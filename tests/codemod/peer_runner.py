"""Runs TensorFlow's tf_upgrade_v2 many times in forks of one process, since its start is the import of all of TensorFlow.

    python peer_runner.py < jobs.json

A job has `arguments`, the folder that it is run in, and files for what it prints. The answer is the list of exit statuses.
"""

import json
import os
import sys
import traceback


def main():
    from tensorflow.tools.compatibility import tf_upgrade_v2_main

    statuses = []
    for job in json.load(sys.stdin):
        child = os.fork()
        if child == 0:
            os.chdir(job["folder"])
            for descriptor, name in ((1, "output"), (2, "errors")):
                os.dup2(os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
            sys.argv = ["tf_upgrade_v2", *job["arguments"]]
            status = 0
            try:
                tf_upgrade_v2_main.main()
            except SystemExit as error:
                status = int(error.code or 0)
            except BaseException:  # noqa: BLE001 -- what Python does at the top of a program
                traceback.print_exc()
                status = 1
            sys.stdout.flush()
            os._exit(status)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(json.dumps(statuses))


if __name__ == "__main__":
    main()
