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

    /// Adds a message of the user, and begins the answer.
    ///
    /// # Errors
    /// [`Error::Template`] if the file has no template, or the template fails; the errors of
    /// [`LanguageModel::encode_prompt`] and [`Generation::new`]. The message is then not added.
    pub fn ask(
        &mut self,
        model: &LanguageModel,
        text: &str,
        options: &GenerationOptions,
    ) -> Result<Generation, Error> {
        self.messages.push(Message::new("user", text));
        let generation = self.answer(model, options);
        if generation.is_err() {
            self.messages.pop();
        }
        generation
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
