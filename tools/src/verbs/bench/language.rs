// SPDX-License-Identifier: Apache-2.0
//! `skript bench` for the language model of a GGUF file, in the units of llama.cpp: pp512, the tokens per second of a prompt of 512
//! tokens, and tg128, those of 128 tokens that are generated one by one.

use std::time::{Duration, Instant};

use serde_json::json;
use skript_generate::LanguageModel;
use skript_runtime::threads::default_threads;
use skript_tensor::random::SplitMix64;

use super::count;
use crate::command_line::{BenchArguments, Pipeline};
use crate::language::{failure, open, rate};
use crate::measure::{milliseconds, peak_memory, write_json};
use crate::stablehlo_program::flags_of_documents;
use crate::stopped::Stopped;

/// The number of tokens of a prompt.
const PROMPT: usize = 512;
/// The number of generated tokens.
const GENERATED: usize = 128;
/// The maximum number of measurements.
const MAX_REPEATED: u32 = 5;

/// Measures a model, and prints the figures.
pub fn measure(arguments: &BenchArguments) -> Result<(), Stopped> {
    refuse_flags(arguments)?;
    // A model with a smaller context is measured with all of it.
    let mut model = match open(&arguments.model, Some(PROMPT as u64), arguments.activations) {
        Ok(model) => model,
        Err(_) => open(&arguments.model, None, arguments.activations)?,
    };
    let begun = Instant::now();
    model.prepare().map_err(failure)?;
    let prepared = begun.elapsed();
    let (mut random, length) = (SplitMix64::new(1), model.tokenizer().vocabulary().len() as u64);
    let tokens = (0..PROMPT.min(model.context())).map(|_| random.next_below(length) as u32);
    let tokens: Vec<u32> = tokens.collect();
    let few = tokens.split_at(GENERATED.min(tokens.len())).0;
    let repeated = arguments.calls.min(MAX_REPEATED);
    let prompt = fastest(&mut model, repeated, |model| model.logits(&tokens).map(drop))?;
    let generated = fastest(&mut model, repeated, |model| {
        (1..=few.len()).try_for_each(|length| model.logits(few.split_at(length).0).map(drop))
    })?;
    report(arguments, [(tokens.len(), prompt), (few.len(), generated)], prepared)
}

/// Refuses flags that have no effect.
fn refuse_flags(arguments: &BenchArguments) -> Result<(), Stopped> {
    let call = &arguments.call;
    let flags = [
        ("--input-shape", !call.reading.input_shapes.is_empty()),
        ("--absent", !call.reading.absent_inputs.is_empty()),
        ("--given", !call.reading.given_inputs.is_empty()),
        ("--pipeline", call.pipeline != Pipeline::Linalg),
        ("--input", !call.inputs.is_empty()),
        ("--weights", call.weights.weights.is_some()),
        ("--variables", call.weights.variables.is_some()),
        ("an option of the target such as --cpu, --device or --fast-math", !call.target.is_default()),
        ("--profile", arguments.profile.is_some()),
    ];
    match flags_of_documents(&call.reading, &flags, "language models in GGUF files") {
        wrong if wrong.is_empty() => Ok(()),
        wrong => Err(wrong.into()),
    }
}

/// The shortest time of several measurements, after one that is not counted. Each begins with an empty cache.
fn fastest(
    model: &mut LanguageModel,
    repeated: u32,
    mut call: impl FnMut(&mut LanguageModel) -> Result<(), skript_generate::Error>,
) -> Result<Duration, Stopped> {
    let mut shortest = Duration::MAX;
    for number in 0..=repeated {
        model.reset();
        let begun = Instant::now();
        call(model).map_err(failure)?;
        if number > 0 {
            shortest = shortest.min(begun.elapsed());
        }
    }
    Ok(shortest)
}

fn report(
    arguments: &BenchArguments,
    [(prompt, prompt_time), (generated, time)]: [(usize, Duration); 2],
    prepared: Duration,
) -> Result<(), Stopped> {
    let threads = default_threads();
    let memory = peak_memory();
    let (prompt_rate, generation_rate) = (rate(prompt, prompt_time), rate(generated, time));
    let names = (format!("pp{prompt}"), format!("tg{generated}"));
    crate::stdout::print(&format!(
        "load     {:9.1} ms, with compilation unless the cache has the code\n\
         {:8} {prompt_rate:9.1} tokens/s, {}\n\
         {:8} {generation_rate:9.1} tokens/s\n\
         memory   {:9.1} MB peak of the process\n",
        milliseconds(prepared),
        names.0,
        count(threads),
        names.1,
        memory.map_or(0.0, |bytes| bytes as f64 / 1e6),
    ));
    let Some(path) = &arguments.json else {
        return Ok(());
    };
    let figures = json!({
        names.0: prompt_rate,
        names.1: generation_rate,
        "load_ms": milliseconds(prepared),
        "threads": threads,
        "peak_bytes": memory,
    });
    Ok(write_json(path, &figures)?)
}
