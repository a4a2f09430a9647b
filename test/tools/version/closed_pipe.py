# SPDX-License-Identifier: Apache-2.0
"""Runs a command whose standard output is a pipe that nobody reads, and prints its exit status and messages."""
import os
import subprocess
import sys

reading, writing = os.pipe()
os.close(reading)
done = subprocess.run(sys.argv[1:], stdout=writing, stderr=subprocess.PIPE, text=True)
print(done.returncode, done.stderr, sep="")
