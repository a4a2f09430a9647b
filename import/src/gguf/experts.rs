// SPDX-License-Identifier: Apache-2.0
//! Mixtures of experts: a router selects some gated units for each token.

use super::architecture::{Architecture, Mixture};
use super::model::{Matrix, Tensors, Unit};
use super::parameters::Parameters;
use super::text::{gated_unit, linear, product};
use crate::refusal::{Reason, Ruled};

/// How a router selects experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Routing {
    pub experts: u64,
    /// The number of experts of a token.
    pub used: u64,
    /// Whether the weights of these experts are divided by their sum.
    pub is_normalized: bool,
    /// The number of gated features of an expert, and of the shared expert, if the file has the keys.
    hidden: Option<u64>,
    shared_hidden: Option<u64>,
}

/// The experts of a layer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Experts<'f> {
    pub routing: Routing,
    pub router: Matrix<'f>,
    pub gate: Matrix<'f>,
    pub up: Matrix<'f>,
    pub down: Matrix<'f>,
    /// The gated unit of all tokens, multiplied by a separate gate.
    pub shared: Option<Unit<'f>>,
}

/// The vector of the gate of the shared expert.
const SHARED_GATE: &str = "ffn_gate_inp_shexp";

impl Routing {
    /// Reads the hyperparameters; `None` for a model without experts.
    pub fn read(architecture: &Architecture, parameters: Parameters<'_>) -> Ruled<Option<Self>> {
        let (is_normalized, is_required) = match architecture.experts {
            Mixture::Never => return Ok(None),
            Mixture::Sometimes { is_normalized } => (is_normalized, false),
            Mixture::Always { is_normalized } => (is_normalized, true),
        };
        let experts = match parameters.optional_natural("expert_count")? {
            Some(experts) => experts,
            None if is_required => return Err(parameters.wrong("expert_count", "is missing or 0")),
            None => return Ok(None),
        };
        let used = parameters.int("expert_used_count")?;
        if used > experts {
            return Err(parameters
                .wrong("expert_used_count", &format!("is {used}, but the model has {experts} experts")));
        }
        // The softmax of all logits is the gating function 1; groups of experts are not supported.
        for name in
            ["expert_gating_func", "expert_weights_scale", "expert_group_count", "expert_shared_count"]
        {
            parameters.one(name)?;
        }
        parameters.flag("expert_weights_norm", is_normalized)?;
        Ok(Some(Routing {
            experts,
            used,
            is_normalized,
            hidden: parameters.optional_int("expert_feed_forward_length")?,
            shared_hidden: parameters.optional_int("expert_shared_feed_forward_length")?,
        }))
    }
}

impl<'f> Experts<'f> {
    /// The experts of the layer whose tensors begin with `prefix`.
    pub fn read(tensors: &mut Tensors<'f>, prefix: &str, width: u64, routing: Routing) -> Ruled<Self> {
        let experts = Some(routing.experts);
        let router = tensors.matrix(prefix, "ffn_gate_inp", experts, width)?;
        let up = tensors.matrices(prefix, "ffn_up_exps", experts, routing.hidden, width)?;
        Ok(Experts {
            routing,
            router,
            gate: tensors.matrices(prefix, "ffn_gate_exps", experts, Some(up.rows), width)?,
            up,
            down: tensors.matrices(prefix, "ffn_down_exps", experts, Some(width), up.rows)?,
            shared: shared(tensors, prefix, width, routing)?,
        })
    }

    pub fn matrices(&self) -> impl Iterator<Item = &Matrix<'f>> {
        let shared = self.shared.iter().flat_map(Unit::matrices);
        [&self.router, &self.gate, &self.up, &self.down].into_iter().chain(shared)
    }

    /// The statements that compute `fed` from `c`.
    pub fn statements(&self) -> String {
        let Routing { used, is_normalized, .. } = self.routing;
        let normalize = if is_normalized { ", normalize=true" } else { "" };
        let [gate, up, down] =
            [(&self.gate, "row"), (&self.up, "row"), (&self.down, "gated")].map(|(matrix, x)| {
                let Matrix { name, rows, .. } = matrix;
                format!(
                    "{name}: {}{{count={}, size={rows}}}({x}, expert)",
                    linear(matrix),
                    self.routing.experts
                )
            });
        let fed = if self.shared.is_some() { "routed" } else { "fed" };
        let mut text = format!(
            "logits = {};\nexpert, weight = lm.route{{used={used}{normalize}}}(logits);\n\
             row = layout.unsqueeze{{axes=[1]}}(c);\n\
             gates = {gate};\nups = {up};\ngated = lm.swiglu(gates, ups);\nparts = {down};\n\
             {fed} = lm.mixture(parts, weight);\n",
            product(&self.router, "c")
        );
        if let Some(unit) = &self.shared {
            text += &gated_unit(unit, false, "closed");
            text += &format!("shared = {SHARED_GATE}: opened(closed, c);\nfed = math.add(routed, shared);\n");
        }
        text
    }
}

/// The shared expert of a layer, if it has one.
fn shared<'f>(
    tensors: &mut Tensors<'f>,
    prefix: &str,
    width: u64,
    routing: Routing,
) -> Ruled<Option<Unit<'f>>> {
    let gate = format!("{prefix}{SHARED_GATE}.weight");
    if tensors.file.entry(&gate).is_none() {
        return match routing.shared_hidden {
            Some(_) => Err(Reason(format!("the tensor `{gate}` is missing"))),
            None => Ok(None),
        };
    }
    tensors.vector(&gate, width)?;
    let up = tensors.matrix(prefix, "ffn_up_shexp", routing.shared_hidden, width)?;
    let gated = vec![tensors.matrix(prefix, "ffn_gate_shexp", Some(up.rows), width)?, up];
    Ok(Some(Unit {
        gated,
        down: tensors.matrix(prefix, "ffn_down_shexp", Some(width), up.rows)?,
        hidden: up.rows,
    }))
}

/// The operator of the gate of a shared expert.
pub(super) const OPENED: &str = "# The shared expert, multiplied by its gate.\n\
    operator opened {\n@input {\nx: real[n,size];\nfeatures: real[n,k];\n}\n@variable { weight: real[k]; }\n\
    @output { y: real[n,size]; }\n@compose { y = lm.opened(x, features, weight); }\n}\n\n";
