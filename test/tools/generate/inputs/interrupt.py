# SPDX-License-Identifier: Apache-2.0
"""Presses Ctrl-C when a command has written the beginning of its output; prints its messages and its status: interrupt.py COMMAND…"""
import signal
import subprocess
import sys

LIMIT = 60

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
assert process.stdout.read(1), "no output"
process.send_signal(signal.SIGINT)
print(process.communicate(timeout=LIMIT)[1].decode())
print("status", process.returncode)
