// SPDX-License-Identifier: Apache-2.0
//! Nothing to do: Cargo considers the dependencies of a build script only where there is one.

fn main() {}
