// SPDX-License-Identifier: Apache-2.0
//! The functions of `skript.h`.
//!
//! Safety of all functions: pointers are null or satisfy the contract of the header. Null is an error, never undefined behavior.
#![allow(clippy::missing_safety_doc)]

use crate::failure::{self, Failure, guarded};
use crate::memory::{array, array_mut, optional, set, text, writable};
use crate::models::{self, INSTANCES, MODELS, Options, Running, Text};
use crate::tensors;
use crate::types::{self, skc_error, skc_instance, skc_model, skc_options, skc_port, skc_tensor};
use skript::{Argument, DeviceChoice, ForeignArray, Instance, Tensor};
use std::ffi::c_char;
use std::sync::{MutexGuard, TryLockError};

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn skc_version() -> u32 {
    3
}

/// The last failure on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn skc_last_error() -> *const skc_error {
    failure::last()
}

/// Copies the options of the caller.
unsafe fn read_options(pointer: *const skc_options) -> Result<Options, Failure> {
    // SAFETY: null or a struct, by the contract of the header.
    let options = match unsafe { array(pointer, u64::from(!pointer.is_null()), "options") }? {
        [options] => options,
        _ => return Ok(Options::default()),
    };
    if options.size != size_of::<skc_options>() as u64 {
        let text = format!("options.size is {}, but must be {}", options.size, size_of::<skc_options>());
        return Err(Failure::argument(text));
    }
    // SAFETY: null or strings, by the contract of the header.
    unsafe {
        Ok(Options {
            graph: optional(options.graph, "options.graph")?,
            cpu: optional(options.cpu, "options.cpu")?,
            features: optional(options.features, "options.features")?,
            real: optional(options.real, "options.real")?,
            integer: optional(options.integer, "options.integer")?,
            weights: optional(options.weights, "options.weights")?,
            bounds: optional(options.bounds, "options.bounds")?,
            shapes: optional(options.shapes, "options.shapes")?,
            device: optional(options.device, "options.device")?,
            threads: options.threads as usize,
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
        // SAFETY: null or valid, by the contract of the header.
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
        // SAFETY: null or valid, by the contract of the header.
        let (name, options) = unsafe { (text(name, "name")?, read_options(options)?) };
        if pointer.is_null() {
            return Err(Failure::argument("text is null"));
        }
        // SAFETY: `length` bytes, by the contract of the header.
        let bytes = unsafe { array(pointer.cast::<u8>(), length, "text") }?;
        let text = std::str::from_utf8(bytes).map_err(|_| Failure::argument("text is not UTF-8"))?;
        let text = Text { name, text: text.to_owned() };
        let compiled = models::compile(None, Some(text), options)?;
        let id = MODELS.add(compiled);
        // SAFETY: checked above.
        unsafe { set(model, skc_model { id }) };
        Ok(())
    })
}

/// Loads a compiled model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_load(path: *const c_char, weights: *const c_char, model: *mut skc_model) -> i32 {
    guarded(|| {
        writable(model, "model")?;
        // SAFETY: null or valid, by the contract of the header.
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
        // SAFETY: null or valid, by the contract of the header.
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
pub unsafe extern "C" fn skc_port_at(model: skc_model, role: u32, index: u64, port: *mut skc_port) -> i32 {
    guarded(|| {
        writable(port, "port")?;
        let model = MODELS.get(model.id)?;
        let ports = model.ports(role)?;
        let port_at_index = usize::try_from(index).ok().and_then(|index| ports.get(index));
        let wrong = || Failure::argument(format!("there is no port {index}: the model has {}", ports.len()));
        let (described_port, name) = port_at_index.ok_or_else(wrong)?;
        let described = tensors::port(described_port, name)?;
        // SAFETY: checked above.
        unsafe { set(port, described) };
        Ok(())
    })
}

/// The index of a port by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_find(model: skc_model, role: u32, name: *const c_char, index: *mut u64) -> i32 {
    guarded(|| {
        writable(index, "index")?;
        // SAFETY: null or valid, by the contract of the header.
        let name = unsafe { text(name, "name") }?;
        let model = MODELS.get(model.id)?;
        let at = model.ports(role)?.iter().position(|(port, _)| port.name == name);
        let at =
            at.ok_or_else(|| Failure::argument(format!("the model has no port `{name}` of this role")))?;
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

/// The tensors of a call.
///
/// # Safety
/// Pointers are null or point to arrays with these numbers of tensors, by the contract of the header.
unsafe fn tensors_of<'c>(
    running: &Running,
    (inputs, input_count): (*const skc_tensor, u64),
    (outputs, output_count): (*mut skc_tensor, u64),
) -> Result<(&'c [skc_tensor], &'c mut [skc_tensor]), Failure> {
    for (role, count, expected) in
        [("inputs", input_count, running.inputs.len()), ("outputs", output_count, running.outputs)]
    {
        if count != expected as u64 {
            return Err(Failure::argument(format!(
                "{count} {role} are passed, but the model has {expected}"
            )));
        }
    }
    // SAFETY: the contract of this function; nothing else uses the outputs during the call.
    unsafe { Ok((array(inputs, input_count, "inputs")?, array_mut(outputs, output_count, "outputs")?)) }
}

/// Locks the instance; an error if another thread uses it.
fn lock(running: &Running) -> Result<MutexGuard<'_, Instance>, Failure> {
    match running.inner.try_lock() {
        Ok(inner) => Ok(inner),
        // A panic during a call leaves the variables unchanged, because they are set at the end.
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::new(types::BUSY, "another thread is using the instance"))
        }
    }
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
        // SAFETY: the contract of the header.
        let (given, wanted) =
            unsafe { tensors_of(&running, (inputs, input_count), (outputs, output_count)) }?;
        let mut arrays: Vec<(&str, Tensor)> = Vec::with_capacity(given.len());
        for (tensor, name) in given.iter().zip(&running.inputs) {
            // SAFETY: `data` has `bytes` bytes, by the contract of the header.
            arrays.push((name, unsafe { tensors::read(tensor, name) }?));
        }
        let arrays: Vec<(&str, &Tensor)> = arrays.iter().map(|(name, tensor)| (*name, tensor)).collect();
        let mut refused = None;
        let accept = |values: &[skript::Output]| {
            let pairs = wanted.iter().zip(values);
            let mut checked = pairs.map(|(output, (name, value))| tensors::check_output(output, name, value));
            refused = checked.find_map(Result::err);
            refused.is_none()
        };
        let values = lock(&running)?.call_if(&arrays, accept)?;
        if let Some(failure) = refused {
            return Err(failure);
        }
        for (output, (name, value)) in wanted.iter_mut().zip(&values) {
            // SAFETY: `data` has `bytes` bytes, by the contract of the header.
            unsafe { tensors::write(output, name, value) }?;
        }
        Ok(())
    })
}

