#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Heat in a rod, with regions: python3 heat.py [POINTS [STEPS]]

Two threads share each step. What they do stands below the region "step" of the main thread.
"""
import sys
from concurrent.futures import ThreadPoolExecutor

import libperfmon


@libperfmon.region("sweep")
def sweep(old, new, begin, end):
    for i in range(max(begin, 1), min(end, len(old) - 1)):
        new[i] = old[i] + 0.25 * (old[i - 1] - 2 * old[i] + old[i + 1])


def part(token, *arguments):
    with libperfmon.adopt(token):
        sweep(*arguments)


def main(points=1000, steps=20):
    old = [0.0] * points
    old[points // 2] = 100.0
    half = points // 2
    with ThreadPoolExecutor(2) as pool, libperfmon.region("solve"):
        for _ in range(steps):
            new = old[:]
            with libperfmon.region("step"):
                token = libperfmon.token()
                list(pool.map(lambda at: part(token, old, new, at, at + half), (0, half)))
            old = new
    print(f"in the middle {old[half]:.4f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
