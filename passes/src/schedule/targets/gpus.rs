// SPDX-License-Identifier: Apache-2.0
//! GPUs as data: how kernels are written for them, and their properties that decide how loops are mapped.

pub use skript_runtime::artifact::Language;

/// The triple of LLVM's target for a language; empty for SPIR-V, which MLIR writes.
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
    /// LLVM's features that code needs, such as the version of PTX.
    pub features: &'static str,
    /// Threads that execute one instruction together.
    pub warp: u32,
    /// Threads of a block where nothing else decides.
    pub block: u32,
    /// Registers of 32 bits that a thread has at most.
    pub registers: u32,
    /// Bytes of memory that a block shares.
    pub shared_memory: u32,
    /// Blocks that run at the same time at least.
    pub processors: u32,
    /// Iterations of loops that a thread executes in one kernel at most, because drivers may end its loops early; 0 for any number.
    pub iterations: u32,
    /// Products of an element that a loop adds in an iteration in a kernel with other operations, whose values stay in registers
    /// meanwhile: assemblers unroll longer loops until none is left. In other kernels it adds those of a whole copy. 0 where that is theirs.
    pub unrolled: u32,
    /// The tiles that contractions are computed in.
    pub tiles: &'static [Tile],
    /// How threads copy from the memory of the device into that of a block without registers between; `None` if they do not.
    pub copies: Option<DirectCopy>,
    /// How a warp computes products of small matrices at once; `None` if it does not.
    pub matrices: Option<MatrixUnit>,
}

/// How threads copy from the memory of the device into that of a block without registers between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectCopy {
    /// By the instruction `cp.async`, which NVIDIA's GPUs have from sm_80 on: threads go on, and wait for their copies later.
    Async,
    /// By loads and stores in its place: a simulation, for tests.
    Simulated,
}

/// How warps of 32 threads compute products of matrices of 16 rows, 8 columns and 32 bytes of products of each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixUnit {
    /// What computes them.
    pub kind: MatrixUnitKind,
    /// The tiles of blocks.
    pub tiles: &'static [MatrixTile],
}

/// What computes products of small matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixUnitKind {
    /// Tensor cores, by the instruction `mma.sync`.
    Mma,
    /// Threads, from the registers that `mma.sync` would read: a simulation, for tests.
    Simulated,
}

/// The part of a contraction's result that a block computes by products of small matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixTile {
    /// Rows and columns of a block.
    pub sizes: [u32; 2],
    /// Bytes of the products of each element that are computed from one copy in shared memory.
    pub depth: u32,
    /// Rows and columns of a warp.
    pub warp: [u32; 2],
    /// Blocks that a processor has registers for, at least; 0 where the assembler of PTX selects enough registers by itself.
    pub resident: u32,
}

impl MatrixTile {
    const fn new(sizes: [u32; 2], depth: u32, warp: [u32; 2]) -> MatrixTile {
        MatrixTile { sizes, depth, warp, resident: 0 }
    }

    const fn resident(self, resident: u32) -> MatrixTile {
        MatrixTile { resident, ..self }
    }

    /// The threads of a block.
    pub(crate) fn threads(&self) -> i64 {
        let [rows, columns] = self.sizes;
        let [own_rows, own_columns] = self.warp;
        32 * i64::from(rows / own_rows.max(1)) * i64::from(columns / own_columns.max(1))
    }

    /// The cycles of a block for 4 bytes of products of each element: 512 products at a time, and 4 elements that are read from shared memory.
    pub(crate) fn cycles(&self) -> i64 {
        let [rows, columns] = self.sizes.map(i64::from);
        let [own_rows, own_columns] = self.warp.map(i64::from);
        let warps = self.threads() / 32;
        rows * columns / 512 + warps * (own_rows + own_columns) / 16 + (rows + columns) / 8
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

/// How contractions on units for matrices round their inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Not at all: nothing is computed by such units.
    #[default]
    F32,
    /// Inputs in f32 to 11 significant bits, with the exponents of f32.
    Tf32,
    /// Inputs in f32 to f16.
    F16,
    /// Inputs in f32 to bf16.
    Bf16,
}

impl Precision {
    /// All, by their names.
    pub const ALL: &'static [(&'static str, Precision)] = &[
        ("f32", Precision::F32),
        ("tf32", Precision::Tf32),
        ("f16", Precision::F16),
        ("bf16", Precision::Bf16),
    ];

    /// The precision of a name.
    pub fn named(name: &str) -> Option<Precision> {
        let mut all = Precision::ALL.iter();
        all.find(|(own, _)| *own == name).map(|(_, own)| *own)
    }

    /// The name on command lines.
    pub fn name(self) -> &'static str {
        let mut all = Precision::ALL.iter();
        all.find(|(_, own)| *own == self).map_or("f32", |own| own.0)
    }
}

/// The part of a contraction's result that a block computes, and that each of its threads computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of a block.
    pub rows: u32,
    /// Columns of a block.
    pub columns: u32,
    /// Products of each element that are computed from one copy in shared memory.
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

    /// The threads of a block.
    pub(crate) fn threads(&self) -> i64 {
        let rows = self.rows / self.thread_rows.max(1);
        i64::from(rows * (self.columns / self.thread_columns.max(1)))
    }

    /// The cycles of a block for one product of each element: 128 products at a time, and 8 elements that are copied.
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

/// NVIDIA's GPUs from sm_80 on.
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

/// AMD's GPUs for computations from MI200 on.
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

/// What Vulkan guarantees, or lavapipe has.
const VULKAN: Gpu = Gpu {
    name: "vulkan",
    language: Language::SpirV,
    features: "",
    warp: 8,
    block: 64,
    registers: 255,
    shared_memory: 16 << 10,
    processors: 16,
    // lavapipe ends the loops of a thread after twice as many.
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

/// Every architecture that the compiler knows.
pub const GPUS: &[Gpu] = &[
    AMPERE,
    Gpu { name: "sm_90", ..AMPERE },
    CDNA,
    // A group of instructions is executed by 32 threads.
    Gpu { name: "gfx1100", warp: 32, registers: 256, ..CDNA },
    VULKAN,
    // Its blocks have warps of 32 threads.
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
    /// The architecture of a name.
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
