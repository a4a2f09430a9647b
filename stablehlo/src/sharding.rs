// SPDX-License-Identifier: Apache-2.0
//! Sharding for several devices: the mesh, and the dimensions that are split along its axes, in the form of Shardy
//! (`sdy.mesh`, `sdy.sharding`). The consumer partitions the program accordingly and selects the shardings of all other
//! values.

use super::Port;
use melior::Context;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{Attribute, BlockLike, Identifier, Location, Module};
use skript_dialect::melior;
use skript_passes::ir::builder::operations;
use skript_passes::ir::ops;
use skript_passes::ir::{attributes, mutation};
use std::collections::BTreeSet;

/// Named axes of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mesh {
    /// The names and sizes of the axes, outermost first.
    pub axes: Vec<(String, i64)>,
}

/// The sharding of a tensor: for each dimension the axes that split it, outer axes first. Dimensions without an entry
/// are not split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharding {
    /// The name of an input, a variable or an output.
    pub tensor: String,
    /// The axes that split each dimension; empty for a dimension that is not split.
    pub dimensions: Vec<Vec<String>>,
}

/// A mesh and the tensors that are split along it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The devices.
    pub mesh: Mesh,
    /// The tensors that are split; all other tensors are replicated.
    pub shardings: Vec<Sharding>,
}

/// The error of a sharding that does not fit the mesh or the tensors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // The messages describe the fields.
pub enum PlacementError {
    #[error("there is no argument or result `{name}`")]
    Tensor { name: String, known: Vec<String> },
    #[error("the mesh has no axis `{name}`")]
    Axis { name: String },
    #[error("the sharding of `{tensor}` is given {times} times")]
    Repeated { tensor: String, times: usize },
    #[error("the sharding of `{tensor}` uses the axis `{axis}` twice")]
    Twice { tensor: String, axis: String },
    #[error("the sharding of `{tensor}` names {given} dimensions, its shape is {shape:?}")]
    Rank { tensor: String, given: usize, shape: Vec<i64> },
    #[error(
        "dimension {dimension} of `{tensor}` has {extent} elements, which {devices} devices cannot share evenly"
    )]
    Uneven { tensor: String, dimension: usize, extent: i64, devices: i64 },
}

impl Mesh {
    fn extent(&self, name: &str) -> Option<i64> {
        let axis = self.axes.iter().find(|(axis, _)| axis == name);
        axis.map(|(_, extent)| *extent)
    }
}

impl Placement {
    /// The sharding of a tensor, if any.
    pub fn sharding(&self, tensor: &str) -> Option<&Sharding> {
        self.shardings.iter().find(|s| s.tensor == tensor)
    }

    /// Checks the requested shardings against arguments and results.
    ///
    /// # Errors
    /// Returns the error of the first sharding that is not possible.
    pub fn check<'p>(&self, ports: impl Iterator<Item = &'p Port> + Clone) -> Result<(), PlacementError> {
        for sharding in &self.shardings {
            let tensor = || sharding.tensor.clone();
            let same = |s: &&Sharding| s.tensor == sharding.tensor;
            let times = self.shardings.iter().filter(same).count();
            if times > 1 {
                let tensor = tensor();
                return Err(PlacementError::Repeated { tensor, times });
            }
            let mut seen = BTreeSet::new();
            for axis in sharding.dimensions.iter().flatten() {
                if self.mesh.extent(axis).is_none() {
                    return Err(PlacementError::Axis { name: axis.clone() });
                }
                if !seen.insert(axis) {
                    let axis = axis.clone();
                    return Err(PlacementError::Twice { tensor: tensor(), axis });
                }
            }
            let mut named = ports.clone().filter(|p| p.name == sharding.tensor).peekable();
            if named.peek().is_none() {
                return Err(PlacementError::Tensor {
                    name: tensor(),
                    known: ports.clone().map(|port| port.name.clone()).collect(),
                });
            }
            for port in named {
                self.fits(sharding, &port.shape)?;
            }
        }
        Ok(())
    }

    fn fits(&self, sharding: &Sharding, shape: &[i64]) -> Result<(), PlacementError> {
        if sharding.dimensions.len() > shape.len() {
            return Err(PlacementError::Rank {
                tensor: sharding.tensor.clone(),
                given: sharding.dimensions.len(),
                shape: shape.to_vec(),
            });
        }
        for (dimension, (axes, extent)) in sharding.dimensions.iter().zip(shape).enumerate() {
            let parts = axes.iter().filter_map(|axis| self.mesh.extent(axis));
            let devices: i64 = parts.fold(1, i64::saturating_mul);
            if extent % devices != 0 {
                return Err(PlacementError::Uneven {
                    tensor: sharding.tensor.clone(),
                    dimension,
                    extent: *extent,
                    devices,
                });
            }
        }
        Ok(())
    }
}

