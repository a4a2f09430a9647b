// SPDX-License-Identifier: Apache-2.0
//! A conversation with a model.

use crate::error::Error;
use crate::generation::{Generation, GenerationOptions};
use crate::model::LanguageModel;
use crate::template::Message;

/// A conversation. Its messages remain in the cache of the model while the template writes them as before.
#[derive(Clone, Debug, Default)]
pub struct Chat {
    messages: Vec<Message>,
}

impl Chat {
    /// A conversation that begins with instructions of the system, if there are any.
    pub fn new(system: Option<&str>) -> Self {
        Chat { messages: system.iter().map(|text| Message::new("system", text)).collect() }
    }

    /// A conversation that has these messages already.
    pub fn from_messages(messages: Vec<Message>) -> Self {
        Chat { messages }
    }

    /// Adds a message of the user, and begins the answer. Removes the oldest turns while the context does not hold them, the message
    /// and some of the answer.
    ///
    /// # Errors
    /// [`Error::Template`] if the file has no template, or the template fails; the errors of
    /// [`LanguageModel::encode_prompt`] and [`Generation::new`]. The messages are then those of before.
    pub fn ask(
        &mut self,
        model: &LanguageModel,
        text: &str,
        options: &GenerationOptions,
    ) -> Result<Generation, Error> {
        let before = self.messages.clone();
        self.messages.push(Message::new("user", text));
        loop {
            let answer = self.answer(model, options);
            let is_full = match &answer {
                Ok(generation) => !has_space(generation.prompt().len(), model.context(), options.max_tokens),
                Err(error) => matches!(error, Error::Context { .. }),
            };
            if is_full && self.forget() {
                continue;
            }
            if answer.is_err() {
                self.messages = before;
            }
            return answer;
        }
    }

    /// Removes the oldest message of the user with its answers. Returns whether there was one before the last message.
    fn forget(&mut self) -> bool {
        let is_user = |message: &Message| message.role == "user";
        let users: Vec<usize> =
            (0..).zip(&self.messages).filter(|(_, message)| is_user(message)).map(|(n, _)| n).collect();
        let [first, second, ..] = users[..] else {
            return false;
        };
        self.messages.drain(first..second);
        true
    }

    /// Begins the answer to the last message.
    ///
    /// # Errors
    /// The errors of [`Chat::ask`].
    pub fn answer(&self, model: &LanguageModel, options: &GenerationOptions) -> Result<Generation, Error> {
        let prompt = self.prompt(model)?;
        Generation::new(model, &model.encode_prompt(&prompt)?, options)
    }

    /// The conversation as the template writes it, with the beginning of an answer.
    ///
    /// # Errors
    /// [`Error::Template`] if the file has no template, or the template fails.
    pub fn prompt(&self, model: &LanguageModel) -> Result<String, Error> {
        let template = model.template()?;
        let tokenizer = model.tokenizer();
        let vocabulary = tokenizer.vocabulary();
        let beginning = tokenizer.mark(vocabulary.beginning);
        let end = tokenizer.mark(vocabulary.ends.first().copied());
        template.render(&self.messages, beginning, end)
    }

    /// Adds the answer to the last message.
    pub fn answered(&mut self, text: &str) {
        self.messages.push(Message::new("assistant", text));
    }

    /// The messages.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }
}

/// The part of the context that an answer has, unless it is shorter.
const ANSWER_SHARE: usize = 4;

/// Whether a context has space for the answer to a prompt.
fn has_space(prompt: usize, context: usize, answer: Option<usize>) -> bool {
    let least = context / ANSWER_SHARE;
    prompt.saturating_add(answer.map_or(least, |answer| answer.min(least))) <= context
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_turn_is_forgotten_first() {
        let message = |(role, text): &(&str, &str)| Message::new(role, text);
        let all = [
            ("system", "s"),
            ("user", "a"),
            ("assistant", "b"),
            ("user", "c"),
            ("assistant", "d"),
            ("user", "e"),
        ];
        let mut chat = Chat::from_messages(all.iter().map(message).collect());
        let mut left = || {
            let is_shorter = chat.forget();
            (is_shorter, chat.messages().iter().map(|message| message.content.clone()).collect::<String>())
        };
        assert_eq!(left(), (true, "scde".to_owned()));
        assert_eq!(left(), (true, "se".to_owned()));
        assert_eq!(left(), (false, "se".to_owned()));
    }

    #[test]
    fn an_answer_has_a_part_of_the_context() {
        assert!(has_space(75, 100, None) && !has_space(76, 100, None));
        assert!(has_space(90, 100, Some(10)) && !has_space(91, 100, Some(10)));
        assert!(!has_space(76, 100, Some(1000)));
    }
}
