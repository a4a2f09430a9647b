//! Setting attributes of operations in place.

use melior::ir::operation::{OperationMutLike, OperationRefMut};
use melior::ir::{Attribute, OperationRef};

/// Gives the operation an attribute; an older one of the name goes.
pub fn set<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str, value: Attribute<'c>) {
    // SAFETY: the operation is valid, and the reference is the only one that changes it here.
    let mut op: OperationRefMut<'c, 'a> = unsafe { OperationRefMut::from_raw(op.to_raw()) };
    op.set_attribute(name, value);
}
