// SPDX-License-Identifier: Apache-2.0
//! Supported GPUs, as data: the languages of their kernels, and the properties that determine the mapping of loops.

use skript_dialect::{Options, PassError, PassOption};

pub use skript_runtime::artifact::Language;

/// The LLVM triple of a language; empty for SPIR-V, which MLIR writes.
pub(crate) fn triple(language: Language) -> &'static str {
    match language {
        Language::Ptx => "nvptx64-nvidia-cuda",
        Language::Amdgcn => "amdgcn-amd-amdhsa",
        Language::SpirV => "",
    }
}

/// A GPU architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The name on command lines: `sm_90`, `vulkan`.
    pub name: &'static str,
    /// The language of its kernels.
    pub language: Language,
    /// LLVM's features that code requires, such as the version of PTX.
    pub features: &'static str,
    /// Number of threads of a warp.
    pub warp: u32,
    /// Default number of threads of a block.
    pub block: u32,
    /// Maximum number of 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared_memory: u32,
    /// Minimum number of concurrent blocks.
    pub processors: u32,
    /// Maximum number of loop iterations that a thread executes in one kernel, because drivers may terminate longer loops; 0 for any number.
    pub iterations: u32,
    /// Number of products of an element that one loop iteration adds in a kernel with other operations, whose values occupy registers. It
    /// limits unrolling by the assembler, which would use all registers. In other kernels, an iteration adds the products of a full copy. 0
    /// for no limit.
    pub unrolled: u32,
    /// The candidates for the tiles of contractions.
    pub tiles: &'static [Tile],
    /// The kind of copies from device memory directly into shared memory; `None` if copies use registers.
    pub copies: Option<DirectCopy>,
    /// The matrix unit of a warp; `None` without one.
    pub matrices: Option<MatrixUnit>,
}

/// The kind of copies from device memory into shared memory without intermediate registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectCopy {
    /// The instruction `cp.async` of NVIDIA GPUs from sm_80 on: copies are asynchronous, and threads wait for them later.
    Async,
    /// A simulation by loads and stores, for tests.
    Simulated,
}

/// A unit with which warps of 32 threads compute matrix products of 16 rows, 8 columns, and a depth of 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixUnit {
    /// The instructions of the unit.
    pub kind: MatrixUnitKind,
    /// The candidates for the tiles of blocks.
    pub tiles: &'static [MatrixTile],
}

/// The kind of matrix unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixUnitKind {
    /// Tensor cores, by the instruction `mma.sync`.
    Mma,
    /// A simulation by threads, for tests, with the register layout of `mma.sync`.
    Simulated,
}

/// The part of a contraction's result that a block computes with matrix units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixTile {
    /// Rows and columns of a block.
    pub sizes: [u32; 2],
    /// Depth of a copy in shared memory, in bytes of the input elements.
    pub depth: u32,
    /// Rows and columns of a warp.
    pub warp: [u32; 2],
    /// Minimum number of resident blocks per SM; 0 lets ptxas decide.
    pub resident: u32,
}

impl MatrixTile {
    const fn new(sizes: [u32; 2], depth: u32, warp: [u32; 2]) -> MatrixTile {
        MatrixTile { sizes, depth, warp, resident: 0 }
    }

    const fn resident(self, resident: u32) -> MatrixTile {
        MatrixTile { resident, ..self }
    }

    /// The number of threads of a block.
    pub(crate) fn threads(&self) -> i64 {
        let [rows, columns] = self.sizes;
        let [warp_rows, warp_columns] = self.warp;
        32 * i64::from(rows / warp_rows.max(1)) * i64::from(columns / warp_columns.max(1))
    }

    /// Estimates the cycles of a block for a depth of 4 bytes: 512 products per cycle, and the reads from shared memory.
    pub(crate) fn cycles(&self) -> i64 {
        let [rows, columns] = self.sizes.map(i64::from);
        let [warp_rows, warp_columns] = self.warp.map(i64::from);
        let warps = self.threads() / 32;
        rows * columns / 512 + warps * (warp_rows + warp_columns) / 16 + (rows + columns) / 8
    }
}

