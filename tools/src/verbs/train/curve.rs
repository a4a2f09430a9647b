// SPDX-License-Identifier: Apache-2.0
//! The outputs of all epochs, as a table and as a picture.

use std::fmt::Write as _;

/// The means of the outputs in each epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The values by epoch.
    pub rows: Vec<Vec<f64>>,
}

const SIZE: (f64, f64) = (640.0, 360.0);
const MARGIN: (f64, f64) = (64.0, 40.0);
const COLOURS: [&str; 6] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"];

impl Curve {
    /// `epoch,loss,validation_loss`, one line for each epoch.
    pub fn csv(&self) -> String {
        let mut text = format!("epoch,{}\n", self.names.join(","));
        for (at, row) in self.rows.iter().enumerate() {
            let values: Vec<String> = row.iter().map(f64::to_string).collect();
            let _ = writeln!(text, "{},{}", at + 1, values.join(","));
        }
        text
    }

    /// The line of an epoch for people.
    pub fn line(&self, epoch: usize) -> String {
        let values = self.rows.get(epoch).into_iter().flatten();
        let named: Vec<String> = self.names.iter().zip(values).map(|(n, v)| format!("{n} {v:.6}")).collect();
        format!("epoch {}: {}\n", epoch + 1, named.join(", "))
    }

    /// A chart of the columns over the epochs. The axis is logarithmic if all values are positive and differ by more than a factor
    /// of 20.
    pub fn svg(&self) -> String {
        let values = || self.rows.iter().flatten().copied().filter(|value| value.is_finite());
        let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let is_log = low > 0.0 && high > 20.0 * low;
        let scaled = |value: f64| if is_log { value.log10() } else { value };
        let (bottom, top) = if low < high { (scaled(low), scaled(high)) } else { (low - 0.5, low + 0.5) };
        let (width, height) = (SIZE.0 - 2.0 * MARGIN.0, SIZE.1 - 2.0 * MARGIN.1);
        let last = self.rows.len().saturating_sub(1).max(1) as f64;
        let x = |epoch: usize| MARGIN.0 + width * epoch as f64 / last;
        let y = |value: f64| MARGIN.1 + height * (top - scaled(value)) / (top - bottom);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#888\"/>\n",
            SIZE.0, SIZE.1, MARGIN.0, MARGIN.1,
        );
        for part in 0..=4 {
            let place = bottom + (top - bottom) * f64::from(part) / 4.0;
            let value = if is_log { 10f64.powf(place) } else { place };
            let at = MARGIN.1 + height * (top - place) / (top - bottom);
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{at:.1}\" text-anchor=\"end\" dominant-baseline=\"middle\">{}</text>",
                MARGIN.0 - 6.0,
                short(value)
            );
        }
        let (foot, right) = (SIZE.1 - MARGIN.1 + 18.0, SIZE.0 - MARGIN.0);
        let _ = writeln!(text, "<text x=\"{}\" y=\"{foot}\">1</text>", MARGIN.0);
        let _ = writeln!(
            text,
            "<text x=\"{right}\" y=\"{foot}\" text-anchor=\"end\">epoch {}</text>",
            self.rows.len()
        );
        for (column, name) in self.names.iter().enumerate() {
            let colour = COLOURS.get(column % COLOURS.len()).copied().unwrap_or("black");
            let points = self.rows.iter().enumerate().filter_map(|(epoch, row)| {
                let value = row.get(column).copied().filter(|value| value.is_finite())?;
                Some(format!("{:.1},{:.1}", x(epoch), y(value)))
            });
            let points = points.collect::<Vec<String>>().join(" ");
            let _ = writeln!(
                text,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n\
                 <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{name}</text>",
                MARGIN.0 + 8.0 + 150.0 * column as f64,
                MARGIN.1 - 12.0
            );
        }
        text.push_str("</svg>\n");
        text
    }
}

/// A number with three digits.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e5).contains(&size) => {
            let digits = (2.0 - size.log10().floor()).clamp(0.0, 6.0);
            format!("{value:.*}", digits as usize)
        }
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(rows: &[&[f64]]) -> Curve {
        Curve {
            names: vec!["loss".to_owned(), "validation_loss".to_owned()],
            rows: rows.iter().map(|row| row.to_vec()).collect(),
        }
    }

    #[test]
    fn a_table_has_one_line_for_each_epoch() {
        let curve = curve(&[&[2.5, 1.0 / 3.0], &[1e-9, f64::NAN]]);
        assert_eq!(curve.csv(), "epoch,loss,validation_loss\n1,2.5,0.3333333333333333\n2,0.000000001,NaN\n");
        assert_eq!(curve.line(0), "epoch 1: loss 2.500000, validation_loss 0.333333\n");
    }

    #[test]
    fn a_linear_chart_spans_the_values() {
        let text = curve(&[&[4.0, 2.0], &[1.0, 3.0], &[2.5, f64::NAN]]).svg();
        assert!(text.contains("points=\"64.0,40.0 320.0,320.0 576.0,180.0\""), "{text}");
        assert!(text.contains("points=\"64.0,226.7 320.0,133.3\""), "{text}");
        assert!(text.contains(">4.00<") && text.contains(">1.00<"), "{text}");
    }

    /// 100, 10 and 1 are equally far apart; without epochs, and with one value, there is nothing to divide by.
    #[test]
    fn other_charts() {
        let text = curve(&[&[100.0, 10.0], &[10.0, 10.0], &[1.0, 10.0]]).svg();
        assert!(text.contains("points=\"64.0,40.0 320.0,180.0 576.0,320.0\""), "{text}");
        assert!(curve(&[]).svg().contains("points=\"\""));
        assert!(curve(&[&[2.0, 2.0]]).svg().contains("points=\"64.0,180.0\""));
    }
}
