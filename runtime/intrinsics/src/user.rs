// SPDX-License-Identifier: Apache-2.0
//! User-defined kernels: functions of a shared library, bound to operators without a body.
//!
//! The ABI is `runtime/c/skript_intrinsic.h`. A binding is valid for the process: a bound name is not bound again.

use crate::compiled::MESSAGE;
use crate::{Call, KernelError, Value};
#[cfg(not(target_family = "wasm"))]
use libloading::Library;
use skript_host::RegularFile;
use skript_semantics::{IntType, Numbers, RealType, ScalarKind};
use skript_tensor::{ElementType, Tensor};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The reason why a kernel cannot be bound to an operator.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages describe the fields.
pub enum BindError {
    #[error("`{0}` is an intrinsic of the standard library")]
    Known(String),
    #[error("`{name}` is bound to `{symbol}` of {} already", library.display())]
    Bound { name: String, symbol: String, library: PathBuf },
    #[error("cannot load {}: {reason}", library.display())]
    Library { library: PathBuf, reason: String },
    #[error("{} has no symbol `{symbol}`", library.display())]
    Symbol { symbol: String, library: PathBuf },
}

/// The suffix of the symbol of the kernel for reals as `double`.
const WIDE: &str = "_f64";

/// WebAssembly has no shared libraries.
#[cfg(target_family = "wasm")]
type Library = std::convert::Infallible;

type Function = unsafe extern "C" fn(*const CCall) -> i32;

/// A function of a library that is never unloaded.
pub struct UserKernel {
    name: String,
    symbol: String,
    library: PathBuf,
    function: Function,
    /// The function named `<symbol>_f64`, which takes reals as `double`.
    wide: Option<Function>,
    /// Keeps the library loaded, unless the program is linked with it.
    _loaded: Option<Library>,
}

static BOUND: RwLock<Vec<Arc<UserKernel>>> = RwLock::new(Vec::new());

/// Binds an operator's qualified name to `symbol` of the shared library at `library`. Loading runs the library's
/// initializers, and the symbol is not verified to be a kernel by `skript_intrinsic.h`: bind only symbols that the user
/// of the program names.
///
/// # Errors
/// [`BindError`]: the name is bound already, or there is no such library or symbol.
pub fn bind(name: &str, symbol: &str, library: &Path) -> Result<(), BindError> {
    if crate::names().any(|known| known == name) {
        return Err(BindError::Known(name.to_owned()));
    }
    let mut bound = BOUND.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(other) = bound.iter().find(|k| k.name == name) {
        if other.symbol == symbol && other.library == library {
            return Ok(());
        }
        return Err(BindError::Bound {
            name: name.to_owned(),
            symbol: other.symbol.clone(),
            library: other.library.clone(),
        });
    }
    // Loading a pipe would wait for a writer. Names without a folder are looked up by the system.
    if library.components().count() > 1 {
        RegularFile::open(library)
            .map_err(|e| BindError::Library { library: library.to_owned(), reason: e.to_string() })?;
    }
    let (loaded, function, wide) = load(symbol, library)?;
    bound.push(Arc::new(UserKernel {
        name: name.to_owned(),
        symbol: symbol.to_owned(),
        library: library.to_owned(),
        function,
        wide,
        _loaded: Some(loaded),
    }));
    Ok(())
}

/// Loads a library and its kernel of this name, and the kernel for reals as `double`, if there is one.
#[cfg(not(target_family = "wasm"))]
fn load(symbol: &str, library: &Path) -> Result<(Library, Function, Option<Function>), BindError> {
    // SAFETY: the user requests that this library's code is executed.
    let loaded = unsafe { Library::new(library) }
        .map_err(|e| BindError::Library { library: library.to_owned(), reason: e.to_string() })?;
    // SAFETY: the user states that the symbol is a kernel.
    let function = unsafe { loaded.get::<Function>(symbol.as_bytes()) };
    let function = *function
        .map_err(|_| BindError::Symbol { symbol: symbol.to_owned(), library: library.to_owned() })?;
    // SAFETY: as above.
    let wide = unsafe { loaded.get::<Function>(format!("{symbol}{WIDE}").as_bytes()) };
    let wide = wide.ok().map(|f| *f);
    Ok((loaded, function, wide))
}

#[cfg(target_family = "wasm")]
fn load(_: &str, library: &Path) -> Result<(Library, Function, Option<Function>), BindError> {
    let reason = "WebAssembly has no shared libraries".to_owned();
    Err(BindError::Library { library: library.to_owned(), reason })
}

