// SPDX-License-Identifier: Apache-2.0
//! Checks, compiles and runs models in SkriptND, the language of NNEF 2.0.
//!
//! A [`Document`] is parsed and checked text; its [`Problem`]s are data. Composing one of its graphs returns a [`Model`]:
//! shapes are static, or dynamic with an upper bound. A model is evaluated by the reference evaluator, exported as
//! StableHLO, or compiled to [`Code`], which is saved as bytes or loaded into an [`Instance`] and called with arrays.
//!
//! ```
//! use skript::{ComposeOptions, Document, Limits, Target, Tensor, Weights};
//!
//! let text = "
//!     operator scaled {
//!         @attrib { factor: real; }
//!         @input { x: real[n]; }
//!         @output { y: real[n]; }
//!         @lower { y[i,] = x[i,] * factor, i < n; }
//!     }
//!     graph Doubled {
//!         @input { x: real[n|8]; }
//!         @output { y: real[n]; }
//!         @compose { y = scaled{factor = 2.0}(x); }
//!     }";
//! let document = Document::parse("doubled.sknd", text, &Limits::default());
//! assert!(document.problems().is_empty());
//! let model = document.compose(&ComposeOptions::default())?;
//! assert_eq!(model.inputs()[0].to_string(), "x: f32[≤8]");
//!
//! let code = model.compile(&Target::host())?;
//! let mut instance = code.load(&Weights::none())?;
//! let x = Tensor::from_f32(&[3], &[1.0, 2.0, 4.0])?;
//! let outputs = instance.call(&[("x", &x)])?;
//! assert_eq!(outputs[0].0, "y");
//! assert_eq!(outputs[0].1.as_f32(), Some(&[2.0, 4.0, 8.0][..]));
//!
//! // The reference evaluator returns the same outputs, slowly.
//! assert_eq!(model.evaluate(&[("x", &x)], &Weights::none())?[0].1.as_f32(), Some(&[2.0, 4.0, 8.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Problems of a document are reported with their locations:
//!
//! ```
//! use skript::{Document, Limits};
//!
//! let text = "graph G {\n  @input { x: real[2] }\n  @output { y: real[2]; }\n  @compose { y = x; }\n}\n";
//! let document = Document::parse("bad.sknd", text, &Limits::default());
//! let problem = &document.problems()[0];
//! assert_eq!(problem.location.as_ref().map(|l| l.line), Some(2));
//! assert_eq!(problem.to_string(), "bad.sknd:2:22: error[SK1601]: `;` is missing here");
//! ```
#![warn(missing_docs)]
mod calls;
mod code;
mod compiler;
mod compose;
mod device;
mod dimensions;
mod document;
mod error;
mod gradient;
mod graph;
mod instance;
mod model;
mod onnx;
mod port;
mod positions;
mod problem;
mod target;
mod weights;

pub use calls::{CallCodes, Key, Selection};
pub use code::{Code, Output};
pub use compiler::{CacheEntry, Compiled, Compiler};
pub use compose::{ComposeOptions, Value};
pub use device::find as find_gpu;
pub use document::{CallModel, Document};
pub use error::{Error, NotCompiled};
pub use gradient::{Gradient, Mode, Training};
pub use graph::{Call, CallTensor};
pub use instance::Instance;
pub use model::{Evaluated, Export, Model};
pub use onnx::{ImportOptions, OnnxModel, formatted, import_refused};
pub use port::{Dimension, Port};
pub use problem::{Location, Problem, Severity};
pub use skript_frontend::limits::Limits;
pub use skript_frontend::program::Edition;
pub use skript_import::{Activations, GgufCache, GgufOptions};
pub use skript_passes::SumsOfProducts;
pub use skript_runtime::device::{Argument, DeviceArray, DeviceChoice, ForeignArray};
pub use skript_runtime::{RunError, StopHandle};
pub use skript_tensor::{ElementType, Tensor};
pub use target::{FastMath, Integers, Target};
pub use weights::Weights;
