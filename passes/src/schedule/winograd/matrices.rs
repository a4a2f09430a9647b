// SPDX-License-Identifier: Apache-2.0
//! The matrices of Winograd's minimal filtering: `Aᵀ[(G g) ∘ (Bᵀ d)]` is the correlation of `d` with a window `g` of three elements.
//!
//! A. Lavin, S. Gray, *Fast Algorithms for Convolutional Neural Networks* (2016). Both dimensions use the same matrices.

/// A coefficient: numerator and denominator.
pub(super) type Ratio = (i64, i64);

/// A matrix by rows.
pub(super) type Matrix = &'static [&'static [Ratio]];

/// An algorithm that computes the sums of a window of three elements at neighbouring positions with fewer multiplications.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Filtering {
    /// Number of sums along one dimension of a tile.
    pub(super) outputs: i64,
    /// Aᵀ
    pub(super) output: Matrix,
    /// G
    pub(super) filter: Matrix,
    /// Bᵀ
    pub(super) input: Matrix,
}

impl Filtering {
    /// Number of input elements along one dimension of a tile.
    pub(super) fn inputs(&self) -> i64 {
        self.outputs + WINDOW - 1
    }

    /// Number of products of a tile for each pair of channels.
    pub(super) fn products(&self) -> i64 {
        self.inputs() * self.inputs()
    }
}

/// The extent of the window.
pub(super) const WINDOW: i64 = 3;

const O: Ratio = (0, 1);
const I: Ratio = (1, 1);
const N: Ratio = (-1, 1);

/// F(2, 3): tiles of 2 × 2 sums by 16 products instead of 36.
pub(super) const TWO: Filtering = Filtering {
    outputs: 2,
    output: &[&[I, I, I, O], &[O, I, N, N]],
    filter: &[&[I, O, O], &[(1, 2), (1, 2), (1, 2)], &[(1, 2), (-1, 2), (1, 2)], &[O, O, I]],
    input: &[&[I, O, N, O], &[O, I, I, O], &[O, N, I, O], &[O, I, O, N]],
};

/// F(4, 3): tiles of 4 × 4 sums by 36 products instead of 144.
pub(super) const FOUR: Filtering = Filtering {
    outputs: 4,
    output: &[
        &[I, I, I, I, I, O],
        &[O, I, N, (2, 1), (-2, 1), O],
        &[O, I, I, (4, 1), (4, 1), O],
        &[O, I, N, (8, 1), (-8, 1), I],
    ],
    filter: &[
        &[(1, 4), O, O],
        &[(-1, 6), (-1, 6), (-1, 6)],
        &[(-1, 6), (1, 6), (-1, 6)],
        &[(1, 24), (1, 12), (1, 6)],
        &[(1, 24), (-1, 12), (1, 6)],
        &[O, O, I],
    ],
    input: &[
        &[(4, 1), O, (-5, 1), O, I, O],
        &[O, (-4, 1), (-4, 1), I, I, O],
        &[O, (4, 1), (-4, 1), N, I, O],
        &[O, (-2, 1), N, (2, 1), I, O],
        &[O, (2, 1), N, (-2, 1), I, O],
        &[O, (4, 1), O, (-5, 1), O, I],
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// An exact fraction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Exact(i128, i128);

    impl Exact {
        fn from_ratio((numerator, denominator): Ratio) -> Exact {
            Exact(numerator.into(), denominator.into()).reduced()
        }

        fn reduced(self) -> Exact {
            let (mut a, mut b) = (self.0.abs(), self.1.abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            Exact(self.0 / a.max(1), self.1 / a.max(1))
        }

        fn plus(self, other: Exact) -> Exact {
            Exact(self.0 * other.1 + other.0 * self.1, self.1 * other.1).reduced()
        }

        fn times(self, other: Exact) -> Exact {
            Exact(self.0 * other.0, self.1 * other.1).reduced()
        }
    }

    type Table = Vec<Vec<Exact>>;

    fn table(matrix: Matrix) -> Table {
        let row = |row: &&[Ratio]| row.iter().map(|r| Exact::from_ratio(*r)).collect();
        matrix.iter().map(row).collect()
    }

    fn transposed(a: &Table) -> Table {
        let column = |j: usize| a.iter().map(|row| row[j]).collect();
        (0..a[0].len()).map(column).collect()
    }

    fn product(a: &Table, b: &Table) -> Table {
        let b = transposed(b);
        let dot = |row: &[Exact], column: &[Exact]| {
            row.iter().zip(column).map(|(x, y)| x.times(*y)).fold(Exact(0, 1), Exact::plus)
        };
        let row = |row: &Vec<Exact>| b.iter().map(|column| dot(row, column)).collect();
        a.iter().map(row).collect()
    }

    /// `m · x · mᵀ`
    fn both(m: Matrix, x: &Table) -> Table {
        let m = table(m);
        product(&product(&m, x), &transposed(&m))
    }

    /// Pseudorandom small integers.
    fn numbers(rows: i64, seed: i64) -> Table {
        let number = |i: i64, j: i64| (i * 37 + j * 101 + i * j * 13 + seed * 7) % 23 - 11;
        let row = |i: i64| (0..rows).map(|j| Exact::from_ratio((number(i, j), 1))).collect();
        (0..rows).map(row).collect()
    }

    #[test]
    fn tiles_are_the_sums_of_the_window() {
        for filtering in [&TWO, &FOUR] {
            for seed in 0..10 {
                let (d, g) = (numbers(filtering.inputs(), seed), numbers(3, seed + 1));
                let (v, u) = (both(filtering.input, &d), both(filtering.filter, &g));
                let products: Table = v
                    .iter()
                    .zip(&u)
                    .map(|(v, u)| v.iter().zip(u).map(|(v, u)| v.times(*u)).collect())
                    .collect();
                let y = both(filtering.output, &products);
                for i in 0..filtering.outputs as usize {
                    for j in 0..filtering.outputs as usize {
                        let mut sum = Exact(0, 1);
                        for r in 0..3 {
                            for s in 0..3 {
                                sum = sum.plus(d[i + r][j + s].times(g[r][s]));
                            }
                        }
                        assert_eq!(y[i][j], sum);
                    }
                }
            }
        }
    }

    /// `docs/numerics.md` lists these factors: the largest sum of absolute values, relative to the largest elements.
    #[test]
    fn growth_is_as_documented() {
        let norm = |row: &[Ratio]| {
            row.iter().map(|(n, d)| Exact::from_ratio((n.abs(), *d))).fold(Exact(0, 1), Exact::plus)
        };
        let growth = |f: &Filtering| {
            let rows = f.output.iter().map(|row| {
                let terms = row.iter().zip(f.filter).zip(f.input);
                terms
                    .map(|((a, g), b)| Exact::from_ratio((a.0.abs(), a.1)).times(norm(g)).times(norm(b)))
                    .fold(Exact(0, 1), Exact::plus)
            });
            rows.map(|sum| sum.0 / sum.1).max()
        };
        assert_eq!(growth(&TWO), Some(8));
        assert_eq!(growth(&FOUR), Some(48));
    }
}
