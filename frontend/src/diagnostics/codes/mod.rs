//! One file per diagnostic: its code, its explanation, and at its foot a test that fires it and a near miss.

use super::Code;

/// Declares the modules of this folder and the list of all codes.
macro_rules! codes {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        $(pub use $module::*;)*
        /// All codes, in order of their ids.
        pub const ALL: &[&Code] = &[$(&$module::CODE_ENTRY),*];
    };
}

codes! {
    sk0201_syntax,
    sk0450_division_by_zero,
    sk0451_integer_overflow,
    sk0452_index_out_of_range,
    sk0453_pack_lengths_differ,
    sk0454_unexpected_value,
    sk0455_pack_too_long,
    sk0550_attribute_missing,
    sk0551_attribute_value,
    sk0552_uniform_length_unknown,
    sk0553_attribute_length,
    sk0650_rank_mismatch,
    sk0651_extent_mismatch,
    sk0652_affine_extent,
    sk0653_argument_count,
    sk0654_argument_kind,
    sk0655_output_mismatch,
    sk0656_shape_not_bound,
    sk0750_constant_value,
    sk0850_assertion_failed,
    sk1050_results_mismatch,
    sk1051_not_supported_yet,
    sk1052_endless_recursion,
    sk1053_scan_lengths,
    sk1054_control_condition,
    sk1055_loop_without_end,
    sk1056_branch_results,
    sk1057_tensor_unknown,
    sk1250_access_out_of_range,
    sk1251_formula,
    sk1350_type_deduction,
    sk1450_quantization,
    sk1511_module_missing,
    sk1512_unreadable,
    sk1513_import_depth,
    sk1514_editions,
    sk1601_missing_semicolon,
    sk1602_bracket,
    sk1603_block_name,
    sk1604_reserved_word,
    sk1605_nesting,
    sk1606_string,
    sk1607_number,
    sk1608_yield,
    sk1609_encoding,
    sk1610_source_size,
    sk1611_builtin_name,
    sk3001_graph_unknown,
    sk3002_graph_parameter,
    sk3003_limit_exceeded,
}