/// Computes the outputs in memory of the GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_run_on_device(
    instance: skc_instance,
    inputs: *const skc_tensor,
    input_count: u64,
    outputs: *mut skc_tensor,
    output_count: u64,
) -> i32 {
    guarded(|| {
        let running = INSTANCES.get(instance.id)?;
        // SAFETY: the contract of the header.
        let (given, wanted) =
            unsafe { tensors_of(&running, (inputs, input_count), (outputs, output_count)) }?;
        let mut instance = lock(&running)?;
        match instance.device() {
            DeviceChoice::Cuda(_) => {}
            DeviceChoice::Cpu => return Err(Failure::argument("the model is not on a GPU")),
            device => {
                let text = format!(
                    "the model is on {device}, whose memory is not addressable from C: run it with skc_run"
                );
                return Err(Failure::argument(text));
            }
        }
        let mut read = Vec::with_capacity(given.len());
        for (tensor, name) in given.iter().zip(&running.inputs) {
            read.push((name, tensors::described(tensor, &format!("input `{name}`"))?));
        }
        let mut arrays: Vec<(&str, Argument)> = Vec::with_capacity(given.len());
        for (name, (element, shape, address)) in &read {
            // SAFETY: by the contract of the header, the elements are at this address on the GPU.
            let array = unsafe { ForeignArray::new(*element, shape, *address) };
            arrays.push((name, Argument::Foreign(array)));
        }
        let ports = instance.outputs();
        let mut places = Vec::with_capacity(ports.len());
        for (tensor, port) in wanted.iter().zip(&ports) {
            places.push(tensors::output_memory(tensor, port)?);
        }
        let outputs = ports.iter().zip(&places).map(|(port, (shape, address))| {
            // SAFETY: as above.
            unsafe { ForeignArray::new(port.element, shape, *address) }
        });
        let outputs: Vec<ForeignArray> = outputs.collect();
        let shapes = instance.call_into(&arrays, &outputs)?;
        for ((output, port), shape) in wanted.iter_mut().zip(&ports).zip(&shapes) {
            tensors::describe(output, port.element, shape);
        }
        Ok(())
    })
}

/// The stream of an instance on a GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skc_stream(instance: skc_instance, stream: *mut u64) -> i32 {
    guarded(|| {
        writable(stream, "stream")?;
        let running = INSTANCES.get(instance.id)?;
        let cuda_stream = lock(&running)?.stream();
        let cuda_stream = cuda_stream.ok_or_else(|| Failure::argument("the model is not on a CUDA GPU"))?;
        // SAFETY: checked above.
        unsafe { set(stream, cuda_stream) };
        Ok(())
    })
}

/// Stops the call of an instance in progress, and later calls, or allows them again.
#[unsafe(no_mangle)]
pub extern "C" fn skc_stop(instance: skc_instance, stop: i32) -> i32 {
    guarded(|| {
        let running = INSTANCES.get(instance.id)?;
        let handle = running.stop.as_ref();
        let handle = handle.ok_or_else(|| Failure::argument("calls on a GPU cannot be stopped"))?;
        if stop == 0 {
            handle.reset()
        } else {
            handle.stop()
        }
        Ok(())
    })
}

/// Frees an instance.
#[unsafe(no_mangle)]
pub extern "C" fn skc_free_instance(instance: skc_instance) -> i32 {
    guarded(|| INSTANCES.remove(instance.id))
}
