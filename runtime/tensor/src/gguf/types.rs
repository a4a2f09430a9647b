// SPDX-License-Identifier: Apache-2.0
//! The types of tensors in `.gguf` files.

use crate::element::ElementType;

/// How the elements of a tensor are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// As elements of this type.
    Elements(ElementType),
    /// In blocks along the last dimension.
    Blocks {
        /// The number of elements of a block.
        elements: u64,
        /// The number of bytes of a block.
        bytes: u64,
    },
}

/// A type of ggml.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockType {
    code: u32,
    name: &'static str,
    storage: Storage,
}

const fn plain(code: u32, name: &'static str, element: ElementType) -> BlockType {
    BlockType { code, name, storage: Storage::Elements(element) }
}

const fn blocks(code: u32, name: &'static str, elements: u64, bytes: u64) -> BlockType {
    BlockType { code, name, storage: Storage::Blocks { elements, bytes } }
}

/// All types of stored tensors, by their codes. Q8_1 (9) and Q8_K (15) are only types of intermediate results in ggml; the other missing
/// codes were removed from it.
const TYPES: [BlockType; 32] = [
    plain(0, "F32", ElementType::F32),
    plain(1, "F16", ElementType::F16),
    blocks(2, "Q4_0", 32, 18),
    blocks(3, "Q4_1", 32, 20),
    blocks(6, "Q5_0", 32, 22),
    blocks(7, "Q5_1", 32, 24),
    blocks(8, "Q8_0", 32, 34),
    blocks(10, "Q2_K", 256, 84),
    blocks(11, "Q3_K", 256, 110),
    blocks(12, "Q4_K", 256, 144),
    blocks(13, "Q5_K", 256, 176),
    blocks(14, "Q6_K", 256, 210),
    blocks(16, "IQ2_XXS", 256, 66),
    blocks(17, "IQ2_XS", 256, 74),
    blocks(18, "IQ3_XXS", 256, 98),
    blocks(19, "IQ1_S", 256, 50),
    blocks(20, "IQ4_NL", 32, 18),
    blocks(21, "IQ3_S", 256, 110),
    blocks(22, "IQ2_S", 256, 82),
    blocks(23, "IQ4_XS", 256, 136),
    plain(24, "I8", ElementType::I8),
    plain(25, "I16", ElementType::I16),
    plain(26, "I32", ElementType::I32),
    plain(27, "I64", ElementType::I64),
    plain(28, "F64", ElementType::F64),
    blocks(29, "IQ1_M", 256, 56),
    plain(30, "BF16", ElementType::BF16),
    blocks(34, "TQ1_0", 256, 54),
    blocks(35, "TQ2_0", 256, 66),
    blocks(39, "MXFP4", 32, 17),
    blocks(40, "NVFP4", 64, 36),
    blocks(41, "Q1_0", 128, 18),
];

impl BlockType {
    /// The type of a code; `None` for unknown codes.
    pub(super) fn from_code(code: u32) -> Option<BlockType> {
        TYPES.into_iter().find(|kind| kind.code == code)
    }

    /// The name in ggml: `Q4_K`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// How elements are stored.
    pub fn storage(self) -> Storage {
        self.storage
    }
}
