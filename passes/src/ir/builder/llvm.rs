// SPDX-License-Identifier: Apache-2.0
//! Builder methods for operations of the dialects `llvm` and `nvvm`.

use crate::ir::{Builder, attributes, ops, segment, types};
use melior::dialect::llvm::r#type::pointer;
use melior::ir::attribute::{FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::{OperationBuilder, OperationRef};
use melior::ir::{Attribute, BlockRef, Type, Value};

/// The callee of a direct or an indirect call.
pub(crate) enum Callee<'n, 'c, 'a> {
    Symbol(&'n str),
    Pointer(Value<'c, 'a>),
}

impl<'c: 'a, 'a> Builder<'c, 'a> {
    /// `llvm.call_intrinsic` with a result.
    pub(crate) fn intrinsic(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        result: Type<'c>,
    ) -> Value<'c, 'a> {
        let attributes = [
            ("intrin", attributes::string(self.context, name)),
            ("op_bundle_sizes", attributes::i32s(self.context, &[])),
            self.segments(&[segment(operands.len()), 0]),
        ];
        self.make(ops::llvm::CALL_INTRINSIC, operands, &attributes, result)
    }

    /// `llvm.call`.
    pub(crate) fn call_llvm(
        &self,
        callee: Callee<'_, 'c, 'a>,
        operands: &[Value<'c, 'a>],
        results: &[Type<'c>],
    ) -> OperationRef<'c, 'a> {
        let mut operands = operands.to_vec();
        let mut attributes = vec![("op_bundle_sizes", attributes::i32s(self.context, &[]))];
        match callee {
            Callee::Symbol(name) => {
                attributes.push(("callee", FlatSymbolRefAttribute::new(self.context, name).into()));
            }
            Callee::Pointer(pointer) => operands.insert(0, pointer),
        }
        attributes.push(self.segments(&[segment(operands.len()), 0]));
        self.op(ops::llvm::CALL, &operands, &attributes, results, Vec::new())
    }

    /// `llvm.cond_br` to blocks without arguments.
    pub(crate) fn branch(&self, condition: Value<'c, 'a>, [then, otherwise]: [BlockRef<'c, 'a>; 2]) {
        let segments = self.segments(&[1, 0, 0]);
        let branch = OperationBuilder::new(ops::llvm::COND_BR, self.location)
            .add_operands(&[condition])
            .add_attributes(&attributes::named(self.context, &[segments]))
            .add_successors(&[&then, &otherwise])
            .build();
        self.insert(branch.unwrap_or_else(|error| unreachable!("internal compiler error: {error}")));
    }

    /// The pointer in an address space to `base + offset`, which are byte addresses of type `index`.
    pub(crate) fn pointer(&self, base: Value<'c, 'a>, offset: Value<'c, 'a>, space: u32) -> Value<'c, 'a> {
        let address = self.index_cast(self.addi(base, offset), types::word(self.context));
        self.make(ops::llvm::INTTOPTR, &[address], &[], pointer(self.context, space))
    }

    /// `llvm.getelementptr` with constant indices.
    pub(crate) fn element_pointer(
        &self,
        base: Value<'c, 'a>,
        indices: &[i32],
        r#type: Type<'c>,
    ) -> Value<'c, 'a> {
        let attributes = [
            ("rawConstantIndices", attributes::i32s(self.context, indices)),
            ("elem_type", TypeAttribute::new(r#type).into()),
        ];
        self.make(ops::llvm::GETELEMENTPTR, &[base], &attributes, pointer(self.context, 0))
    }

    /// `llvm.load`.
    pub(crate) fn load_from(&self, pointer: Value<'c, 'a>, r#type: Type<'c>) -> Value<'c, 'a> {
        self.make(ops::llvm::LOAD, &[pointer], &[], r#type)
    }

    /// `llvm.store`.
    pub(crate) fn store_to(&self, value: Value<'c, 'a>, pointer: Value<'c, 'a>) {
        self.op(ops::llvm::STORE, &[value, pointer], &[], &[], Vec::new());
    }

    /// `llvm.bitcast`.
    pub(crate) fn bits_as(&self, value: Value<'c, 'a>, r#type: Type<'c>) -> Value<'c, 'a> {
        self.make(ops::llvm::BITCAST, &[value], &[], r#type)
    }

    /// `llvm.extractvalue` of a field of a struct.
    pub(crate) fn field(&self, of: Value<'c, 'a>, number: i64, r#type: Type<'c>) -> Value<'c, 'a> {
        let position = [("position", attributes::i64s(self.context, &[number]))];
        self.make(ops::llvm::EXTRACTVALUE, &[of], &position, r#type)
    }

    /// `llvm.mlir.addressof`.
    pub(crate) fn address_of(&self, symbol: &str) -> Value<'c, 'a> {
        let name = FlatSymbolRefAttribute::new(self.context, symbol).into();
        self.make(ops::llvm::MLIR_ADDRESSOF, &[], &[("global_name", name)], pointer(self.context, 0))
    }

    /// `nvvm.ldmatrix` of `number` 8 × 8 matrices with 16-bit elements. The result has a field for each matrix.
    pub(crate) fn load_matrices(
        &self,
        pointer: Value<'c, 'a>,
        number: i64,
        result: Type<'c>,
    ) -> Value<'c, 'a> {
        let attributes = [
            ("num", self.i32_attribute(number)),
            ("layout", self.parsed("#nvvm.mma_layout<row>")),
            ("shape", self.parsed("#nvvm.ld_st_matrix_shape<m = 8, n = 8>")),
            ("eltType", self.parsed("#nvvm.ld_st_matrix_elt_type<b16>")),
        ];
        self.make(ops::nvvm::LDMATRIX, &[pointer], &attributes, result)
    }

    /// `nvvm.mma.sync` of 16 × `depth` by `depth` × 8 elements. `factors` is the name of the element type of `a` and `b`.
    pub(crate) fn multiply_matrices(
        &self,
        [a, b, c]: [&[Value<'c, 'a>]; 3],
        depth: i64,
        factors: &str,
        result: Type<'c>,
    ) -> Value<'c, 'a> {
        let kind = self.parsed(&format!("#nvvm.mma_type<{factors}>"));
        let attributes = [
            ("layoutA", self.parsed("#nvvm.mma_layout<row>")),
            ("layoutB", self.parsed("#nvvm.mma_layout<col>")),
            ("shape", self.parsed(&format!("#nvvm.shape<m = 16, n = 8, k = {depth}>"))),
            ("multiplicandAPtxType", kind),
            ("multiplicandBPtxType", kind),
            self.segments(&[a, b, c].map(|operands| segment(operands.len()))),
        ];
        self.make(ops::nvvm::MMA_SYNC, &[a, b, c].concat(), &attributes, result)
    }

    /// `nvvm.convert.float.to.tf32`, which rounds to nearest, ties away from zero.
    pub(crate) fn round_to_tf32(&self, value: Value<'c, 'a>) -> Value<'c, 'a> {
        let mode = [("rnd", self.parsed("#nvvm.fp_rnd_mode<rna>"))];
        self.make(ops::nvvm::CONVERT_FLOAT_TO_TF32, &[value], &mode, types::int(self.context, 32))
    }

    /// `nvvm.cp.async.shared.global` of `bytes` bytes, through the L1 cache of the SM if `cached`.
    pub(crate) fn copy_async(&self, to: Value<'c, 'a>, from: Value<'c, 'a>, bytes: i64, cached: bool) {
        let cache = if cached { "ca" } else { "cg" };
        let attributes = [
            ("size", self.i32_attribute(bytes)),
            ("modifier", self.parsed(&format!("#nvvm<load_cache_modifier {cache}>"))),
        ];
        self.op(ops::nvvm::CP_ASYNC_SHARED_GLOBAL, &[to, from], &attributes, &[], Vec::new());
    }

    /// `nvvm.cp.async.commit.group`.
    pub(crate) fn commit_copies(&self) {
        self.op(ops::nvvm::CP_ASYNC_COMMIT_GROUP, &[], &[], &[], Vec::new());
    }

    /// `nvvm.cp.async.wait.group` for all groups.
    pub(crate) fn wait_for_copies(&self) {
        let all = [("n", self.i32_attribute(0))];
        self.op(ops::nvvm::CP_ASYNC_WAIT_GROUP, &[], &all, &[], Vec::new());
    }

    fn parsed(&self, text: &str) -> Attribute<'c> {
        attributes::parsed(self.context, text)
    }
}
