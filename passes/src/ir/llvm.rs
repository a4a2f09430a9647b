// SPDX-License-Identifier: Apache-2.0
//! Operations of LLVM's dialect.

use super::ops;
use super::typed::typed;

typed! {
    /// `llvm.load`.
    Load = ops::llvm::LOAD { address = 0 };
    /// `llvm.store`.
    Store = ops::llvm::STORE { value = 0, address = 1 };
    /// `llvm.getelementptr`.
    ElementPointer = ops::llvm::GETELEMENTPTR { base = 0 };
    /// `llvm.cond_br`.
    ConditionalBranch = ops::llvm::COND_BR { condition = 0 };
    /// A division of integers, or its remainder.
    Division = ops::llvm::SDIV | ops::llvm::UDIV | ops::llvm::SREM | ops::llvm::UREM {
        dividend = 0,
        divisor = 1
    };
}
