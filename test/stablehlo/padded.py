#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models with dynamic extents in XLA, padded to their upper bounds, and compares them with the evaluator.

    padded.py --skript BINARY [--case SUBSTRING]...

Each model is exported once and run with inputs of several sizes, from zero to the bound. The padding is NaN, or a number that
changes every sum. The expected values are those of `skript run --engine=reference` on the arrays without padding. A formula
with a fallback form although a better one exists counts as a failure.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import xla
import shards  # noqa: E402


def moving(inputs, extent, moves, first=0):
    """An operator whose positions begin at a number and are shifted by a formula."""
    return "operator o { @input { %s; } @output { y: int[%s]; } @lower { y[i,] = %s, i < %s; %s; } }\n" % (inputs, extent, first, extent, moves)


# By name: inputs, outputs, their formulas, and the shapes of the inputs of each run.
MODELS = {
    "sum_along": ("x: real[3,n|7]", "y: real[~]", "y = math.sum_reduce{axes=[1], squeeze=true}(x)", [[(3, n)] for n in (0, 1, 4, 7)]),
    "sum_across": ("x: real[n|7,3]", "y: real[~]", "y = math.sum_reduce{axes=[1], squeeze=true}(x)", [[(n, 3)] for n in (0, 1, 7)]),
    "mean": ("x: real[n|6,m|5]", "y: real[~,~]", "y = math.mean_reduce{axes=[0,1]}(x)", [[(2, 3)], [(6, 5)], [(1, 1)]]),
    "max": ("x: real[2,n|6]", "y: real[~,~]", "y = math.max_reduce{axes=[1]}(x)", [[(2, n)] for n in (1, 5, 6)]),
    "min_integers": ("x: int[2,n|6]", "y: int[~,~]", "y = math.min_reduce{axes=[1]}(x)", [[(2, n)] for n in (1, 5, 6)]),
    "any": ("x: bool[2,n|6]", "y: bool[~,~]", "y = math.any_reduce{axes=[1]}(x)", [[(2, n)] for n in (1, 5)]),
    "argmax": ("x: real[2,n|6]", "y: int[~,~]", "y = math.argmax{axis=1}(x)", [[(2, n)] for n in (1, 4, 6)]),
    "moments": ("x: real[n|6,2]", "y: real[~,~]; z: real[~,~]", "y, z = math.moments{axes=[0]}(x)", [[(n, 2)] for n in (1, 4, 6)]),
    "cumulative": ("x: real[n|6]", "y: real[~]", "y = math.cumsum{axis=0}(x)", [[(n,)] for n in (1, 4, 6)]),
    "softmax": ("x: real[2,n|6]", "y: real[~,~]", "y = nn.softmax{axes=[1]}(x)", [[(2, n)] for n in (1, 4, 6)]),
    "normalized": ("x: real[2,3,n|6]", "y: real[~,~,~]", "y = nn.mean_variance_norm{axes=[2]}(x)", [[(2, 3, n)] for n in (2, 4, 6)]),
    "contraction": ("a: real[3,k|5]; b: real[k,2]", "y: real[~,~]", "y = linalg.matmul(a, b)", [[(3, n), (n, 2)] for n in (0, 1, 3, 5)]),
    "rows": ("a: real[n|5,4]; b: real[4,2]", "y: real[~,~]", "y = linalg.matmul(a, b)", [[(n, 4), (4, 2)] for n in (0, 1, 3, 5)]),
    "all_three": ("a: real[n|5,k|4]; b: real[k,m|3]", "y: real[~,~]", "y = linalg.matmul(a, b)", [[(2, 3), (3, 1)], [(5, 4), (4, 3)]]),
    "batch": ("x: real[n|4,2,6]; w: real[3,2,3]", "y: real[~,~,~]", "y = nn.conv{padding=1}(x, w)", [[(n, 2, 6), (3, 2, 3)] for n in (1, 3, 4)]),
    "window": ("x: real[1,2,n|9]; w: real[3,2,3]", "y: real[~,~,~]", "y = nn.conv{padding=1, stride=2}(x, w)", [[(1, 2, n), (3, 2, 3)] for n in (3, 6, 9)]),
    "pool": ("x: real[1,2,n|9]", "y: real[~,~,~]", "y = nn.max_pool{axes=[2], size=3, stride=1, padding=1}(x)", [[(1, 2, n)] for n in (3, 6, 9)]),
    "window_valid": ("x: real[1,2,n|9]; w: real[3,2,3]", "y: real[~,~,~]", "y = nn.conv{padding=0}(x, w)", [[(1, 2, n), (3, 2, 3)] for n in (3, 4, 9)]),
    "window_kernel": ("x: real[1,2,9]; w: real[3,2,k|4]", "y: real[~,~,~]", "y = nn.conv{padding=1}(x, w)",
                      [[(1, 2, 9), (3, 2, k)] for k in (1, 2, 3, 4)]),
    "window_plane": ("x: real[1,2,h|7,v|6]; w: real[3,2,3,3]", "y: real[~,~,~,~]", "y = nn.conv{padding=1, stride=2}(x, w)",
                     [[(1, 2, h, v), (3, 2, 3, 3)] for h, v in ((3, 4), (7, 6), (1, 1))]),
    "window_groups": ("x: real[1,4,n|7]; w: real[6,2,3]", "y: real[~,~,~]", "y = nn.conv{padding=1, dilation=2, groups=2}(x, w)",
                      [[(1, 4, n), (6, 2, 3)] for n in (3, 4, 7)]),
    "groups_open": ("x: real[b|2,c|4,n|7]; w: real[k|6,d|2,f|3]; q: real[k|6]", "y: real[~,~,~]", "y = nn.conv{padding=1, groups=2}(x, w, q)",
                    [[(b, 2 * d, n), (2 * m, d, f), (2 * m,)] for b, d, m, n, f in ((1, 1, 1, 4, 1), (2, 2, 3, 7, 3), (2, 2, 2, 3, 3))]),
    "depthwise": ("x: real[1,c|4,7]; w: real[k|8,1,3]", "y: real[~,~,~]", "y = nn.conv{padding=1, groups=0}(x, w)",
                  [[(1, c, 7), (c * m, 1, 3)] for c, m in ((1, 1), (4, 2), (3, 1))]),
    "depthwise_long": ("x: real[1,c|12,7]; w: real[k|24,1,3]", "y: real[~,~,~]", "y = nn.conv{padding=1, groups=0}(x, w)",
                       [[(1, c, 7), (c * m, 1, 3)] for c, m in ((1, 2), (12, 2), (5, 1))]),
    # Rows that are adjacent, or have gaps between them, depending on the run.
    "rows_meet": ("x: real[3,2]; k: int[]", "y: real[9]; z: real[9]", "y = sums(x, k); z = most(x, k)", [[(3, 2), ()]] * 4,
                  "operator sums { @input { x: real[3,2]; k: int[]; } @output { y: real[9]; } @lower { y[i,] = 1.0, i < 9; y[i * (k[] + 1) + j,] += x[i,j], i < 3, j < 2 | i != j; } }\n"
                  "operator most { @input { x: real[3,2]; k: int[]; } @output { y: real[9]; } @lower { y[i,] = 0.1, i < 9; y[i * (k[] + 1) + j,] >= x[i,j], i < 3, j < 2; } }\n"),
    "window_transposed": ("x: real[1,2,n|6]; w: real[2,3,3]", "y: real[~,~,~]", "y = nn.deconv{padding=1, stride=2}(x, w)",
                          [[(1, 2, n), (2, 3, 3)] for n in (1, 4, 6)]),
    "pool_sum": ("x: real[1,c|3,n|9]", "y: real[~,~,~]", "y = nn.sum_pool{axes=[2], size=3, stride=2, padding=1}(x)",
                 [[(1, c, n)] for c, n in ((1, 3), (3, 9), (2, 1))]),
    "pool_plane": ("x: real[1,c|3,n|9,m|5]", "y: real[~,~,~,~]", "y = nn.max_pool{axes=[2,3], size=[3,2], stride=2, padding=1}(x)",
                   [[(1, c, n, m)] for c, n, m in ((1, 3, 2), (3, 9, 5), (2, 1, 1))]),
    "normalized_locally": ("x: real[1,c|5,n|3]", "y: real[~,~,~]", "y = nn.local_response_norm{axes=[1], size=3}(x)",
                           [[(1, c, n)] for c, n in ((1, 3), (3, 2), (5, 1))]),
    "average": ("x: real[n|3,2,m|9]", "y: real[~,~,~]", "y = nn.avg_pool{axes=[2], size=2, stride=2, padding=0}(x)", [[(1, 2, 4)], [(3, 2, 9)]]),
    "joined": ("a: real[n|4,2]; b: real[m|3,2]", "y: real[~,~]", "y = layout.concat{axis=0}([a, b])", [[(2, 2), (3, 2)], [(0, 2), (1, 2)], [(4, 2), (3, 2)]]),
    "turned": ("x: real[n|4,m|3]", "y: real[~,~]", "y = layout.transpose{perm=[1,0]}(x)", [[(2, 3)], [(4, 1)]]),
    "flattened_long": ("x: real[n|20,m|3]", "y: real[~]", "y = layout.flatten{axis=0, rank=2}(x)", [[s] for s in ((2, 2), (20, 3), (13, 1), (0, 2))]),
    "flattened_all": ("x: bool[n|2,m|3,k|2]", "y: bool[~]", "y = layout.flatten{axis=0, rank=3}(x)", [[s] for s in ((2, 2, 1), (2, 3, 2), (1, 2, 2))]),
    "flattened": ("x: real[n|4,m|3]", "y: real[~]", "y = layout.flatten{axis=0, rank=2}(x)", [[(2, 2)], [(4, 3)]]),
    "tiled": ("x: real[n|4]", "y: real[~]", "y = layout.tile{repeats=3}(x)", [[(2,)], [(4,)]]),
    "bordered": ("x: real[n|5]", "y: real[~]", "y = layout.pad{padding=[1,2]}(x)", [[(2,)], [(5,)]]),
    "bordered_mirrored": ("x: real[~|5,2]", "y: real[~,~]; z: real[~,~]; w: real[~,~]",
                          "y = layout.pad{axes=[0], padding=[1,2], method='REFLECT'}(x); z = layout.pad{padding=[2,1,3,0], method='REPLICATE'}(x); "
                          "w = layout.pad{axes=[0], padding=[2,1], method='SYMMETRIC'}(x)", [[(n, 2)] for n in (3, 4, 5)]),
    "bordered_plane": ("x: real[~|4,3,~|5]", "y: real[~,~,~]; z: real[~,~,~]",
                       "y = layout.pad{padding=[1,0,2,1,0,1], method='REFLECT'}(x); z = layout.pad{padding=[3,0,2,1,0,1], method='REPLICATE'}(x)",
                       [[(n, 3, m)] for n, m in ((2, 3), (4, 5), (3, 4))]),
    "chosen": ("x: real[n|5,2]; i: int[m|4]", "y: real[~,~]", "y = layout.gather{axis=0}(x, i)", [[(2, 2), (3,)], [(5, 2), (4,)]]),
    "branch": ("x: real[s|5]; z: real[t|4]; first: bool[]", "y: real[~]; n: real[~]", "y = if first then x else z; n = math.sum_reduce{squeeze=false}(y)",
               [[(a,), (b,), ()] for a, b in ((3, 1), (1, 3), (0, 4), (5, 0), (5, 4), (2, 2))]),
    "largest": ("x: real[b|3,n|6]", "v: real[~,~]; i: int[~,~]", "v, i = algo.top_k{k=2, axis=1}(x)", [[s] for s in ((1, 1), (2, 4), (3, 6))]),
    "smallest": ("x: real[n|6,2]", "v: real[~,~]; i: int[~,~]", "v, i = algo.top_k{k=3, axis=0, largest=false}(x)", [[(n, 2)] for n in (1, 4, 6)]),
    "found": ("x: int[b|3,n|6]", "y: int[~,~]", "y = layout.nonzero(x)", [[s] for s in ((1, 1), (2, 4), (3, 6), (0, 3))]),
    "suppressed": ("b: real[m|2,n|5,4]; s: real[m,2,n]", "y: int[~,~]", "y = algo.nonmax_suppress{iou_threshold=0.3, max_outputs_per_class=3}(b, s)",
                   [[(m, n, 4), (m, 2, n)] for m, n in ((1, 1), (1, 4), (2, 3), (2, 5))]),
    "suppressed_low": ("b: real[m|2,n|5,4]; s: real[m,2,n]", "y: int[~,~]",
                       "y = algo.nonmax_suppress{iou_threshold=0.3, max_outputs_per_class=2, score_threshold=0.1}(b, s)",
                       [[(m, n, 4), (m, 2, n)] for m, n in ((1, 1), (1, 4), (2, 5))]),
    "regions": ("x: real[b|2,2,h|6,w|5]; r: real[n|3,4]; i: int[n]", "y: real[~,~,~,~]; z: real[~,~,~,~]",
                "y = image.max_roi_pool{output_size=[2,2]}(x, r, i); z = image.avg_roi_pool{output_size=[2,2]}(x, r, i)",
                [[(2, 2, h, w), (n, 4), (n,)] for h, w, n in ((2, 2, 1), (6, 5, 3), (3, 4, 2))]),
    "largest_but_one": ("x: real[~|6,3]", "y: real[~,~]; i: int[~,~]", "y, i = algo.top_k{k=x.shape[0] - 1, axis=0}(x)", [[(n, 3)] for n in (2, 5, 6)]),
    "suppressed_centered": ("b: real[1,n|6,4]; s: real[1,2,n]", "y: int[~,~]", "y = algo.nonmax_suppress{iou_threshold=0.2, box_format='CENTER'}(b, s)",
                   [[(1, n, 4), (1, 2, n)] for n in (1, 4, 6)]),
    "cubic": ("x: real[b|3,4]", "y: real[~,~]", "y = image.cubic_resize{axes=[1], size=[6]}(x)", [[(b, 4)] for b in (1, 3)]),
    "cubic_open": ("x: real[~|3,~|6]", "y: real[~,~]; z: real[~,~]",
                   "y = image.cubic_resize{axes=[1], size=[4]}(x); z = image.cubic_resize{axes=[0,1], size=[5,9], coordinate_transform='ALIGNED'}(x)",
                   [[s] for s in ((1, 1), (2, 4), (3, 6), (3, 2))]),
    "cubic_scaled": ("x: real[~|6,2]; r: real[~|9]", "y: real[~,~]; z: real[~,~]; w: real[~,~]",
                     "y = image.rescale{axes=[0], factor=[1.5], mode='CUBIC'}(x); z = image.rescale{axes=[0], factor=[0.4], mode='CUBIC'}(x); "
                     "w = image.cubic_resize{axes=[0, 1], size=[r.shape[0], 3], coordinate_transform='ALIGNED'}(x)",
                     [[(n, 2), (m,)] for n, m in ((2, 1), (4, 9), (6, 2), (5, 4))]),
    "cubic_narrowed": ("x: real[2,~|11]", "y: real[~,~]; z: real[~,~]",
                       "y = image.cubic_resize{axes=[1], size=[3], antialias=true}(x); z = image.cubic_resize{axes=[1], size=[1], antialias=true, coordinate_transform='ASYMMETRIC'}(x)",
                       [[(2, n)] for n in (1, 2, 5, 8, 11)]),
    "sampled": ("x: real[b|2,1,4,4]; g: real[b,n|3,2,2]", "y: real[~,~,~,~]", "y = image.grid_sample{mode='CUBIC'}(x, g)",
                [[(b, 1, 4, 4), (b, n, 2, 2)] for b, n in ((1, 2), (2, 3))]),
    "sampled_open": ("x: real[~|2,~|2,~|5,~|4]; g: real[~|2,~|3,~|2,2]", "y: real[~,~,~,~]; z: real[~,~,~,~]; w: real[~,~,~,~]",
                     "y = image.grid_sample{mode='CUBIC'}(x, g); z = image.grid_sample{mode='CUBIC', padding='REFLECT'}(x, g); "
                     "w = image.grid_sample{mode='CUBIC', padding='REPLICATE', aligned=true}(x, g)",
                     [[(b, c, h, v), (b, n, m, 2)] for b, c, h, v, n, m in ((1, 1, 1, 1, 1, 1), (2, 2, 5, 4, 3, 2), (1, 2, 3, 2, 2, 1))]),
    # Random numbers are counted row-major over the elements within the dynamic extents.
    "drawn": ("x: real[n|3,m|6]", "y: real[~,~]; z: real[~,2,~]; k: int[~]; b: bool[~,~]",
              "y = rand.normal{shape=[n,m]}(); z = rand.uniform{shape=[m,2,n]}(); k = rand.uniform<int>{min=-5, max=100, shape=[n]}(); b = rand.bernoulli{prob=0.5, shape=[n,m]}()",
              [[s] for s in ((1, 1), (3, 6), (2, 5), (0, 4))]),
    # Extents that only checks establish as equal, and slices with dynamic offsets.
    "conv_all_open": ("x: real[~|2,~|4,~|9]; w: real[~|5,~|4,~|3]; b: real[~|5]", "y: real[~,~,~]", "y = nn.conv{padding=1, stride=2}(x, w, b)",
                      [[(b, c, n), (k, c, f), (k,)] for b, c, n, k, f in ((1, 1, 3, 1, 3), (2, 4, 9, 5, 3), (2, 3, 1, 2, 1))]),
    "conv_same_open": ("x: real[~|2,~|4,~|9]; w: real[~|5,~|4,~|4]", "y: real[~,~,~]", "y = nn.conv{stride=2}(x, w)",
                       [[(b, c, n), (k, c, f)] for b, c, n, k, f in ((1, 1, 3, 1, 3), (2, 4, 9, 5, 4), (2, 3, 5, 2, 2), (1, 2, 8, 2, 1))]),
    "deconv_all_open": ("x: real[~|2,~|4,~|5]; w: real[~|4,~|3,~|3]", "y: real[~,~,~]", "y = nn.deconv{padding=1, stride=2}(x, w)",
                        [[(b, c, n), (c, k, f)] for b, c, n, k, f in ((1, 1, 3, 1, 3), (2, 4, 5, 3, 3), (2, 3, 2, 2, 2))]),
    "matmul_all_open": ("a: real[~|5,~|4]; b: real[~|6,~|3]", "y: real[~,~]", "y = linalg.matmul(a, b)",
                        [[(n, k), (k, m)] for n, k, m in ((2, 3, 1), (5, 4, 3), (0, 2, 2), (3, 0, 2))]),
    "linear_all_open": ("x: real[~|3,~|4]; w: real[~|5,~|4]; b: real[~|5]", "y: real[~,~]", "y = nn.linear(x, w, b)",
                        [[(n, k), (m, k), (m,)] for n, k, m in ((1, 1, 1), (3, 4, 5), (2, 3, 2))]),
    "argmax_all_open": ("x: real[~|3,~|6]", "y: int[~]", "y = math.argmax{axis=1, squeeze=true}(x)", [[s] for s in ((1, 1), (3, 6), (2, 4))]),
    # Positions of the extremes of expressions and of some elements only, and positions that are expressions.
    "arg_nearest": ("x: real[n|6]; z: real[m|5]", "y: int[~]", "y = o(x, z)", [[(n,), (m,)] for n, m in ((1, 1), (6, 5), (4, 3))], moving(
        "x: real[n]; z: real[m]", "m", "y[i,] := j, i < m, j < n | `abs`(x[j,] - z[i,]) < `abs`(x[y[i,],] - z[i,])")),
    "arg_product": ("x: real[m|5,n|6]; z: real[m,n]", "y: int[~]", "y = o(x, z)", [[s, s] for s in ((1, 1), (5, 6), (3, 4))], moving(
        "x: real[m,n]; z: real[m,n]", "m", "y[i,] := j, i < m, j < n | x[i,j] * z[i,j] >= x[i,y[i,]] * z[i,y[i,]]")),
    "arg_masked": ("x: real[m|5,n|6]; k: bool[~|6]", "y: int[~]", "y = o(x, k)", [[(m, n), (n,)] for m, n in ((1, 1), (5, 6), (3, 4), (2, 2))], moving(
        "x: real[m,n]; k: bool[n]", "m", "y[i,] := j, i < m, j < n | k[j,] && x[i,j] > x[i,y[i,]]")),
    "arg_masked_last": ("x: int[m|5,n|6]; k: bool[~|6]", "y: int[~]", "y = o(x, k)", [[(m, n), (n,)] for m, n in ((1, 1), (5, 6), (3, 4), (2, 2))], moving(
        "x: int[m,n]; k: bool[n]", "m", "y[i,] := j, i < m, j < n | k[j,] && x[i,j] <= x[i,y[i,]]")),
    "arg_flags": ("x: bool[n|6,m|5]", "y: int[~]", "y = o(x)", [[s] for s in ((1, 1), (6, 5), (4, 3))], moving(
        "x: bool[n,m]", "m", "y[i,] := j, i < m, j < n | int(x[j,i]) > int(x[y[i,],i])")),
    "arg_strided": ("x: real[m|5,8]", "y: int[~]", "y = o(x)", [[(m, 8)] for m in (1, 3, 5)], moving(
        "x: real[m,2*n]", "m", "y[i,] := j, i < m, j < n | x[i,2*j] > x[i,2*y[i,]]")),
    "arg_reversed": ("x: int[m|5,6]", "y: int[~]", "y = o(x)", [[(m, 6)] for m in (1, 3, 5)], moving(
        "x: int[m,n]", "m", "y[i,] := n-1-j, i < m, j < n | x[i,n-1-j] > x[i,y[i,]]")),
    "arg_begun": ("x: int[m|5,6]", "y: int[~]", "y = o(x)", [[(m, 6)] for m in (1, 3, 5)], moving(
        "x: int[m,6]", "m", "y[i,] := j, i < m, j < 6 | x[i,j] > x[i,y[i,]]", first=3)),
    # The dynamic extent, not its upper bound, limits the result.
    "counted_within": ("x: real[n|6]", "y: real[~]", "y = o(x)", [[(n,)] for n in (0, 3, 5, 6)],
                "operator o { @input { x: real[n]; } @output { y: real[m|n]; } @lower { y[m,] = x[i,] + real(j), i < n, j < 3 | x[i,] > -0.5; } }\n"),
    "arg_window": ("x: real[8]", "y: int[4]", "y = o(x)", [[(8,)]] * 3, moving(
        "x: real[n]", "n/2", "y[i,] := a, i < n/2, a < 2 | x[2*i+a,] < x[2*i+y[i,],]")),
    # Positions that are relative to their window. Every other logarithm of reals is NaN, and many ints are equal.
    "arg_moving": ("x: real[9]", "y: int[7]", "y = o(x)", [[(9,)]] * 6, moving(
        "x: real[n]", "n - 2", "y[i,] := i + j, i < n - 2, j < 3 | `log`(x[i+j,]) > `log`(x[y[i,],])", first="i")),
    "arg_moving_ties": ("x: int[9]; k: bool[9]", "y: int[7]", "y = o(x, k)", [[(9,), (9,)]] * 4, moving(
        "x: int[n]; k: bool[n]", "n - 2", "y[i,] := i + j, i < n - 2, j < 3 | k[i+j,] && x[i+j,] >= x[y[i,],]", first="i + 1")),
    "arg_moving_far": ("x: real[9]", "y: int[4]", "y = o(x)", [[(9,)]] * 4, moving(
        "x: real[n]", "4", "y[i,] := 2*i + j, i < 4, j < 3 | x[2*i+j,] < x[y[i,],]")),
    "arg_moving_rows": ("x: real[m|3,9]; z: real[m,7]", "y: int[~,7]", "y = o(x, z)", [[(m, 9), (m, 7)] for m in (1, 2, 3)],
        "operator o { @input { x: real[m,n]; z: real[m,k]; } @output { y: int[m,k]; } @lower { y[i,j] = j + 2, i < m, j < k; "
        "y[i,j] := j + 2 - a, i < m, j < k, a < 3 | `abs`(x[i,j+2-a] - z[i,j]) <= `abs`(x[i,y[i,j]] - z[i,j]); } }\n"),
    "arg_moving_open": ("x: real[n|9]", "y: int[~]", "y = o(x)", [[(n,)] for n in (2, 5, 9)], moving(
        "x: real[n]", "n/2", "y[i,] := i + a, i < n/2, a < 2 | x[i+a,] < x[y[i,],]")),
    # Positions that count from a dynamic extent, windows over one, and extents that only a check establishes as equal.
    "arg_reversed_open": ("x: int[m|5,n|6]", "y: int[~]", "y = o(x)", [[s] for s in ((1, 1), (5, 6), (3, 4))], moving(
        "x: int[m,n]", "m", "y[i,] := n-1-j, i < m, j < n | x[i,n-1-j] > x[i,y[i,]]")),
    "arg_strided_open": ("x: real[m|5,~|8]", "y: int[~]", "y = o(x)", [[s] for s in ((1, 2), (5, 8), (3, 4))], moving(
        "x: real[m,2*n]", "m", "y[i,] := j, i < m, j < n | x[i,2*j] <= x[i,2*y[i,]]")),
    "arg_window_open": ("x: real[n|9]", "y: int[~]", "y = o(x)", [[(n,)] for n in (2, 5, 9)], moving(
        "x: real[n]", "n/2", "y[i,] := a, i < n/2, a < 2 | x[2*i+a,] < x[2*i+y[i,],]")),
    "arg_both_open": ("x: real[~|4,~|6]; z: real[~|4,~|6]", "y: int[~]", "y = o(x, z)", [[s, s] for s in ((1, 1), (4, 6), (3, 5))], moving(
        "x: real[m,n]; z: real[m,n]", "m", "y[i,] := j, i < m, j < n | x[i,j] - z[i,j] > x[i,y[i,]] - z[i,y[i,]]")),
    "arg_begun_open": ("x: int[m|5,n|6]", "y: int[~]", "y = o(x)", [[s] for s in ((1, 1), (5, 6), (3, 4))], moving(
        "x: int[m,n]", "m", "y[i,] := n-1-j, i < m, j < n | x[i,n-1-j] > x[i,y[i,]]", first="n-1")),
    # Steps that write several elements of a tensor and read it.
    "places": ("x: real[n|4,3]", "y: real[~,3]", "y = o(x)", [[(n, 3)] for n in (0, 1, 3, 4)],
               "operator o { @input { x: real[n,3]; } @output { y: real[n,3]; } @lower { y[i,:] += [x[i,j], y[i,0], y[i,1]], i < n, j < 3; } }\n"),
    # Writes with counters.
    "counted": ("x: real[n|6]", "y: real[~]", "y = o(x)", [[(n,)] for n in (0, 1, 4, 6)],
                "operator o { @input { x: real[n]; } @output { y: real[k|n]; } @lower { y[k,] = x[i,] * 2.0, i < n | x[i,] > 0.0; } }\n"),
    "counted_pairs": ("x: real[n|4]", "y: int[2,~]", "y = o(x)", [[(n,)] for n in (1, 3, 4)],
                      "operator o { @input { x: real[n]; } @output { y: int[2,k|n*n]; } @lower { y[:,k] = [i, j], i < n, j < n | x[i,] < x[j,]; } }\n"),
    "counted_rows": ("x: real[n|4]", "y: real[~,~]", "y = o(x)", [[(n,)] for n in (1, 3, 4)],
                     "operator o { @input { x: real[n]; } @output { y: real[k|n*n,n]; } @lower { y[k,j] = x[i,] * x[j,], j < n, i < n | x[i,] > 0.0; } }\n"),
    # Windows over expressions of elements.
    "scaled_window": ("x: real[2,n|9]; w: real[3,2,3]; g: real[2]", "y: real[3,~]", "y = o(x, w, g)", [[(2, n), (3, 2, 3), (2,)] for n in (1, 5, 9)],
                      "operator o { @input { x: real[c,n]; w: real[o,c,k]; g: real[c]; } @output { y: real[o,n]; } "
                      "@lower { y[q,i] += g[p,] * x[p,|i+j-1|] * w[q,p,j], q < o, p < c, i < n, j < k; } }\n"),
    "window_of_squares": ("x: real[n|9]; m: real[1]", "y: real[~]; z: real[~]", "y, z = o(x, m)", [[(n,), (1,)] for n in (3, 5, 9)],
                          "operator o { @input { x: real[n]; m: real[1]; } @output { y: real[n-2]; z: real[n-2]; } "
                          "@lower { y[i,] += (x[i+a,] - m[0,]) * (x[i+a,] - m[0,]), i < n-2, a < 3; z[i,] >= `abs`(x[i+2-a,]), i < n-2, a < 3; } }\n"),
    "window_repeating": ("x: real[n|9]; w: real[3]", "y: real[~]", "y = o(x, w)", [[(n,), (3,)] for n in (1, 4, 9)],
                         "operator o { @input { x: real[n]; w: real[3]; } @output { y: real[n]; } "
                         "@lower { y[i,] += x[i+j-1 < 0 ? 0 : i+j-1 > n-1 ? n-1 : i+j-1,] * w[j,], i < n, j < 3; } }\n"),
    "window_with_holes": ("x: real[n|9]", "y: real[~]; z: real[~]", "y, z = o(x)", [[(n,)] for n in (1, 4, 9)],
                          "operator o { @input { x: real[n]; } @output { y: real[n]; z: real[n]; } "
                          "@lower { y[i,] >= x[|i+a-2|,], i < n, a < 5 | a != 2; z[i,] += x[|i-2*a+3|,], i < n, a < 4 | a != 1 && a < 3; } }\n"),
    # Indices that are split into quotients and remainders.
    "blocks": ("x: real[8,h|4,v|5]", "y: real[2,~,~]; z: real[8,~,~]", "y = down(x); z = up(y)", [[(8, h, v)] for h, v in ((1, 1), (4, 5), (3, 2))],
               "operator down { @input { x: real[c*4,h,v]; } @output { y: real[c,2*h,2*v]; } @lower { y[k,i,j] = x[k*4+(i%2)*2+j%2,i/2,j/2], k < c, i < 2*h, j < 2*v; } }\n"
               "operator up { @input { x: real[c,2*h,2*v]; } @output { y: real[c*4,h,v]; } @lower { y[k,i,j] = x[k/4,2*i+(k%4)/2,2*j+k%2], k < c*4, i < h, j < v; } }\n"),
    "groups_apart": ("x: real[6,n|7]; w: real[4,3,2]", "y: real[4,~]", "y = o(x, w)", [[(6, n), (4, 3, 2)] for n in (2, 5, 7)],
                     "operator o { @input { x: real[6,n]; w: real[4,3,2]; } @output { y: real[4,n-1]; } @lower { y[q,i] += x[(q/2)*3+p,i+j] * w[q,p,j], q < 4, p < 3, i < n-1, j < 2; } }\n"),
    "backwards": ("x: real[~|6]", "y: real[~]; z: real[~]", "y = layout.slice{axes=[0], begin=[-1], end=[0], stride=[-1]}(x); z = layout.slice{axes=[0], begin=[-2], end=[0], stride=[-2]}(x)",
                  [[(n,)] for n in (2, 5, 6)]),
    # Formulas on ints have the same forms as those on reals.
    "int_contraction": ("a: int[3,k|5]; b: int[k,2]", "y: int[3,2]", "y = o(a, b)", [[(3, n), (n, 2)] for n in (0, 1, 3, 5)],
                        "operator o { @input { a: int[n,k]; b: int[k,m]; } @output { y: int[n,m]; } @lower { y[i,j] += a[i,l] * b[l,j], i < n, j < m, l < k; } }\n"),
    "int_convolution": ("x: int[2,n|9]; w: int[4,2,3]", "y: int[4,~]", "y = o(x, w)", [[(2, n), (4, 2, 3)] for n in (1, 5, 9)],
                        "operator o { @input { x: int[c,n]; w: int[o,c,k]; } @output { y: int[o,n]; } "
                        "@lower { y[q,i] += x[p,i+j-1] * w[q,p,j], q < o, p < c, i < n, j < k | i+j-1 >= 0 && i+j-1 < n; } }\n"),
    "int_windows": ("x: int[9]", "y: int[7]; z: int[7]", "y, z = o(x)", [[(9,)]] * 3,
                    "operator o { @input { x: int[n]; } @output { y: int[n-2]; z: int[n-2]; } @lower { y[i,] += x[i+a,], i < n-2, a < 3; z[i,] >= x[i+a,], i < n-2, a < 3; } }\n"),
    "added_all_open": ("x: real[~|5]; z: real[~|3,~|5]", "y: real[~,~]", "y = math.add(x, z)", [[(m,), (n, m)] for n, m in ((1, 1), (3, 5), (2, 0))]),
    "normalized_batch": ("x: real[~|3,~|4,2]; m: real[~|4]; v: real[~|4]; o: real[~|4]; s: real[~|4]", "y: real[~,~,~]", "w = math.mul(v, v); y = nn.batch_norm(x, m, w, o, s)",
                         [[(n, c, 2)] + 4 * [(c,)] for n, c in ((1, 1), (3, 4), (2, 3))]),
    "pool_same_open": ("x: real[~|7,~|6]", "y: real[~,~]", "y = nn.max_pool{axes=[0, 1], size=[3, 3], stride=[2, 2], ceil_mode=true}(x)",
                       [[s] for s in ((3, 3), (7, 6), (4, 5), (6, 3))]),
    "pool_lower_open": ("x: real[~|7,~|6]", "y: real[~,~]", "y = nn.avg_pool{axes=[0, 1], size=[3, 3], stride=[2, 2], padding_align='LOWER'}(x)",
                        [[s] for s in ((3, 3), (7, 6), (4, 5), (6, 3))]),
    "split_open": ("x: real[~|8,2]", "y: real[~,~]; z: real[~,~]", "[y, z] = layout.split{axis=0, count=2}(x)", [[(n, 2)] for n in (2, 8, 4)]),
    "halved": ("x: real[~|6]", "y: real[~]", "y = layout.slice{axes=[0], begin=[1], end=[-1]}(x)", [[(n,)] for n in (2, 3, 6)]),
    "joined_three": ("a: real[~|4,2]; b: real[~|3,2]; c: real[~|2,2]", "y: real[~,~]", "y = layout.concat{axis=0}([a, b, c])",
                     [[(k, 2), (m, 2), (n, 2)] for k, m, n in ((2, 3, 1), (0, 1, 2), (4, 3, 2), (1, 0, 0), (0, 0, 0))]),
    "stacked": ("a: real[~|4]; b: real[~|4]", "y: real[~,~]", "y = layout.stack{axis=1}([a, b])", [[(n,), (n,)] for n in (0, 1, 4)]),
    "squeezed": ("x: real[~|4,~|2]", "y: real[~]", "y = layout.squeeze{axes=[1]}(x)", [[(n, 1)] for n in (0, 1, 4)]),
    "upsampled": ("x: real[~|3,~|4]", "y: real[~,~]", "y = image.nearest_upsample{axes=[1], factor=[2]}(x)", [[(1, 2)], [(3, 4)]]),
    "spread": ("x: real[n|5,1]; z: real[1,m|3]", "y: real[~,~]", "y = math.mul(x, z)", [[(2, 1), (1, 3)], [(5, 1), (1, 1)]]),
}

