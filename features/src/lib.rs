// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
