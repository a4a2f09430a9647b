// SPDX-License-Identifier: Apache-2.0
//! The functions of `skript.h`.
//!
//! Safety of all of them: pointers are null or point to what the header says. Null is an error, never undefined.
#![allow(clippy::missing_safety_doc)]

use crate::failure::{self, Failure, guarded};
use crate::memory::{array, array_mut, optional, set, text, writable};
use crate::models::{self, INSTANCES, MODELS, Options, Text};
use crate::tensors;
use crate::types::{self, skc_error, skc_instance, skc_model, skc_options, skc_port, skc_tensor};
use skript::Tensor;
use std::ffi::c_char;
use std::sync::TryLockError;

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn skc_version() -> u32 {
    1
}

/// The last failure on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn skc_last_error() -> *const skc_error {
    failure::last()
}

/// The options of the caller, copied.
unsafe fn read_options(pointer: *const skc_options) -> Result<Options, Failure> {
    // SAFETY: null or a struct, as the header says.
    let options = match unsafe { array(pointer, u64::from(!pointer.is_null()), "options") }? {
        [options] => options,
        _ => return Ok(Options::default()),
    };
    if options.size != size_of::<skc_options>() as u64 {
        let text = format!(
            "options.size is {}, it must be {}",
            options.size,
            size_of::<skc_options>()
        );
        return Err(Failure::argument(text));
    }
    // SAFETY: null or strings, as the header says.
    unsafe {
        Ok(Options {
            graph: optional(options.graph, "options.graph")?,
            cpu: optional(options.cpu, "options.cpu")?,
            features: optional(options.features, "options.features")?,
            real: optional(options.real, "options.real")?,
            integer: optional(options.integer, "options.integer")?,
            weights: optional(options.weights, "options.weights")?,
        })
    }
}

/// Compiles a model from files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_compile(
    path: *const c_char,
    options: *const skc_options,
    model: *mut skc_model,
) -> i32 {
    guarded(|| {
        writable(model, "model")?;
        // SAFETY: null or what the header says.
        let (path, options) = unsafe { (text(path, "path")?, read_options(options)?) };
        let compiled = models::compile(Some(path), None, options)?;
        let id = MODELS.add(compiled);
        // SAFETY: checked above.
        unsafe { set(model, skc_model { id }) };
        Ok(())
    })
}

/// Compiles a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_compile_text(
    name: *const c_char,
    pointer: *const c_char,
    length: u64,
    options: *const skc_options,
    model: *mut skc_model,
) -> i32 {
    guarded(|| {
        writable(model, "model")?;
        // SAFETY: null or what the header says.
        let (name, options) = unsafe { (text(name, "name")?, read_options(options)?) };
        if pointer.is_null() {
            return Err(Failure::argument("text is null"));
        }
        // SAFETY: `length` bytes, as the header says.
        let bytes = unsafe { array(pointer.cast::<u8>(), length, "text") }?;
        let text =
            std::str::from_utf8(bytes).map_err(|_| Failure::argument("text is not UTF-8"))?;
        let text = Text {
            name,
            text: text.to_owned(),
        };
        let compiled = models::compile(None, Some(text), options)?;
        let id = MODELS.add(compiled);
        // SAFETY: checked above.
        unsafe { set(model, skc_model { id }) };
        Ok(())
    })
}

/// Loads a compiled model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_load(
    path: *const c_char,
    weights: *const c_char,
    model: *mut skc_model,
) -> i32 {
    guarded(|| {
        writable(model, "model")?;
        // SAFETY: null or what the header says.
        let (path, weights) = unsafe { (text(path, "path")?, optional(weights, "weights")?) };
        let id = MODELS.add(models::load(&path, weights.as_deref())?);
        // SAFETY: checked above.
        unsafe { set(model, skc_model { id }) };
        Ok(())
    })
}

/// Writes a compiled model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_save(model: skc_model, path: *const c_char, embed: i32) -> i32 {
    guarded(|| {
        // SAFETY: null or what the header says.
        let path = unsafe { text(path, "path") }?;
        models::save(&*MODELS.get(model.id)?, &path, embed != 0)
    })
}

/// Frees a model.
#[unsafe(no_mangle)]
pub extern "C" fn skc_free_model(model: skc_model) -> i32 {
    guarded(|| MODELS.remove(model.id))
}