/// Binds an operator to a function that a shared object of a model is linked with; `wide` may be null. A name that is
/// bound already keeps its kernel.
///
/// # Safety
/// The texts end in zero bytes; the functions are kernels by `skript_intrinsic.h` and are never unloaded.
#[unsafe(no_mangle)]
unsafe extern "C" fn skript_bind_kernel(
    name: *const c_char,
    symbol: *const c_char,
    library: *const c_char,
    function: Function,
    wide: Option<Function>,
) {
    // SAFETY: as the caller promises.
    let text = |at: *const c_char| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned();
    let kernel = UserKernel {
        name: text(name),
        symbol: text(symbol),
        library: PathBuf::from(text(library)),
        function,
        wide,
        _loaded: None,
    };
    let mut bound = BOUND.write().unwrap_or_else(PoisonError::into_inner);
    if !bound.iter().any(|k| k.name == kernel.name) {
        bound.push(Arc::new(kernel));
    }
}

/// The bound operators, in the order of binding, each with symbol and library.
pub fn bound() -> Vec<(String, String, PathBuf)> {
    let bound = BOUND.read().unwrap_or_else(PoisonError::into_inner);
    let described = |k: &Arc<UserKernel>| (k.name.clone(), k.symbol.clone(), k.library.clone());
    bound.iter().map(described).collect()
}

/// The kernel that a user bound to an operator.
pub(crate) fn find(name: &str) -> Option<Arc<UserKernel>> {
    let bound = BOUND.read().unwrap_or_else(PoisonError::into_inner);
    bound.iter().find(|k| k.name == name).cloned()
}

#[repr(C)]
struct CArray {
    element: i32,
    rank: u32,
    extents: *mut i64,
    data: *mut c_void,
    is_dynamic: i32,
}

#[repr(C)]
struct CValue {
    kind: i32,
    integer: i64,
    real: f64,
    text: *const c_char,
    items: *const CValue,
    count: usize,
}

#[repr(C)]
struct CAttribute {
    name: *const c_char,
    value: CValue,
}

#[repr(C)]
struct CCall {
    operator_name: *const c_char,
    attributes: *const CAttribute,
    attribute_count: usize,
    inputs: *const CArray,
    input_count: usize,
    outputs: *mut CArray,
    output_count: usize,
    message: *mut c_char,
    message_size: usize,
}

/// The data that the C structs of one call point to.
#[derive(Default)]
struct Kept {
    texts: Vec<CString>,
    lists: Vec<Vec<CValue>>,
}

impl Kept {
    fn text(&mut self, text: &str) -> *const c_char {
        // An embedded zero byte ends the text in C.
        let whole: Vec<u8> = text.bytes().take_while(|b| *b != 0).collect();
        let Ok(owned) = CString::new(whole) else { unreachable!("the text ends before a zero byte") };
        let pointer = owned.as_ptr();
        self.texts.push(owned);
        pointer
    }

    fn value(&mut self, value: &Value) -> CValue {
        let mut c_value = CValue {
            kind: 0,
            integer: 0,
            real: 0.0,
            text: std::ptr::null(),
            items: std::ptr::null(),
            count: 0,
        };
        match value {
            // C has one value for absent attributes.
            Value::Null | Value::Unknown => {}
            Value::Bool(b) => (c_value.kind, c_value.integer) = (1, i64::from(*b)),
            Value::Int(i) => (c_value.kind, c_value.integer) = (2, *i),
            Value::Real(x) => (c_value.kind, c_value.real) = (3, *x),
            Value::Str(text) => (c_value.kind, c_value.text) = (4, self.text(text)),
            Value::List(items) => {
                let items: Vec<CValue> = items.iter().map(|i| self.value(i)).collect();
                (c_value.kind, c_value.items, c_value.count) = (5, items.as_ptr(), items.len());
                self.lists.push(items);
            }
        }
        c_value
    }
}

fn element(element: ElementType) -> i32 {
    match element.kind() {
        ScalarKind::Bool => 0,
        ScalarKind::Int => 1,
        ScalarKind::Real => 2,
    }
}

