//! One file per diagnostic: its code, its explanation, and at its foot a test that fires it and a near miss.

use super::Code;

/// Declares the modules of this folder and the list of all codes.
macro_rules! codes {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        $(pub use $module::*;)*
        /// All codes, in order of their ids.
        pub const ALL: &[&Code] = &[$(&$module::CODE_ENTRY),*];
    };
}

codes! {
    sk0201_syntax,
}