/// The number of ports of a role.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_count(model: skc_model, role: u32, count: *mut u64) -> i32 {
    guarded(|| {
        writable(count, "count")?;
        let number = MODELS.get(model.id)?.ports(role)?.len() as u64;
        // SAFETY: checked above.
        unsafe { set(count, number) };
        Ok(())
    })
}

/// Describes a port.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_port_at(
    model: skc_model,
    role: u32,
    index: u64,
    port: *mut skc_port,
) -> i32 {
    guarded(|| {
        writable(port, "port")?;
        let model = MODELS.get(model.id)?;
        let ports = model.ports(role)?;
        let found = usize::try_from(index)
            .ok()
            .and_then(|index| ports.get(index));
        let wrong = || {
            Failure::argument(format!(
                "there is no port {index}: the model has {}",
                ports.len()
            ))
        };
        let (found, name) = found.ok_or_else(wrong)?;
        let described = tensors::port(found, name)?;
        // SAFETY: checked above.
        unsafe { set(port, described) };
        Ok(())
    })
}

/// The index of a port by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_find(
    model: skc_model,
    role: u32,
    name: *const c_char,
    index: *mut u64,
) -> i32 {
    guarded(|| {
        writable(index, "index")?;
        // SAFETY: null or what the header says.
        let name = unsafe { text(name, "name") }?;
        let model = MODELS.get(model.id)?;
        let at = model
            .ports(role)?
            .iter()
            .position(|(port, _)| port.name == name);
        let at = at.ok_or_else(|| {
            Failure::argument(format!("the model has no port `{name}` of this role"))
        })?;
        // SAFETY: checked above.
        unsafe { set(index, at as u64) };
        Ok(())
    })
}

/// Creates an instance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_create(model: skc_model, instance: *mut skc_instance) -> i32 {
    guarded(|| {
        writable(instance, "instance")?;
        let model = MODELS.get(model.id)?;
        let id = INSTANCES.add(models::create(&model)?);
        // SAFETY: checked above.
        unsafe { set(instance, skc_instance { id }) };
        Ok(())
    })
}

/// Computes the outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_run(
    instance: skc_instance,
    inputs: *const skc_tensor,
    input_count: u64,
    outputs: *mut skc_tensor,
    output_count: u64,
) -> i32 {
    guarded(|| {
        let running = INSTANCES.get(instance.id)?;
        let expected = [running.inputs.len() as u64, running.outputs as u64];
        for (role, (found, expected)) in ["inputs", "outputs"]
            .iter()
            .zip([input_count, output_count].iter().zip(expected))
        {
            if *found != expected {
                return Err(Failure::argument(format!(
                    "there are {found} {role}, but the model has {expected}"
                )));
            }
        }
        // SAFETY: null or arrays of so many tensors, as the header says.
        let given = unsafe { array(inputs, input_count, "inputs") }?;
        // SAFETY: as above; nothing else uses the outputs during the call.
        let wanted = unsafe { array_mut(outputs, output_count, "outputs") }?;
        let mut arrays: Vec<(&str, Tensor)> = Vec::with_capacity(given.len());
        for (tensor, name) in given.iter().zip(&running.inputs) {
            // SAFETY: data of so many bytes, as the header says.
            arrays.push((name, unsafe { tensors::read(tensor, name) }?));
        }
        let arrays: Vec<(&str, &Tensor)> = arrays
            .iter()
            .map(|(name, tensor)| (*name, tensor))
            .collect();
        let mut inner = match running.inner.try_lock() {
            Ok(inner) => inner,
            // A panic during a call left variables as they were: they are set at the end.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new(
                    types::BUSY,
                    "another thread is using the instance",
                ));
            }
        };
        let check = |values: &[skript::Output]| {
            let pairs = wanted.iter().zip(values);
            let mut checked =
                pairs.map(|(output, (name, value))| tensors::check_output(output, name, value));
            checked.find_map(Result::err)
        };
        let mut refused = None;
        let values = inner.call_if(&arrays, |values| {
            refused = check(values);
            refused.is_none()
        })?;
        if let Some(failure) = refused {
            return Err(failure);
        }
        for (output, (name, value)) in wanted.iter_mut().zip(&values) {
            // SAFETY: data of so many bytes, as the header says.
            unsafe { tensors::write(output, name, value) }?;
        }
        Ok(())
    })
}

/// Frees an instance.
#[unsafe(no_mangle)]
pub extern "C" fn skc_free_instance(instance: skc_instance) -> i32 {
    guarded(|| INSTANCES.remove(instance.id))
}
