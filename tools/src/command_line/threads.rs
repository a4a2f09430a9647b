// SPDX-License-Identifier: Apache-2.0
//! The number of threads of compiled code.

use clap::Args;

#[derive(Debug, Args)]
pub struct ThreadArguments {
    /// Number of threads of compiled code; by default, the number of CPUs of this process. Results do not depend on it
    #[arg(long, env = "SKRIPT_NUM_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl ThreadArguments {
    /// Makes the number the default of this process, if the option is given.
    pub fn apply(&self) {
        if let Some(threads) = self.threads {
            skript_runtime::threads::set_default_threads(threads.into());
        }
    }
}