def read(inputs, shapes, extents, place, guard="", kind="="):
    """A model that reads inputs with static shapes at subscripts that share indices."""
    names = ["i", "j", "k"][:len(extents)]
    bounds = ", ".join("%s < %d" % pair for pair in zip(names, extents))
    return (inputs, "y: real[%s]" % ",".join(str(e) for e in extents), "y = o(%s)" % ", ".join(i.split(":")[0] for i in inputs.split("; ")), [shapes],
            "operator o { @input { %s; } @output { y: real[%s]; } @lower { %sy[%s] %s %s, %s%s; } }\n" % (
                inputs, ",".join(str(e) for e in extents), "y[%s] = 0.0, %s; " % (",".join(names) + "," * (len(names) == 1), bounds) if guard else "",
                ",".join(names) + "," * (len(names) == 1), kind, place, bounds, guard))


# Diagonals and windows of static tensors: rows of one dimension.
MODELS |= {
    "diagonal": read("x: real[5,5]", [(5, 5)], (5,), "x[i,i]"),
    "diagonal_next": read("x: real[5,7]", [(5, 7)], (5,), "x[i,i+2]"),
    "diagonal_other": read("x: real[4,5]", [(4, 5)], (4,), "x[i,4-i]"),
    "diagonal_batch": read("x: real[3,4,4]", [(3, 4, 4)], (3, 4), "x[i,j,j]"),
    "diagonal_around": read("x: real[4,3,4]", [(4, 3, 4)], (4, 3), "x[i,j,i]"),
    "diagonal_of_three": read("x: real[4,4,4]", [(4, 4, 4)], (4,), "x[i,i,i]"),
    "diagonal_border": read("x: real[5,5]", [(5, 5)], (7,), "x[i-1,i-2]", " | i >= 2 && i < 6", "+="),
    "trace": ("x: real[5,5]", "y: real[1]", "y = o(x)", [[(5, 5)]],
              "operator o { @input { x: real[5,5]; } @output { y: real[1]; } @lower { y[0] = 0.0; y[0] += x[i,i], i < 5; } }\n"),
    "steps_meet": read("x: real[12]", [(12,)], (4, 3), "x[2*i+j+1]"),
    "steps_against": read("x: real[13]", [(13,)], (4, 3), "x[2*i-3*j+6]"),
    "steps_of_three": read("x: real[2,12]", [(2, 12)], (3, 4, 2), "x[k,i+2*j+k]"),
    "steps_border": read("x: real[6]", [(6,)], (6, 3), "x[i+j-1]", " | i+j >= 1 && i+j-1 < 6", "+="),
    "steps_of_rows": read("x: real[7,4]", [(7, 4)], (4, 3), "x[i+j,i]"),
    "window_kept": ("x: real[9]; v: real[7]", "y: real[7]", "y = o(x, v)", [[(9,), (7,)]] * 2,
                    "operator o { @input { x: real[9]; v: real[7]; } @output { y: real[7]; } @lower { y[i] = 0.0, i < 7; y[i] += x[i+j] * v[i], i < 7, j < 3; } }\n"),
    "three_factors": ("x: real[9]; w: real[3]; g: real[3]", "y: real[7]", "y = o(x, w, g)", [[(9,), (3,), (3,)]] * 2,
                      "operator o { @input { x: real[9]; w: real[3]; g: real[3]; } @output { y: real[7]; } @lower { y[i] = 0.0, i < 7; y[i] += x[i+j] * w[j] * g[j], i < 7, j < 3; } }\n"),
}

