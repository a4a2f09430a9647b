// SPDX-License-Identifier: Apache-2.0
//! The stages of a verb: a table of their times (`--timings`), and a progress bar for long compilations.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skript_passes::observer;

use crate::console::Console;

/// The stage before the compiler's stages: reading, checking and composing a document.
const FIRST: &str = "compose";

/// The progress bar appears after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// Records the stages on this thread until [`Timings::end`].
pub struct Timings {
    begun: Rc<RefCell<Vec<(&'static str, Instant)>>>,
    bar: Option<Bar>,
}

impl Timings {
    /// Begins with the first stage. The progress bar appears only on a terminal.
    pub fn begin(console: &Console) -> Timings {
        let begun = Rc::new(RefCell::new(vec![(FIRST, Instant::now())]));
        let bar = console.is_terminal().then(Bar::new);
        let (record, shown) = (Rc::clone(&begun), bar.clone());
        observer::observe(Some(Box::new(move |stage| {
            record.borrow_mut().push((stage, Instant::now()));
            if let Some(bar) = &shown {
                bar.show(stage);
            }
        })));
        Timings { begun, bar }
    }

    /// Ends the last stage; writes the table if `print` is set.
    pub fn end(self, print: bool, console: &mut Console) {
        observer::observe(None);
        if let Some(bar) = self.bar {
            bar.close();
        }
        if print {
            console.write(&table(&spent(&self.begun.borrow(), Instant::now())));
        }
    }
}

/// The time of each stage, in the order in which the stages first begin.
fn spent(begun: &[(&'static str, Instant)], end: Instant) -> Vec<(&'static str, Duration)> {
    let ends = begun.iter().skip(1).map(|(_, begin)| *begin).chain([end]);
    let mut spent: Vec<(&str, Duration)> = Vec::new();
    for ((stage, begin), end) in begun.iter().zip(ends) {
        let time = end.duration_since(*begin);
        match spent.iter_mut().find(|(known, _)| known == stage) {
            Some((_, sum)) => *sum += time,
            None => spent.push((stage, time)),
        }
    }
    spent
}

fn table(spent: &[(&str, Duration)]) -> String {
    let total: Duration = spent.iter().map(|(_, time)| *time).sum();
    let line = |stage: &str, time: Duration| {
        let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
        let time = 1000.0 * time.as_secs_f64();
        format!("{stage:<10} {time:>10.1} {share:>6.1} %\n")
    };
    let mut text = format!("{:<10} {:>10} {:>8}\n", "stage", "ms", "share");
    for (stage, time) in spent {
        text.push_str(&line(stage, *time));
    }
    text.push_str(&line("total", total));
    text
}

/// A progress bar on stderr, hidden at first.
#[derive(Clone)]
struct Bar {
    bar: ProgressBar,
    /// Whether the bar is closed, so that it no longer appears.
    closed: Arc<AtomicBool>,
    /// Locked while the bar appears or closes.
    turn: Arc<Mutex<()>>,
}

impl Bar {
    fn new() -> Bar {
        let stages = observer::STAGES.len() as u64;
        let bar = ProgressBar::with_draw_target(Some(stages), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("compiling {bar:24} {pos}/{len} {msg} {elapsed}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        let bar = Bar { bar, closed: Arc::default(), turn: Arc::default() };
        let waiting = bar.clone();
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            waiting.appear();
        });
        bar
    }

    fn appear(&self) {
        let turn = self.turn.lock();
        if !self.closed.load(Ordering::SeqCst) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
        drop(turn);
    }

    /// Shows a stage of the compiler. Any other stage follows compilation, so it closes the bar.
    fn show(&self, stage: &'static str) {
        match observer::STAGES.iter().position(|known| *known == stage) {
            Some(done) => {
                self.bar.set_position(done as u64);
                self.bar.set_message(stage);
            }
            None => self.close(),
        }
    }

    fn close(&self) {
        let turn = self.turn.lock();
        if !self.closed.swap(true, Ordering::SeqCst) {
            self.bar.disable_steady_tick();
            self.bar.finish_and_clear();
        }
        drop(turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_stages_are_one_row() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let begun = [("compose", start), ("lower", after(10)), ("code", after(30)), ("lower", after(60))];
        let spent = spent(&begun, after(100));
        let ms: Vec<_> = spent.iter().map(|(stage, time)| (*stage, time.as_millis())).collect();
        assert_eq!(ms, [("compose", 10), ("lower", 60), ("code", 30)]);
        let table = table(&spent);
        assert!(table.contains("lower            60.0   60.0 %\n"), "{table}");
        assert!(table.ends_with("total           100.0  100.0 %\n"), "{table}");
    }
}
