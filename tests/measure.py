# SPDX-License-Identifier: Apache-2.0
"""Runs the program and says what it used: exit code, texts, wall and processor seconds, peak resident bytes."""
import json
import os
import subprocess
import sys
from dataclasses import dataclass

# A process starts with the peak of the one it was forked from, so a small one stands in between. Its own peak is about 10 MB.
LAUNCHER = """
import json, os, resource, signal, sys, time
limits, command = json.loads(sys.argv[1]), sys.argv[2:]
start = time.monotonic()
pid = os.fork()
if pid == 0:
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if "RLIMIT_FSIZE" in limits:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    os.execv(command[0], command)
_, status, usage = os.wait4(pid, 0)
code = os.waitstatus_to_exitcode(status)
print(json.dumps([code, time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]), file=sys.__stderr__)
"""


@dataclass
class Measured:
    code: int  # negative: the signal that ended it
    stdout: str
    stderr: str
    wall_s: float
    cpu_s: float
    peak_bytes: int

    @property
    def text(self):
        return self.stdout + self.stderr


SAFETY = {"RLIMIT_AS": 32 << 30, "RLIMIT_DATA": 8 << 30, "RLIMIT_CPU": 900}  # what fails a test must not fail the machine


def measure(program, *arguments, cwd=None, timeout=60, limits=None, env=None):
    """`limits`: names of resource limits (RLIMIT_FSIZE …) to values, for the program only."""
    command = [sys.executable, "-S", "-I", "-c", LAUNCHER, json.dumps(SAFETY | (limits or {})), str(program), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, timeout=timeout, env={**os.environ, **(env or {})})
    texts = done.stderr.decode(errors="replace").splitlines()
    code, wall, cpu, peak = json.loads(texts[-1])
    return Measured(code, done.stdout.decode(errors="replace"), "\n".join(texts[:-1]), wall, cpu, peak)