/// Tiles of 256 threads.
const MATRIX_TILES: &[MatrixTile] = &[
    MatrixTile::new([128, 128], 64, [64, 32]),
    MatrixTile::new([128, 64], 64, [32, 32]),
    MatrixTile::new([64, 128], 64, [32, 32]),
    MatrixTile::new([64, 64], 64, [32, 16]),
    MatrixTile::new([32, 64], 64, [16, 16]).resident(2),
];

/// The option that names the GPU.
pub(crate) const GPU: PassOption = PassOption { name: "gpu", summary: "the GPU", default: "sm_80" };

/// Returns the GPU that the option names.
pub(crate) fn named_gpu(options: &Options) -> Result<&'static Gpu, PassError> {
    let name = options.text(GPU.name);
    Gpu::named(name).ok_or_else(|| PassError::from(format!("option gpu: {name} is not a GPU")))
}

/// The rounding of inputs of contractions on matrix units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Inputs are not rounded: matrix units are not used.
    #[default]
    F32,
    /// f32 inputs are rounded to 11 significant bits, with the exponents of f32.
    Tf32,
    /// f32 inputs are rounded to f16.
    F16,
    /// f32 inputs are rounded to bf16.
    Bf16,
}

impl Precision {
    /// All precisions by name.
    pub const ALL: &'static [(&'static str, Precision)] = &[
        ("f32", Precision::F32),
        ("tf32", Precision::Tf32),
        ("f16", Precision::F16),
        ("bf16", Precision::Bf16),
    ];

    /// Returns the precision with a name.
    pub fn named(name: &str) -> Option<Precision> {
        Precision::ALL.iter().find(|(known, _)| *known == name).map(|(_, precision)| *precision)
    }

    /// The name on command lines.
    pub fn name(self) -> &'static str {
        Precision::ALL.iter().find(|(_, precision)| *precision == self).map_or("f32", |(name, _)| name)
    }
}

/// The part of a contraction's result that a block computes, and the part that each of its threads computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of a block.
    pub rows: u32,
    /// Columns of a block.
    pub columns: u32,
    /// Depth of a copy in shared memory: the number of products of each element.
    pub depth: u32,
    /// Rows of a thread.
    pub thread_rows: u32,
    /// Columns of a thread.
    pub thread_columns: u32,
}

impl Tile {
    const fn new(rows: u32, columns: u32, depth: u32, thread: [u32; 2]) -> Tile {
        Tile { rows, columns, depth, thread_rows: thread[0], thread_columns: thread[1] }
    }

    /// The number of threads of a block.
    pub(crate) fn threads(&self) -> i64 {
        let rows = self.rows / self.thread_rows.max(1);
        i64::from(rows * (self.columns / self.thread_columns.max(1)))
    }

    /// Estimates the cycles of a block for one product of each element: 128 products and 8 copied elements per cycle.
    pub(crate) fn cycles(&self) -> i64 {
        let (rows, columns) = (i64::from(self.rows), i64::from(self.columns));
        rows * columns / 128 + (rows + columns) / 8
    }
}

/// Tiles of blocks of 256 threads.
const TILES: &[Tile] = &[
    Tile::new(128, 128, 8, [8, 8]),
    Tile::new(128, 64, 8, [8, 4]),
    Tile::new(64, 128, 8, [4, 8]),
    Tile::new(64, 64, 16, [4, 4]),
    Tile::new(32, 64, 16, [2, 4]),
    Tile::new(64, 32, 16, [4, 2]),
    Tile::new(32, 32, 16, [2, 2]),
    Tile::new(16, 64, 16, [1, 4]),
    Tile::new(64, 16, 16, [4, 1]),
];