/// Annotates a program with a checked placement: inserts the mesh before the functions, and adds shardings to the
/// arguments and results of the entry. `arguments` and `results` are those of the entry, in order.
///
/// # Errors
/// Fails if MLIR cannot build the attributes.
pub(crate) fn annotate<'c>(
    module: &Module<'c>,
    context: &'c Context,
    placement: &Placement,
    arguments: &[Port],
    results: &[Port],
) -> Result<(), melior::Error> {
    // The consumer defines Shardy's dialect; this crate only prints it as text.
    context.set_allow_unregistered_dialects(true);
    let axes: Vec<String> =
        placement.mesh.axes.iter().map(|(name, extent)| format!("\"{name}\"={extent}")).collect();
    let mesh = parse(context, &format!("#sdy.mesh<[{}]>", axes.join(", ")))?;
    let mesh = OperationBuilder::new(ops::sdy::MESH, Location::unknown(context))
        .add_attributes(&[
            (Identifier::new(context, "mesh"), mesh),
            (Identifier::new(context, "sym_name"), attributes::string(context, "mesh")),
        ])
        .build()?;
    let public = attributes::string(context, "public");
    let entry = operations(module.body()).into_iter().find(|op| op.attribute("sym_visibility") == Ok(public));
    if let Some(entry) = entry {
        for (list, ports) in [("arg_attrs", arguments), ("res_attrs", results)] {
            let each = ports.iter().map(|port| match placement.sharding(&port.name) {
                Some(sharding) => parse(context, &dictionary(sharding, port.shape.len())),
                None => parse(context, "{}"),
            });
            let each = each.collect::<Result<Vec<_>, _>>()?;
            mutation::set(entry, list, ArrayAttribute::new(context, &each).into());
        }
    }
    match module.body().first_operation() {
        Some(first) => module.body().insert_operation_before(first, mesh),
        None => module.body().append_operation(mesh),
    };
    Ok(())
}

fn dictionary(sharding: &Sharding, rank: usize) -> String {
    let dimension = |axes: &Vec<String>| {
        let axes: Vec<String> = axes.iter().map(|axis| format!("\"{axis}\"")).collect();
        format!("{{{}}}", axes.join(", "))
    };
    let mut dimensions: Vec<String> = sharding.dimensions.iter().map(dimension).collect();
    dimensions.resize(rank, "{}".to_owned());
    format!("{{sdy.sharding = #sdy.sharding<@mesh, [{}]>}}", dimensions.join(", "))
}

fn parse<'c>(context: &'c Context, text: &str) -> Result<Attribute<'c>, melior::Error> {
    Attribute::parse(context, text).ok_or_else(|| melior::Error::AttributeParse(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, shape: &[i64]) -> Port {
        Port {
            name: name.to_owned(),
            role: "input".to_owned(),
            shape: shape.to_vec(),
            dtype: "f32".to_owned(),
            extent_of: None,
        }
    }

    fn placed(tensor: &str, dimensions: &[&[&str]]) -> Result<(), PlacementError> {
        let axes = [("data", 2), ("model", 4)];
        let placement = Placement {
            mesh: Mesh { axes: axes.map(|(name, extent)| (name.to_owned(), extent)).to_vec() },
            shardings: vec![Sharding {
                tensor: tensor.to_owned(),
                dimensions: dimensions
                    .iter()
                    .map(|axes| axes.iter().map(|axis| (*axis).to_owned()).collect())
                    .collect(),
            }],
        };
        placement.check([port("x", &[16, 6])].iter())
    }

    #[test]
    fn shardings_that_fit_are_accepted() {
        assert_eq!(placed("x", &[&["data"]]), Ok(()));
        assert_eq!(placed("x", &[&["data", "model"], &[]]), Ok(()));
        assert_eq!(placed("x", &[&["model"], &["data"]]), Ok(()));
        assert_eq!(placed("x", &[]), Ok(()));
    }

    #[test]
    fn errors_state_why_a_sharding_does_not_fit() {
        let error =
            |tensor: &str, dimensions: &[&[&str]]| placed(tensor, dimensions).unwrap_err().to_string();
        assert_eq!(error("y", &[]), "there is no argument or result `y`");
        assert_eq!(error("x", &[&["batch"]]), "the mesh has no axis `batch`");
        assert!(error("x", &[&["data"], &["data"]]).contains("twice"));
        assert!(error("x", &[&[], &[], &[]]).contains("names 3 dimensions"));
        let uneven = error("x", &[&[], &["model"]]);
        assert!(uneven.contains("dimension 1 of `x` has 6 elements, which 4 devices"), "{uneven}");
    }
}