# Models with a formula for which no better form exists.
GATHERED = {"cumulative": "while", "places": "while", "counted": "scatter", "counted_within": "scatter", "counted_pairs": "scatter", "counted_rows": "scatter",
            "flattened_long": "scatter", "chosen": "gather", "depthwise_long": "scatter"}


def unraised(path, name):
    """Describes formulas of a program that do not have the expected forms, or returns None."""
    with open(path + ".forms") as file:
        forms = {line.rstrip("\n").split("\t")[2] for line in file}
    found = forms & {"resample", "gather", "scatter", "general", "while"}
    return "has forms %s" % sorted(found) if not found <= {GATHERED.get(name)} else None


def write(folder, inputs, outputs, computes, operators=""):
    modules = [name for name in ("math", "linalg", "layout", "nn", "algo", "image", "rand") if name + "." in computes]
    lines = ["import %s;" % name for name in modules]
    lines += [operators, "graph G {", "@input { %s; }" % inputs, "@output { %s; }" % outputs, "@compose { %s; }" % computes, "}"]
    with open(os.path.join(folder, "main.sknd"), "w") as file:
        file.write("\n".join(lines) + "\n")


def array(random, declaration, shape):
    import numpy
    if ": int" in declaration:
        return random.integers(0, 2, shape).astype(numpy.int64)
    if ": bool" in declaration:
        return random.integers(0, 2, shape).astype(bool)
    return random.standard_normal(shape).astype(numpy.float32)


