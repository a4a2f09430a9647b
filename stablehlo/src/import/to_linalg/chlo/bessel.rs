// SPDX-License-Identifier: Apache-2.0
//! The modified Bessel function of order 1, scaled by an exponential.

use crate::import::terms::Terms;
use skript_passes::ir::ops;

/// Chebyshev coefficients of exp(-x) I₁(x) / x in x / 4 - 1, for 0 ≤ x ≤ 8.
const NEAR: [f64; 28] = [
    0.12629359322181682,
    -0.17641651835783406,
    0.1026436586898471,
    -0.05294598120809499,
    0.024726449030626516,
    -0.010564084894626197,
    0.004156422944312888,
    -0.0015135724506312532,
    0.0005122859561685758,
    -0.00016176081582589674,
    4.781565107550054e-05,
    -1.3273163656039436e-05,
    3.4702513081376785e-06,
    -8.568720264695455e-07,
    2.0032947535521353e-07,
    -4.445059128796328e-08,
    9.381537386495773e-09,
    -1.8872497517228294e-09,
    3.625590281552117e-10,
    -6.663489723502027e-11,
    1.1736186298890901e-11,
    -1.9839743977649436e-12,
    3.223793365945575e-13,
    -5.042185504727912e-14,
    7.600684294735408e-15,
    -1.1055969477353862e-15,
    1.5536319577362005e-16,
    -2.111421214358166e-17,
];

/// Those of exp(-x) I₁(x) √x in 16 / x - 1, for x ≥ 8.
const FAR: [f64; 23] = [
    0.38928811750914005,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-06,
    -2.512236237870209e-07,
    -2.6314688468895196e-08,
    -3.835380385964237e-09,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.1015418427726643e-14,
    4.272440016711951e-14,
    1.0420276984128802e-14,
    -3.8144030724370075e-15,
    -1.8803547755107825e-15,
    3.3082023109209285e-16,
    2.96262899764595e-16,
    -3.209525921993424e-17,
    -4.6503053684893586e-17,
];

pub(crate) fn scaled_i1(t: &mut Terms, x: &str) -> String {
    let size = t.op(ops::math::ABSF, &[x]);
    let quarter = t.times(&size, 0.25);
    let position = t.plus(&quarter, -1.0);
    let near = series(t, &position, &NEAR);
    let near = t.mul(&near, x);
    let sixteen = t.number(16.0);
    let inverse = t.div(&sixteen, &size);
    let position = t.plus(&inverse, -1.0);
    let far = series(t, &position, &FAR);
    let root = t.op(ops::math::SQRT, &[&size]);
    let far = t.div(&far, &root);
    let far = t.op(ops::math::COPYSIGN, &[&far, x]);
    let is_near = t.is(&size, "ole", 8.0);
    t.select(&is_near, &near, &far)
}

/// C. Clenshaw's recurrence (1955).
fn series(t: &mut Terms, x: &str, coefficients: &[f64]) -> String {
    let double = t.times(x, 2.0);
    let (mut last, mut before) = (t.number(0.0), t.number(0.0));
    for coefficient in coefficients.iter().skip(1).rev() {
        let next = t.mul(&double, &last);
        let next = t.sub(&next, &before);
        before = std::mem::replace(&mut last, t.plus(&next, *coefficient));
    }
    let value = t.mul(x, &last);
    let value = t.sub(&value, &before);
    t.plus(&value, coefficients.first().copied().unwrap_or(0.0))
}
