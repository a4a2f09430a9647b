# SPDX-License-Identifier: Apache-2.0
"""Parts of tests that take minutes, of which each run takes one."""
import time


def add_argument(parser):
    """The option `--shard`, whose value is for `shard`."""
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="every Nth case from the Ith; 'day/N': another one each day")


def shard(things, which):
    """Every Nth item from the Ith on, for `I/N`; for `day/N`, I depends on the day."""
    own, count = which.split("/")
    own = time.localtime().tm_yday if own == "day" else int(own)
    own %= int(count)
    if which != "0/1":
        print("shard %d/%s" % (own, count), flush=True)
    return things[own::int(count)]
