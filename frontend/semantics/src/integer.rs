// SPDX-License-Identifier: Apache-2.0
//! Integer operations: 64-bit two's complement, wrapping (errata 4, 18).

use crate::op::ScalarOp;

/// A binary operation on ints with an int result; `None` for other operations.
pub fn binary(op: ScalarOp) -> Option<fn(i64, i64) -> i64> {
    Some(match op {
        ScalarOp::Add => i64::wrapping_add,
        ScalarOp::Sub => i64::wrapping_sub,
        ScalarOp::Mul => i64::wrapping_mul,
        ScalarOp::Div => div,
        ScalarOp::CeilDiv => ceil_div,
        ScalarOp::Mod => modulo,
        ScalarOp::Pow => pow,
        ScalarOp::Min => Ord::min,
        ScalarOp::Max => Ord::max,
        _ => return None,
    })
}

/// A unary operation on ints with an int result; `None` for other operations.
pub fn unary(op: ScalarOp) -> Option<fn(i64) -> i64> {
    Some(match op {
        ScalarOp::Neg => i64::wrapping_neg,
        ScalarOp::Abs => i64::wrapping_abs,
        ScalarOp::Sign => i64::signum,
        _ => return None,
    })
}

/// Rounds down. Division by zero gives 0; `MIN / -1` wraps to `MIN`.
pub fn div(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let quotient = a.wrapping_div(b);
    if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

/// Rounds up. Division by zero gives 0; `MIN \ -1` wraps to `MIN`.
pub fn ceil_div(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let quotient = a.wrapping_div(b);
    if a.wrapping_rem(b) != 0 && (a < 0) == (b < 0) { quotient + 1 } else { quotient }
}

/// `a - b * div(a, b)`: the result has the sign of the divisor. Modulo zero gives 0.
pub fn modulo(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let remainder = a.wrapping_rem(b);
    if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
}

/// Wraps. A negative exponent gives 0, except for the bases 1 and -1.
pub fn pow(base: i64, exponent: i64) -> i64 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut square, mut rest) = (1i64, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    result
}

/// Truncates toward zero, saturates; NaN gives 0 (errata 5).
pub(crate) fn from_real(x: f64) -> i64 {
    // Rust's float-to-int `as` is defined to do exactly this.
    x as i64
}
