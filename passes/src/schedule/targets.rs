// SPDX-License-Identifier: Apache-2.0
//! Targets as data: architectures, processors, and GPUs.

pub(crate) mod architectures;
pub(crate) mod cpus;
mod features;
pub(crate) mod gpus;
pub(crate) mod triples;
