// SPDX-License-Identifier: Apache-2.0
//! The blocks of a composite operator: `@compose` and `@update` (2.10, 2.11).

pub(super) mod compose;
pub(super) mod update;
