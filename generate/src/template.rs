// SPDX-License-Identifier: Apache-2.0
//! The chat template of a file: a Jinja template that writes a conversation as a prompt.
//!
//! Templates are untrusted. They have no access to files, and their steps, their nesting, their output and their time are bounded.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error as Failure, ErrorKind, Value, context};
use minijinja_contrib::pycompat::unknown_method_callback;
use skript_tensor::Gguf;

use crate::error::Error;
use crate::metadata::Metadata;

const KEY: &str = "tokenizer.chat_template";
/// The maximum number of steps; a message takes fewer than a thousand in usual templates.
const FUEL: u64 = 1_000_000;
/// The maximum depth of nested calls.
const MAX_DEPTH: usize = 100;
/// The maximum length of a template in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The maximum time. Steps do not include the time of functions, such as counting the items of concatenated lists.
const TIME: Duration = Duration::from_secs(5);

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The author: `system`, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

impl Message {
    /// A message with this author and this text.
    pub fn new(role: &str, content: &str) -> Self {
        Message { role: role.to_owned(), content: content.to_owned() }
    }
}

/// The chat template of a file.
#[derive(Debug)]
pub struct ChatTemplate {
    environment: Arc<Environment<'static>>,
}

impl ChatTemplate {
    /// Reads the template of a file; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Template`] if it is not a template, or too long.
    pub fn read(file: &Gguf) -> Result<Option<Self>, Error> {
        let source = Metadata(file).text(KEY)?;
        let template = source.map(ChatTemplate::parse).transpose();
        template.map_err(|error| Error::Template(format!("{}: {error}", file.path().display())))
    }

    /// Parses a template.
    ///
    /// # Errors
    /// [`Error::Template`] if it is not a template, or too long.
    pub fn parse(source: &str) -> Result<Self, Error> {
        if source.len() > MAX_BYTES {
            return Err(Error::Template(format!("the chat template has more than {MAX_BYTES} bytes")));
        }
        let mut environment = Environment::new();
        // The options of Hugging Face's transformers, which templates are written for.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| Error::Template(error.to_string()))?);
        environment.set_unknown_method_callback(unknown_method_callback);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(MAX_DEPTH);
        environment.add_function("raise_exception", raise);
        let added = environment.add_template_owned("chat", source.to_owned());
        added.map_err(|error| Error::Template(format!("the chat template is wrong: {error}")))?;
        Ok(ChatTemplate { environment: Arc::new(environment) })
    }

    /// Writes a conversation as a prompt that the model continues with an answer. `beginning` and `end` are the texts of the tokens
    /// that templates insert as `bos_token` and `eos_token`.
    ///
    /// # Errors
    /// [`Error::Template`] if the template rejects the conversation or exceeds a bound.
    pub fn render(&self, messages: &[Message], beginning: &str, end: &str) -> Result<String, Error> {
        let message = |message: &Message| context! { role => message.role.as_str(), content => message.content.as_str() };
        let messages: Vec<Value> = messages.iter().map(message).collect();
        let values = context! {
            messages => messages,
            add_generation_prompt => true,
            bos_token => beginning,
            eos_token => end,
        };
        let (sender, receiver) = mpsc::channel();
        let environment = Arc::clone(&self.environment);
        // A thread that does not finish in time remains, because threads cannot be ended.
        thread::spawn(move || {
            let rendered = environment.get_template("chat").and_then(|template| template.render(values));
            let _ = sender.send(rendered.map_err(|error| error.to_string()));
        });
        let late = |_| Err(format!("it did not finish within {} s", TIME.as_secs()));
        let rendered = receiver.recv_timeout(TIME).unwrap_or_else(late);
        rendered.map_err(|error| Error::Template(format!("the chat template failed: {error}")))
    }
}

/// Templates call this function to reject a conversation.
fn raise(text: String) -> Result<Value, Failure> {
    Err(Failure::new(ErrorKind::InvalidOperation, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(source: &str, messages: &[Message]) -> Result<String, String> {
        let template = ChatTemplate::parse(source).map_err(|e| e.to_string())?;
        template.render(messages, "<s>", "</s>").map_err(|e| e.to_string())
    }

    #[test]
    fn blocks_are_trimmed_and_python_methods_exist() {
        let source = "{{ bos_token }}\n{% for m in messages %}\n  {% if m['role'] == 'user' %}\n[{{ m.content.strip() }}]\n  {% endif %}\n{% endfor %}\n{% if add_generation_prompt %}>{% endif %}";
        let messages = [Message::new("system", "x"), Message::new("user", " a ")];
        assert_eq!(render(source, &messages).unwrap(), "<s>\n[a]\n>");
    }

    #[test]
    fn templates_reject_conversations() {
        let wrong = render("{{ raise_exception('no system') }}", &[]).unwrap_err();
        assert!(wrong.contains("the chat template failed: ") && wrong.contains("no system"), "{wrong}");
    }

    #[test]
    fn templates_have_bounds_and_no_files() {
        let long = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
        for source in [
            long,
            "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
            "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
            "{% include '/etc/passwd' %}",
            "{{ 'a' * 10000000000 }}",
            "{% set ns = namespace(x=[1]) %}{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x|length }}",
        ] {
            assert!(render(source, &[]).is_err(), "{source}");
        }
        assert!(render("{% for %}", &[]).unwrap_err().contains("the chat template is wrong"));
        assert!(ChatTemplate::parse(&" ".repeat(MAX_BYTES + 1)).is_err());
    }
}
