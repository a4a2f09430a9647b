# SPDX-License-Identifier: Apache-2.0
"""Prints a model of 2,000 operators, half of them composite; some edges skip operators."""

print("""import math;
import nn;
operator block { @input { x: real[n]; } @output { y: real[n]; } @compose { a = nn.relu(x); y = nn.sigmoid(a); } }
graph G { @input { x: real[8]; } @output { y: real[8]; } @compose { v0 = nn.relu(x);""")
for i in range(1, 1000):
    print(f"u{i} = block(v{i - 1}); v{i} = math.add(u{i}, v{max(0, i - 1 - i % 3)});")
print("y = nn.relu(v999); } }")
