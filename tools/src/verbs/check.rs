//! `skript check`: everything that can be found without running.

use crate::command_line::CheckArguments;
use crate::console::{Console, Status};
use crate::session::{Session, Weights};

pub fn run(arguments: &CheckArguments, console: &mut Console) -> Status {
    let mut session = Session::open(&arguments.model, &arguments.reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done {
        let missing = session.missing_attributes();
        if missing.is_empty() {
            if let Some(model) = session.compose()
                && arguments.weights
            {
                session.variables(&model, Weights::of_the_model());
            }
        } else {
            // Definitions are proven without values; shapes need them.
            let text = format!(
                "note: shapes are not checked, for {} no value; give it with --set\n",
                match missing.as_slice() {
                    [one] => format!("attribute `{one}` has"),
                    several => format!("attributes {} have", several.join(", ")),
                }
            );
            console.write(&text);
        }
    }
    session.close(console)
}
