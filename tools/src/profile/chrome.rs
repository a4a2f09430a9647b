// SPDX-License-Identifier: Apache-2.0
//! The executions of the steps over time, in the trace event format of Chrome's tracer, which Perfetto also reads.

use serde_json::json;

use super::Recorded;

impl Recorded {
    /// One complete event for each execution of a step; times are in microseconds.
    pub(super) fn chrome(&self) -> String {
        let rows = self.rows();
        let microseconds = |time: std::time::Duration| time.as_nanos() as f64 / 1e3;
        let event = |span: &skript_runtime::profile::Span| {
            let row = rows.get(span.step)?;
            Some(json!({
                "name": row.operator,
                "cat": "step",
                "ph": "X",
                "ts": microseconds(span.begin),
                "dur": microseconds(span.length),
                "pid": 1,
                "tid": 1,
                "args": {
                    "location": row.location,
                    "kernel": row.kernel,
                    "layout": row.layout,
                    "flops": row.flops,
                    "bytes": row.bytes,
                },
            }))
        };
        let events: Vec<_> = self.profile.spans.iter().filter_map(event).collect();
        let trace = json!({
            "traceEvents": events,
            "displayTimeUnit": "ns",
            "otherData": {
                "model": self.model,
                "calls": self.calls,
                "prepare_us": self.prepared.map(microseconds),
            },
        });
        format!("{trace}\n")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn events_are_complete_and_in_microseconds() {
        let text = super::super::tests::recorded().chrome();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let event = &read["traceEvents"][1];
        assert_eq!(event["ph"], "X");
        assert_eq!(event["ts"], 7.0);
        assert_eq!(event["dur"], 3.0);
        assert_eq!(event["name"], "nn.soft<max>/math.exp");
        assert_eq!(read["otherData"]["prepare_us"], 1500.0);
    }
}
