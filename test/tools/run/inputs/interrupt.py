# SPDX-License-Identifier: Apache-2.0
"""Interrupts a command while it computes: interrupt.py COMMAND…"""
import signal
import subprocess
import sys
import time

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
time.sleep(2)
process.send_signal(signal.SIGINT)
print(process.communicate(timeout=60)[0])
print("status", process.returncode)
