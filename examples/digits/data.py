#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the digits of scikit-learn, 1797 images of 8x8 pixels, as train.npz and test.npz: data.py FOLDER. The test has every fifth
image; `image.npy` and `label.npy` are its first 64 images."""
import os
import sys

import numpy as np
from sklearn.datasets import load_digits

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
digits = load_digits()
images = (digits.images[:, None] / 16).astype(np.float32)
labels = digits.target.astype(np.int64)
held = np.arange(len(labels)) % 5 == 4
np.savez(os.path.join(folder, "train.npz"), image=images[~held], label=labels[~held])
np.savez(os.path.join(folder, "test.npz"), image=images[held], label=labels[held])
np.save(os.path.join(folder, "image.npy"), images[held][:64])
np.save(os.path.join(folder, "label.npy"), labels[held][:64])
