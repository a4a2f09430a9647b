// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `bufferization`.

use super::ops;
use super::typed::typed;

typed! {
    /// `bufferization.to_tensor`.
    ToTensor = ops::bufferization::TO_TENSOR { buffer = 0 };
    /// `bufferization.to_buffer`.
    ToBuffer = ops::bufferization::TO_BUFFER { tensor = 0 };
    /// An operation that writes one tensor to a part of another one, or to all of it.
    Insertion = ops::tensor::INSERT_SLICE | ops::bufferization::MATERIALIZE_IN_DESTINATION {
        source = 0,
        destination = 1
    };
    /// `bufferization.materialize_in_destination`.
    Materialization = ops::bufferization::MATERIALIZE_IN_DESTINATION {
        source = 0,
        destination = 1
    };
}