impl UserKernel {
    /// Runs the function.
    ///
    /// # Errors
    /// The message of the function, or extents beyond the upper bounds of an output.
    pub fn run(&self, call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
        let numbers =
            Numbers { real: if call.is_double() { RealType::F64 } else { RealType::F32 }, int: IntType::I64 };
        let wide = || {
            let (symbol, library) = (&self.symbol, self.library.display());
            call.wrong(format!(
                "`{symbol}` accepts reals as float; for f64, {library} needs a kernel `{symbol}{WIDE}` that accepts them as double"
            ))
        };
        let function = match numbers.real {
            RealType::F64 => self.wide.ok_or_else(wide)?,
            _ => self.function,
        };
        let native = |kind| ElementType::for_kind(kind, numbers);
        let mut kept = Kept::default();
        let attributes: Vec<CAttribute> = (call.attributes.iter())
            .map(|(name, value)| CAttribute { name: kept.text(name), value: kept.value(value) })
            .collect();
        let mut input_extents: Vec<Vec<i64>> = Vec::new();
        let mut inputs = Vec::new();
        let converted: Vec<Tensor> =
            (call.inputs.iter()).map(|t| (*t).clone().with_element(native(t.kind()))).collect();
        for tensor in &converted {
            let mut extents: Vec<i64> = tensor.shape().iter().map(|e| e.cast_signed()).collect();
            inputs.push(CArray {
                element: element(tensor.element()),
                rank: u32::try_from(extents.len()).unwrap_or(u32::MAX),
                extents: extents.as_mut_ptr(),
                data: tensor.bytes().as_ptr().cast_mut().cast(),
                is_dynamic: 0,
            });
            input_extents.push(extents);
        }
        let mut slots = Vec::new();
        let mut output_extents: Vec<Vec<i64>> = Vec::new();
        let mut outputs = Vec::new();
        for output in call.outputs {
            let mut slot = Tensor::zeros(native(output.element.kind()), &output.bound)?;
            let mut extents: Vec<i64> = output.bound.iter().map(|e| e.cast_signed()).collect();
            outputs.push(CArray {
                element: element(slot.element()),
                rank: u32::try_from(extents.len()).unwrap_or(u32::MAX),
                extents: extents.as_mut_ptr(),
                data: slot.bytes_mut()?.as_mut_ptr().cast(),
                is_dynamic: i32::from(output.shape.is_none()),
            });
            slots.push(slot);
            output_extents.push(extents);
        }
        let mut message = [0u8; MESSAGE];
        let described = CCall {
            operator_name: kept.text(&self.name),
            attributes: attributes.as_ptr(),
            attribute_count: attributes.len(),
            inputs: inputs.as_ptr(),
            input_count: inputs.len(),
            outputs: outputs.as_mut_ptr(),
            output_count: outputs.len(),
            message: message.as_mut_ptr().cast(),
            message_size: message.len() - 1,
        };
        // SAFETY: a kernel by `skript_intrinsic.h`, as the user of `bind` stated; all arguments live until it returns.
        let status = unsafe { function(&raw const described) };
        drop((kept, input_extents, converted));
        if status != 0 {
            let text: Vec<u8> = message.into_iter().take_while(|b| *b != 0).collect();
            // It may be shown by a terminal.
            let text = String::from_utf8_lossy(&text).replace(char::is_control, " ");
            return Err(call.wrong(match text.as_str() {
                "" => format!("`{}` failed with {status}", self.symbol),
                _ => text,
            }));
        }
        let mut results = Vec::new();
        for ((output, mut slot), extents) in call.outputs.iter().zip(slots).zip(output_extents) {
            if output.element.kind() == ScalarKind::Bool {
                // In C any other nonzero byte is true as well.
                for byte in slot.bytes_mut()? {
                    *byte = u8::from(*byte != 0);
                }
            }
            let whole = match &output.shape {
                Some(_) => slot,
                None => self.part(call, &slot, &extents)?,
            };
            results.push(whole.with_element(output.element));
        }
        Ok(results)
    }

    /// The part of an output that the function wrote, if it determined the extents.
    fn part(&self, call: &Call<'_>, slot: &Tensor, extents: &[i64]) -> Result<Tensor, KernelError> {
        let fits = |(n, m): (&i64, &u64)| u64::try_from(*n).is_ok_and(|n| n <= *m);
        if !extents.iter().zip(slot.shape()).all(fits) {
            return Err(call.wrong(format!(
                "`{}` returns the extents {extents:?}, which exceed the upper bounds {:?}",
                self.symbol,
                slot.shape()
            )));
        }
        let shape: Vec<u64> = extents.iter().map(|n| n.cast_unsigned()).collect();
        let length = skript_tensor::shape::byte_length(slot.element(), &shape);
        let Some(bytes) = length.and_then(|length| slot.bytes().get(..length)) else {
            unreachable!("the extents are within the upper bounds")
        };
        Ok(Tensor::from_bytes(slot.element(), &shape, bytes)?)
    }
}