/// NVIDIA GPUs from sm_80 on.
const AMPERE: Gpu = Gpu {
    name: "sm_80",
    language: Language::Ptx,
    features: "+ptx80",
    warp: 32,
    block: 256,
    registers: 255,
    shared_memory: 48 << 10,
    processors: 108,
    iterations: 0,
    unrolled: 4,
    tiles: TILES,
    copies: Some(DirectCopy::Async),
    matrices: Some(MatrixUnit { kind: MatrixUnitKind::Mma, tiles: MATRIX_TILES }),
};

/// AMD Instinct GPUs from MI200 on.
const CDNA: Gpu = Gpu {
    name: "gfx90a",
    language: Language::Amdgcn,
    features: "",
    warp: 64,
    block: 256,
    registers: 512,
    shared_memory: 64 << 10,
    processors: 104,
    iterations: 0,
    unrolled: 0,
    tiles: TILES,
    copies: None,
    matrices: None,
};

/// The limits that Vulkan guarantees, or the limits of lavapipe.
const VULKAN: Gpu = Gpu {
    name: "vulkan",
    language: Language::SpirV,
    features: "",
    warp: 8,
    block: 64,
    registers: 255,
    shared_memory: 16 << 10,
    processors: 16,
    // lavapipe terminates the loops of a thread after twice this number of iterations.
    iterations: 1 << 15,
    unrolled: 0,
    tiles: &[
        Tile::new(32, 32, 8, [4, 4]),
        Tile::new(16, 16, 16, [2, 2]),
        Tile::new(8, 32, 8, [1, 4]),
        Tile::new(32, 8, 8, [4, 1]),
    ],
    copies: None,
    matrices: None,
};

/// All supported GPU architectures.
pub const GPUS: &[Gpu] = &[
    AMPERE,
    Gpu { name: "sm_90", ..AMPERE },
    CDNA,
    // A warp has 32 threads.
    Gpu { name: "gfx1100", warp: 32, registers: 256, ..CDNA },
    VULKAN,
    // A Vulkan device with simulated matrix units, whose warps have 32 threads.
    Gpu {
        name: "vulkan-matrices",
        shared_memory: 32 << 10,
        copies: Some(DirectCopy::Simulated),
        matrices: Some(MatrixUnit {
            kind: MatrixUnitKind::Simulated,
            tiles: &[MatrixTile::new([32, 16], 64, [32, 8]), MatrixTile::new([16, 32], 64, [16, 16])],
        }),
        ..VULKAN
    },
];

impl Gpu {
    /// Returns the architecture with a name.
    pub fn named(name: &str) -> Option<&'static Gpu> {
        GPUS.iter().find(|gpu| gpu.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_warps() {
        for gpu in GPUS {
            assert_eq!(gpu.block % gpu.warp, 0, "{}", gpu.name);
            assert_eq!(Gpu::named(gpu.name), Some(gpu));
        }
    }

    #[test]
    fn threads_copy_equal_parts_of_tiles() {
        for gpu in GPUS {
            for tile in gpu.tiles {
                assert_eq!(tile.threads(), i64::from(gpu.block), "{tile:?}");
                assert_eq!(tile.rows % tile.thread_rows, 0, "{tile:?}");
                assert_eq!(tile.columns % tile.thread_columns, 0, "{tile:?}");
                for size in [tile.rows, tile.columns] {
                    assert_eq!(i64::from(size * tile.depth) % tile.threads(), 0, "{tile:?}");
                }
            }
        }
    }

    #[test]
    fn warps_have_whole_matrices() {
        for gpu in GPUS {
            for tile in gpu.matrices.map_or(&[][..], |unit| unit.tiles) {
                let [rows, columns] = tile.warp;
                assert_eq!([rows % 16, columns % 8], [0, 0], "{tile:?}");
                assert_eq!(tile.threads(), i64::from(gpu.block), "{tile:?}");
                assert_eq!(tile.depth % 32, 0, "{tile:?}");
                for bytes in [2, 4] {
                    for size in tile.sizes {
                        let copied = size * tile.depth / bytes;
                        assert_eq!(copied % gpu.block, 0, "{tile:?}");
                    }
                }
            }
        }
    }
}
