#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes valid and invalid .dat files: write_dat.py OUT --shape 2,3 [--item-type 0] [--bits 32] [--magic HEX] [--length N] [--truncate N] [--extra N]."""
import argparse
import struct

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--shape", required=True)
parser.add_argument("--rank", type=int)
parser.add_argument("--item-type", type=int, default=0)
parser.add_argument("--bits", type=int, default=32)
parser.add_argument("--magic", default="4eef")
parser.add_argument("--length", type=int)
parser.add_argument("--truncate", type=int, default=0)
parser.add_argument("--extra", type=int, default=0)
args = parser.parse_args()

shape = [int(n) for n in args.shape.split(",") if n]
volume = 1
for extent in shape:
    volume *= extent
size = min((volume * args.bits + 7) // 8, 1 << 16)
data = bytes(size)
if args.bits == 32 and args.item_type == 0:
    data = b"".join(struct.pack("<f", i) for i in range(size // 4))
length = size if args.length is None else args.length
extents = (shape + [0] * 8)[:8]
head = bytes.fromhex(args.magic) + bytes([1, 0]) + struct.pack("<II8III", length, len(shape) if args.rank is None else args.rank, *extents, args.bits, args.item_type)
blob = head.ljust(128, b"\0") + data + bytes(args.extra)
with open(args.out, "wb") as file:
    file.write(blob[:len(blob) - args.truncate] if args.truncate else blob)