def case_of(skript, folder, number, inputs, outputs, shapes, array=array):
    """A case like those of the conformance suite: files of inputs and of the evaluator's results; `array` creates an input."""
    import numpy
    random = numpy.random.default_rng(number)
    meta = {"inputs": {}, "outputs": {}}
    command = [skript, "run", folder, "--engine=reference", "--output-dir", folder]
    for declaration, shape in zip(inputs.split("; "), shapes):
        name = declaration.split(":")[0]
        meta["inputs"][name] = "%s.in.npy" % name
        numpy.save(os.path.join(folder, meta["inputs"][name]), array(random, declaration, shape))
        command += ["--input", "%s=%s" % (name, os.path.join(folder, meta["inputs"][name]))]
    meta["outputs"] = {name: name + ".npy" for name in (o.split(":")[0] for o in outputs.split("; "))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise ValueError("the evaluator: " + done.stderr.strip())
    return "", folder, meta


def run(description, what, models, array=array, check=lambda path, name: None):
    """Compares models with the evaluator; `check` returns errors of a program other than wrong values. Returns the exit status."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--case", action="append")
    shards.add_argument(parser)
    args = parser.parse_args()
    xla.require()
    skript, engine, runs, failures = os.path.abspath(args.skript), xla.Xla(), 0, 0
    chosen = {n: m for n, m in models.items() if not args.case or any(c in n for c in args.case)}
    chosen = dict(shards.shard(list(chosen.items()), args.shard))
    for name, (inputs, outputs, computes, sizes, *operators) in chosen.items():
        with tempfile.TemporaryDirectory() as folder:
            write(folder, inputs, outputs, computes, *operators)
            path = os.path.join(folder, "program.mlir")
            reason = xla.export(skript, ("", folder, {}), path, []) or check(path, name)
            for number, shapes in enumerate(sizes):
                runs += 1
                said = reason
                if said is None:
                    try:
                        said = xla.judge(engine, case_of(skript, folder, number, inputs, outputs, shapes, array), path)
                    except ValueError as error:
                        said = str(error)
                if said:
                    failures += 1
                    print("FAIL %s %s, run %d: %s" % (name, shapes, number, said))
    print("%s in XLA: %d models, %d runs, %d equal" % (what, len(chosen), runs, runs - failures))
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, "padded StableHLO", MODELS, check=unraised))
