// SPDX-License-Identifier: Apache-2.0
//! The steps as a list in JSON.

use serde_json::json;

use super::{Recorded, Row};

impl Recorded {
    /// An array with an object for each step, in program order.
    pub(super) fn list(&self) -> String {
        let entry = |row: Row| {
            json!({
                "operator": row.operator,
                "location": row.location,
                "kernel": row.kernel,
                "layout": row.layout,
                "ns": row.nanoseconds.floor() as u64,
                "flops": row.flops,
                "bytes": row.bytes,
            })
        };
        let entries: Vec<_> = self.rows().into_iter().map(entry).collect();
        format!("{:#}\n", serde_json::Value::from(entries))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_step_has_all_fields() {
        let text = super::super::tests::recorded().list();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            read[0],
            serde_json::json!({
                "operator": "nn.conv + nn.relu", "location": "a-1.sknd:3:5", "kernel": "kernel_0",
                "layout": "row-major", "ns": 6000, "flops": 12000, "bytes": 4000,
            })
        );
        assert!(read[1]["flops"].is_null());
        assert_eq!(read.as_array().unwrap().len(), 2);
    }
}
