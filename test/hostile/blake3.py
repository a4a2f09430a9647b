# SPDX-License-Identifier: Apache-2.0
"""BLAKE3, for compiled models with a valid checksum and a wrong body."""
import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF


def compress(chain, block, counter, length, flags):
    state = [*chain, *IV[:4], counter & MASK, counter >> 32, length, flags]
    words = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    for _ in range(7):
        for n, (a, b, c, d) in enumerate(COLUMNS):
            for word, first, second in ((words[2 * n], 16, 12), (words[2 * n + 1], 8, 7)):
                state[a] = state[a] + state[b] + word & MASK
                x = state[d] ^ state[a]
                state[d] = (x >> first | x << 32 - first) & MASK
                state[c] = state[c] + state[d] & MASK
                x = state[b] ^ state[c]
                state[b] = (x >> second | x << 32 - second) & MASK
        words = [words[p] for p in PERMUTATION]
    return tuple(low ^ high for low, high in zip(state[:8], state[8:]))


def subtree(data, counter, root):
    """The chaining value of a range of chunks."""
    if len(data) <= 1024:
        chain = IV
        blocks = [data[at:at + 64] for at in range(0, max(len(data), 1), 64)]
        for n, block in enumerate(blocks):
            last = n + 1 == len(blocks)
            flags = (CHUNK_START if n == 0 else 0) | ((CHUNK_END | root) if last else 0)
            chain = compress(chain, block, counter, len(block), flags)
        return chain
    left = 1024 << (((len(data) - 1) // 1024).bit_length() - 1)
    chains = subtree(data[:left], counter, 0) + subtree(data[left:], counter + left // 1024, 0)
    return compress(IV, struct.pack("<16I", *chains), 0, 64, PARENT | root)


def digest(data):
    return struct.pack("<8I", *subtree(data, 0, ROOT))
