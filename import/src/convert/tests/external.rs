// SPDX-License-Identifier: Apache-2.0
//! Tests of external data.

use super::*;

#[test]
fn external_data_stays_in_the_folder() {
    for (location, reason) in [
        ("../w.bin", "outside of the model's folder"),
        ("/etc/passwd", "outside"),
        ("none.bin", "No such file"),
    ] {
        let entry = StringStringEntryProto { key: "location".into(), value: location.into() };
        let tensor = TensorProto {
            name: "w".into(),
            dims: vec![2],
            data_type: 1,
            data_location: 1,
            external_data: vec![entry],
            ..TensorProto::default()
        };
        let text = statements(
            vec![value("x", F32, &["2"])],
            vec![tensor],
            vec![node("Add", &["x", "w"], &["y"], vec![])],
        );
        assert!(text.contains(reason), "{text}");
    }
}
