// SPDX-License-Identifier: Apache-2.0
//! The table of the steps.

use super::{Recorded, Row};
use crate::measure::duration_text;
use crate::table::aligned;
use std::time::Duration;

const TITLES: [&str; 8] = ["time", "share", "GFLOP/s", "GB/s", "operator", "location", "kernel", "layout"];

impl Recorded {
    /// A line for each step in program order, and one for the time outside of all steps.
    pub(super) fn table(&self) -> String {
        let total = self.total();
        let share = |time: f64| format!("{:.1} %", 100.0 * time / total.max(1.0));
        let rate = |amount: u64, time: f64| format!("{:.2}", amount as f64 / time.max(1.0));
        let mut lines: Vec<[String; 8]> = vec![TITLES.map(str::to_owned)];
        let line = |row: Row| {
            let time = row.nanoseconds;
            let flops = row.flops.map(|flops| rate(flops, time));
            [
                text(time),
                share(time),
                flops.unwrap_or_else(|| "?".to_owned()),
                rate(row.bytes, time),
                row.operator,
                row.location,
                row.kernel,
                row.layout,
            ]
        };
        lines.extend(self.rows().into_iter().map(line));
        let [time, share] = [text(self.rest()), share(self.rest())];
        let none = String::new;
        lines.push([time, share, none(), none(), "(other)".to_owned(), none(), none(), none()]);
        let mut table = aligned(&lines, 4);
        let plural = if self.calls == 1 { "" } else { "s" };
        let of = match self.calls {
            1 => "1 call".to_owned(),
            n => format!("a call, on average of {n} call{plural}"),
        };
        table.push_str(&format!("{} for {of}\n", text(total)));
        if let Some(time) = self.prepared {
            let time = duration_text(time, 0);
            table.push_str(&format!("{time} to prepare variables, once before the first call\n"));
        }
        table
    }
}

fn text(nanoseconds: f64) -> String {
    duration_text(Duration::from_nanos(nanoseconds as u64), 0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_are_aligned_and_the_rest_is_named() {
        let table = super::super::tests::recorded().table();
        assert_eq!(
            table,
            "    time   share  GFLOP/s  GB/s  operator               location      kernel    layout\n\
             6.000 µs  60.0 %     2.00  0.67  nn.conv + nn.relu      a-1.sknd:3:5  kernel_0  row-major\n\
             3.000 µs  30.0 %        ?  0.10  nn.soft<max>/math.exp  a-1.sknd:5:5  map       row-major\n\
             1.000 µs  10.0 %                 (other)\n\
             10.000 µs for a call, on average of 2 calls\n\
             1.500 ms to prepare variables, once before the first call\n"
        );
    }
}
