// SPDX-License-Identifier: Apache-2.0
//! Names of the operations that the passes read and create, by dialect.
//!
//! No other module spells an operation's name: a misspelled constant does not compile, and a test asks the dialects
//! whether they have each operation.

macro_rules! operations {
    ($($dialect:ident { $($constant:ident = $name:literal,)* })*) => {
        $(
            #[doc = concat!("Operations of the dialect `", stringify!($dialect), "`.")]
            pub mod $dialect {
                $(
                    #[doc = concat!("`", $name, "`.")]
                    pub const $constant: &str = $name;
                )*
            }
        )*
        #[cfg(test)]
        const ALL: &[&str] = &[$($($name,)*)*];
    };
}

operations! {
    affine {
        APPLY = "affine.apply",
        FOR = "affine.for",
        IF = "affine.if",
        LOAD = "affine.load",
        PARALLEL = "affine.parallel",
        STORE = "affine.store",
        YIELD = "affine.yield",
    }
    arith {
        ADDF = "arith.addf",
        ADDI = "arith.addi",
        ANDI = "arith.andi",
        BITCAST = "arith.bitcast",
        CEILDIVSI = "arith.ceildivsi",
        CEILDIVUI = "arith.ceildivui",
        CMPF = "arith.cmpf",
        CMPI = "arith.cmpi",
        CONSTANT = "arith.constant",
        DIVF = "arith.divf",
        DIVSI = "arith.divsi",
        DIVUI = "arith.divui",
        EXTF = "arith.extf",
        EXTSI = "arith.extsi",
        EXTUI = "arith.extui",
        FLOORDIVSI = "arith.floordivsi",
        FPTOSI = "arith.fptosi",
        FPTOUI = "arith.fptoui",
        INDEX_CAST = "arith.index_cast",
        INDEX_CASTUI = "arith.index_castui",
        MAXIMUMF = "arith.maximumf",
        MAXNUMF = "arith.maxnumf",
        MAXSI = "arith.maxsi",
        MAXUI = "arith.maxui",
        MINIMUMF = "arith.minimumf",
        MINNUMF = "arith.minnumf",
        MINSI = "arith.minsi",
        MINUI = "arith.minui",
        MULF = "arith.mulf",
        MULI = "arith.muli",
        NEGF = "arith.negf",
        ORI = "arith.ori",
        REMF = "arith.remf",
        REMSI = "arith.remsi",
        REMUI = "arith.remui",
        SELECT = "arith.select",
        SHLI = "arith.shli",
        SHRSI = "arith.shrsi",
        SHRUI = "arith.shrui",
        SITOFP = "arith.sitofp",
        SUBF = "arith.subf",
        SUBI = "arith.subi",
        TRUNCF = "arith.truncf",
        TRUNCI = "arith.trunci",
        UITOFP = "arith.uitofp",
        XORI = "arith.xori",
    }
    bufferization {
        ALLOC_TENSOR = "bufferization.alloc_tensor",
        MATERIALIZE_IN_DESTINATION = "bufferization.materialize_in_destination",
        TO_BUFFER = "bufferization.to_buffer",
        TO_TENSOR = "bufferization.to_tensor",
    }
    builtin {
        MODULE = "builtin.module",
        UNREALIZED_CONVERSION_CAST = "builtin.unrealized_conversion_cast",
    }
    cf {
        ASSERT = "cf.assert",
        COND_BR = "cf.cond_br",
    }
    complex {
        ABS = "complex.abs",
        ADD = "complex.add",
        ATAN2 = "complex.atan2",
        DIV = "complex.div",
        EXP = "complex.exp",
        IM = "complex.im",
        MUL = "complex.mul",
        NEG = "complex.neg",
        POW = "complex.pow",
        RE = "complex.re",
        SIGN = "complex.sign",
        SUB = "complex.sub",
    }
    func {
        CALL = "func.call",
        FUNC = "func.func",
        RETURN = "func.return",
    }
    gpu {
        BARRIER = "gpu.barrier",
        BLOCK_DIM = "gpu.block_dim",
        BLOCK_ID = "gpu.block_id",
        FUNC = "gpu.func",
        GRID_DIM = "gpu.grid_dim",
        LAUNCH = "gpu.launch",
        LAUNCH_FUNC = "gpu.launch_func",
        MODULE = "gpu.module",
        RETURN = "gpu.return",
        THREAD_ID = "gpu.thread_id",
    }
    linalg {
        BATCH_MATMUL = "linalg.batch_matmul",
        BATCH_MATVEC = "linalg.batch_matvec",
        BATCH_VECMAT = "linalg.batch_vecmat",
        BROADCAST = "linalg.broadcast",
        CONTRACT = "linalg.contract",
        CONV_1D = "linalg.conv_1d",
        CONV_1D_NCW_FCW = "linalg.conv_1d_ncw_fcw",
        CONV_1D_NWC_WCF = "linalg.conv_1d_nwc_wcf",
        CONV_2D = "linalg.conv_2d",
        CONV_2D_NCHW_FCHW = "linalg.conv_2d_nchw_fchw",
        CONV_2D_NGCHW_FGCHW = "linalg.conv_2d_ngchw_fgchw",
        CONV_2D_NGCHW_GFCHW = "linalg.conv_2d_ngchw_gfchw",
        CONV_2D_NHWC_FHWC = "linalg.conv_2d_nhwc_fhwc",
        CONV_2D_NHWC_HWCF = "linalg.conv_2d_nhwc_hwcf",
        CONV_2D_NHWGC_GFHWC = "linalg.conv_2d_nhwgc_gfhwc",
        CONV_3D = "linalg.conv_3d",
        CONV_3D_NCDHW_FCDHW = "linalg.conv_3d_ncdhw_fcdhw",
        CONV_3D_NDHWC_DHWCF = "linalg.conv_3d_ndhwc_dhwcf",
        DEPTHWISE_CONV_1D_NCW_CW = "linalg.depthwise_conv_1d_ncw_cw",
        DEPTHWISE_CONV_1D_NWC_WC = "linalg.depthwise_conv_1d_nwc_wc",
        DEPTHWISE_CONV_1D_NWC_WCM = "linalg.depthwise_conv_1d_nwc_wcm",
        DEPTHWISE_CONV_2D_NCHW_CHW = "linalg.depthwise_conv_2d_nchw_chw",
        DEPTHWISE_CONV_2D_NHWC_HWC = "linalg.depthwise_conv_2d_nhwc_hwc",
        DEPTHWISE_CONV_2D_NHWC_HWCM = "linalg.depthwise_conv_2d_nhwc_hwcm",
        DEPTHWISE_CONV_3D_NCDHW_CDHW = "linalg.depthwise_conv_3d_ncdhw_cdhw",
        DEPTHWISE_CONV_3D_NDHWC_DHWC = "linalg.depthwise_conv_3d_ndhwc_dhwc",
        DEPTHWISE_CONV_3D_NDHWC_DHWCM = "linalg.depthwise_conv_3d_ndhwc_dhwcm",
        DOT = "linalg.dot",
        FILL = "linalg.fill",
        GENERIC = "linalg.generic",
        INDEX = "linalg.index",
        MATMUL = "linalg.matmul",
        MATVEC = "linalg.matvec",
        REDUCE = "linalg.reduce",
        TRANSPOSE = "linalg.transpose",
        VECMAT = "linalg.vecmat",
        YIELD = "linalg.yield",
    }
    llvm {
        ADD = "llvm.add",
        ALLOCA = "llvm.alloca",
        BR = "llvm.br",
        CALL = "llvm.call",
        CALL_INTRINSIC = "llvm.call_intrinsic",
        COND_BR = "llvm.cond_br",
        EXTRACTELEMENT = "llvm.extractelement",
        FUNC = "llvm.func",
        GETELEMENTPTR = "llvm.getelementptr",
        INSERTELEMENT = "llvm.insertelement",
        INSERTVALUE = "llvm.insertvalue",
        INTR_FMULADD = "llvm.intr.fmuladd",
        INTR_RINT = "llvm.intr.rint",
        LOAD = "llvm.load",
        MLIR_ADDRESSOF = "llvm.mlir.addressof",
        MLIR_CONSTANT = "llvm.mlir.constant",
        MLIR_GLOBAL = "llvm.mlir.global",
        MLIR_POISON = "llvm.mlir.poison",
        MUL = "llvm.mul",
        RETURN = "llvm.return",
        SDIV = "llvm.sdiv",
        SREM = "llvm.srem",
        STORE = "llvm.store",
        TRUNC = "llvm.trunc",
        UDIV = "llvm.udiv",
        UREM = "llvm.urem",
    }
    math {
        ABSF = "math.absf",
        ABSI = "math.absi",
        ACOS = "math.acos",
        ACOSH = "math.acosh",
        ASIN = "math.asin",
        ASINH = "math.asinh",
        ATAN = "math.atan",
        ATAN2 = "math.atan2",
        ATANH = "math.atanh",
        CBRT = "math.cbrt",
        CEIL = "math.ceil",
        COPYSIGN = "math.copysign",
        COS = "math.cos",
        COSH = "math.cosh",
        CTLZ = "math.ctlz",
        CTPOP = "math.ctpop",
        ERF = "math.erf",
        ERFC = "math.erfc",
        EXP = "math.exp",
        EXP2 = "math.exp2",
        EXPM1 = "math.expm1",
        FLOOR = "math.floor",
        FMA = "math.fma",
        IPOWI = "math.ipowi",
        LOG = "math.log",
        LOG1P = "math.log1p",
        POWF = "math.powf",
        ROUND = "math.round",
        ROUNDEVEN = "math.roundeven",
        RSQRT = "math.rsqrt",
        SIN = "math.sin",
        SINH = "math.sinh",
        SQRT = "math.sqrt",
        TAN = "math.tan",
        TANH = "math.tanh",
        TRUNC = "math.trunc",
    }
    memref {
        ALLOC = "memref.alloc",
        ALLOCA = "memref.alloca",
        CAST = "memref.cast",
        COLLAPSE_SHAPE = "memref.collapse_shape",
        COPY = "memref.copy",
        DEALLOC = "memref.dealloc",
        DIM = "memref.dim",
        EXPAND_SHAPE = "memref.expand_shape",
        EXTRACT_ALIGNED_POINTER_AS_INDEX = "memref.extract_aligned_pointer_as_index",
        EXTRACT_STRIDED_METADATA = "memref.extract_strided_metadata",
        GET_GLOBAL = "memref.get_global",
        LOAD = "memref.load",
        MEMORY_SPACE_CAST = "memref.memory_space_cast",
        REINTERPRET_CAST = "memref.reinterpret_cast",
        STORE = "memref.store",
        SUBVIEW = "memref.subview",
        TRANSPOSE = "memref.transpose",
        VIEW = "memref.view",
    }
    ml_program {
        FUNC = "ml_program.func",
        RETURN = "ml_program.return",
    }
    rocdl {
        GRID_DIM_X = "rocdl.grid.dim.x",
    }
    scf {
        CONDITION = "scf.condition",
        FOR = "scf.for",
        IF = "scf.if",
        PARALLEL = "scf.parallel",
        REDUCE = "scf.reduce",
        WHILE = "scf.while",
        YIELD = "scf.yield",
    }
    sdy {
        MESH = "sdy.mesh",
        RESHARD = "sdy.reshard",
        SHARDING_CONSTRAINT = "sdy.sharding_constraint",
    }
    skript {
        ACCESS = "skript.access",
        ADD = "skript.add",
        AND = "skript.and",
        CAST = "skript.cast",
        CEILDIV = "skript.ceildiv",
        CHECK = "skript.check",
        CONDITION = "skript.condition",
        DIV = "skript.div",
        EQ = "skript.eq",
        FORMULA = "skript.formula",
        GE = "skript.ge",
        GT = "skript.gt",
        INTRINSIC = "skript.intrinsic",
        INVOKE = "skript.invoke",
        LE = "skript.le",
        LT = "skript.lt",
        MAX = "skript.max",
        MIN = "skript.min",
        MOD = "skript.mod",
        MUL = "skript.mul",
        NEG = "skript.neg",
        OR = "skript.or",
        POW = "skript.pow",
        SELECT = "skript.select",
        SUB = "skript.sub",
        TAN = "skript.tan",
        YIELD = "skript.yield",
    }
    spirv {
        ACCESS_CHAIN = "spirv.AccessChain",
        ADDRESS_OF = "spirv.mlir.addressof",
        COMPOSITE_CONSTRUCT = "spirv.CompositeConstruct",
        COMPOSITE_EXTRACT = "spirv.CompositeExtract",
        CONSTANT = "spirv.Constant",
        CONVERT_U_TO_PTR = "spirv.ConvertUToPtr",
        LOAD = "spirv.Load",
        MODULE = "spirv.module",
        STORE = "spirv.Store",
        VARIABLE = "spirv.Variable",
    }
    stablehlo {
        AND = "stablehlo.and",
        BROADCAST_IN_DIM = "stablehlo.broadcast_in_dim",
        CHOLESKY = "stablehlo.cholesky",
        CLAMP = "stablehlo.clamp",
        COMPARE = "stablehlo.compare",
        COMPOSITE = "stablehlo.composite",
        CONCATENATE = "stablehlo.concatenate",
        CONSTANT = "stablehlo.constant",
        CONVERT = "stablehlo.convert",
        CUSTOM_CALL = "stablehlo.custom_call",
        DOT_GENERAL = "stablehlo.dot_general",
        DYNAMIC_SLICE = "stablehlo.dynamic_slice",
        DYNAMIC_UPDATE_SLICE = "stablehlo.dynamic_update_slice",
        GATHER = "stablehlo.gather",
        IF = "stablehlo.if",
        MAXIMUM = "stablehlo.maximum",
        MINIMUM = "stablehlo.minimum",
        OR = "stablehlo.or",
        PAD = "stablehlo.pad",
        REDUCE = "stablehlo.reduce",
        REDUCE_WINDOW = "stablehlo.reduce_window",
        RESHAPE = "stablehlo.reshape",
        RETURN = "stablehlo.return",
        REVERSE = "stablehlo.reverse",
        RNG = "stablehlo.rng",
        SCATTER = "stablehlo.scatter",
        SELECT = "stablehlo.select",
        SELECT_AND_SCATTER = "stablehlo.select_and_scatter",
        SLICE = "stablehlo.slice",
        SORT = "stablehlo.sort",
        TRANSPOSE = "stablehlo.transpose",
        TRIANGULAR_SOLVE = "stablehlo.triangular_solve",
        WHILE = "stablehlo.while",
    }
    tensor {
        CAST = "tensor.cast",
        COLLAPSE_SHAPE = "tensor.collapse_shape",
        DIM = "tensor.dim",
        EMPTY = "tensor.empty",
        EXPAND_SHAPE = "tensor.expand_shape",
        EXTRACT = "tensor.extract",
        EXTRACT_SLICE = "tensor.extract_slice",
        FROM_ELEMENTS = "tensor.from_elements",
        GENERATE = "tensor.generate",
        INSERT = "tensor.insert",
        INSERT_SLICE = "tensor.insert_slice",
        SPLAT = "tensor.splat",
        YIELD = "tensor.yield",
    }
    ub {
        POISON = "ub.poison",
    }
    vector {
        BROADCAST = "vector.broadcast",
        CREATE_MASK = "vector.create_mask",
        EXTRACT = "vector.extract",
        EXTRACT_STRIDED_SLICE = "vector.extract_strided_slice",
        FROM_ELEMENTS = "vector.from_elements",
        GATHER = "vector.gather",
        INSERT_STRIDED_SLICE = "vector.insert_strided_slice",
        LOAD = "vector.load",
        MASKEDLOAD = "vector.maskedload",
        MASKEDSTORE = "vector.maskedstore",
        REDUCTION = "vector.reduction",
        SCATTER = "vector.scatter",
        SHUFFLE = "vector.shuffle",
        STORE = "vector.store",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names without a registered dialect: `sdy` is registered only where programs are parsed.
    const FOREIGN: [&str; 3] = ["ml_program.", "sdy.", "stablehlo.rng"];

    #[test]
    fn every_name_is_an_operation() {
        let context = crate::ir::new_context();
        let registry = melior::dialect::DialectRegistry::new();
        skript_dialect::register_stablehlo(&registry);
        context.append_dialect_registry(&registry);
        context.load_all_available_dialects();
        let unknown: Vec<_> = ALL
            .iter()
            .filter(|name| !FOREIGN.iter().any(|prefix| name.starts_with(prefix)))
            .filter(|name| !context.is_registered_operation(name))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
