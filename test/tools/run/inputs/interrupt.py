# SPDX-License-Identifier: Apache-2.0
"""Interrupts a command when it handles Ctrl-C: interrupt.py COMMAND…"""
import re
import signal
import subprocess
import sys
import time

LIMIT = 60

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
end = time.monotonic() + LIMIT
caught = 0
while not caught & 1 << signal.SIGINT - 1 and process.poll() is None and time.monotonic() < end:
    with open(f"/proc/{process.pid}/status") as status:
        caught = int(re.search(r"^SigCgt:\s*(\w+)", status.read(), re.M)[1], 16)
    time.sleep(0.01)
process.send_signal(signal.SIGINT)
print(process.communicate(timeout=LIMIT)[0])
print("status", process.returncode)
