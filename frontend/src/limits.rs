//! Bounds on what a document may ask for; exceeding one is a diagnostic, never a crash or a hang.

/// Named limits with their defaults.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of one source file.
    pub source_bytes: usize,
    /// Nested brackets, blocks and operators of one expression.
    pub nesting: usize,
    /// Chained operator invocations while composing.
    pub call_depth: usize,
    /// Chained imports.
    pub import_depth: usize,
    /// Items of one compile-time pack.
    pub pack_length: usize,
    /// Operator instances of one model.
    pub instances: usize,
    /// Formulas or loop bodies that one `unroll` (or pack index) produces.
    pub unrolled: usize,
    /// Elements of one constant computed at compile time.
    pub constant_elements: usize,
    /// Elements of one tensor.
    pub tensor_elements: u64,
    /// Dimensions of one tensor.
    pub rank: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            source_bytes: 64 << 20,
            nesting: 256,
            call_depth: 128,
            import_depth: 64,
            pack_length: 1 << 20,
            instances: 1 << 20,
            unrolled: 1 << 16,
            constant_elements: 1 << 24,
            tensor_elements: 1 << 40,
            rank: 64,
        }
    }
}
