// SPDX-License-Identifier: Apache-2.0
//! Builds the recipes.

use super::{Input, Predicate, Recipe, Step, TypeClass};
use crate::op::ScalarOp;
use Input::{Arg, Bool as True, Int, Real};

pub(super) fn spell(op: ScalarOp, operand: TypeClass, result: TypeClass) -> Option<Recipe> {
    let mut steps = Steps(Vec::new());
    let value = match op {
        ScalarOp::Select => steps.add("arith.select", &[Arg(0), Arg(1), Arg(2)], operand),
        ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal => steps.cast(op, operand, result)?,
        _ => match operand {
            TypeClass::Bool => steps.logical(op)?,
            TypeClass::Int | TypeClass::Index => steps.integer(op, operand)?,
            TypeClass::Real => steps.real(op)?,
            TypeClass::I64 => return None,
        },
    };
    Some(Recipe { steps: steps.0, result: value })
}

/// The steps written so far; each method appends and returns the value.
struct Steps(Vec<Step>);

impl Steps {
    fn push(
        &mut self,
        op: &'static str,
        predicate: Option<Predicate>,
        inputs: &[Input],
        result: TypeClass,
    ) -> Input {
        self.0.push(Step { op, predicate, inputs: inputs.to_vec(), result });
        Input::Step(self.0.len() - 1)
    }

    fn add(&mut self, op: &'static str, inputs: &[Input], result: TypeClass) -> Input {
        self.push(op, None, inputs, result)
    }

    fn compare_int(&mut self, name: &'static str, a: Input, b: Input) -> Input {
        let code = match name {
            "eq" => 0,
            "ne" => 1,
            "slt" => 2,
            "sle" => 3,
            "sgt" => 4,
            "sge" => 5,
            "ult" => 6,
            "ule" => 7,
            "ugt" => 8,
            _ => 9,
        };
        let predicate = Predicate { name, code };
        self.push("arith.cmpi", Some(predicate), &[a, b], TypeClass::Bool)
    }

    fn compare_real(&mut self, name: &'static str, a: Input, b: Input) -> Input {
        let code = match name {
            "oeq" => 1,
            "ogt" => 2,
            "oge" => 3,
            "olt" => 4,
            "ole" => 5,
            _ => 13,
        };
        let predicate = Predicate { name, code };
        self.push("arith.cmpf", Some(predicate), &[a, b], TypeClass::Bool)
    }

    fn select(&mut self, condition: Input, then: Input, other: Input, class: TypeClass) -> Input {
        self.add("arith.select", &[condition, then, other], class)
    }

    fn logical(&mut self, op: ScalarOp) -> Option<Input> {
        let bool = TypeClass::Bool;
        Some(match op {
            ScalarOp::And => self.add("arith.andi", &[Arg(0), Arg(1)], bool),
            ScalarOp::Or => self.add("arith.ori", &[Arg(0), Arg(1)], bool),
            ScalarOp::Xor => self.add("arith.xori", &[Arg(0), Arg(1)], bool),
            ScalarOp::Not => self.add("arith.xori", &[Arg(0), True(true)], bool),
            ScalarOp::Implies => {
                let not = self.add("arith.xori", &[Arg(0), True(true)], bool);
                self.add("arith.ori", &[not, Arg(1)], bool)
            }
            // i1 has the signed values 0 and -1; false < true needs the unsigned order.
            ScalarOp::Lt => self.compare_int("ult", Arg(0), Arg(1)),
            ScalarOp::Le => self.compare_int("ule", Arg(0), Arg(1)),
            ScalarOp::Gt => self.compare_int("ugt", Arg(0), Arg(1)),
            ScalarOp::Ge => self.compare_int("uge", Arg(0), Arg(1)),
            ScalarOp::Eq => self.compare_int("eq", Arg(0), Arg(1)),
            ScalarOp::Ne => self.compare_int("ne", Arg(0), Arg(1)),
            _ => return None,
        })
    }

    fn integer(&mut self, op: ScalarOp, class: TypeClass) -> Option<Input> {
        let zero = Int(class, 0);
        Some(match op {
            ScalarOp::Add => self.add("arith.addi", &[Arg(0), Arg(1)], class),
            ScalarOp::Sub => self.add("arith.subi", &[Arg(0), Arg(1)], class),
            ScalarOp::Mul => self.add("arith.muli", &[Arg(0), Arg(1)], class),
            ScalarOp::Div => self.quotient("arith.floordivsi", class),
            ScalarOp::CeilDiv => self.quotient("arith.ceildivsi", class),
            ScalarOp::Mod => self.remainder(class),
            ScalarOp::Pow => self.power(class),
            ScalarOp::Min => self.add("arith.minsi", &[Arg(0), Arg(1)], class),
            ScalarOp::Max => self.add("arith.maxsi", &[Arg(0), Arg(1)], class),
            ScalarOp::Neg => self.add("arith.subi", &[zero, Arg(0)], class),
            ScalarOp::Abs => {
                let negative = self.compare_int("slt", Arg(0), zero);
                let negated = self.add("arith.subi", &[zero, Arg(0)], class);
                self.select(negative, negated, Arg(0), class)
            }
            ScalarOp::Sign => {
                let low = self.add("arith.maxsi", &[Arg(0), Int(class, -1)], class);
                self.add("arith.minsi", &[low, Int(class, 1)], class)
            }
            ScalarOp::Lt => self.compare_int("slt", Arg(0), Arg(1)),
            ScalarOp::Le => self.compare_int("sle", Arg(0), Arg(1)),
            ScalarOp::Gt => self.compare_int("sgt", Arg(0), Arg(1)),
            ScalarOp::Ge => self.compare_int("sge", Arg(0), Arg(1)),
            ScalarOp::Eq => self.compare_int("eq", Arg(0), Arg(1)),
            ScalarOp::Ne => self.compare_int("ne", Arg(0), Arg(1)),
            _ => return None,
        })
    }

    /// Divisors 0 and -1 are replaced by 1, and the results patched: 0, and the negated dividend.
    fn quotient(&mut self, op: &'static str, class: TypeClass) -> Input {
        let zero = self.compare_int("eq", Arg(1), Int(class, 0));
        let minus_one = self.compare_int("eq", Arg(1), Int(class, -1));
        let special = self.add("arith.ori", &[zero, minus_one], TypeClass::Bool);
        let divisor = self.select(special, Int(class, 1), Arg(1), class);
        let quotient = self.add(op, &[Arg(0), divisor], class);
        let negated = self.add("arith.subi", &[Int(class, 0), Arg(0)], class);
        let patched = self.select(minus_one, negated, quotient, class);
        self.select(zero, Int(class, 0), patched, class)
    }

    /// Divisors 0 and -1 are replaced by 1, whose remainder is 0, as defined for both.
    fn remainder(&mut self, class: TypeClass) -> Input {
        let zero = self.compare_int("eq", Arg(1), Int(class, 0));
        let minus_one = self.compare_int("eq", Arg(1), Int(class, -1));
        let special = self.add("arith.ori", &[zero, minus_one], TypeClass::Bool);
        let divisor = self.select(special, Int(class, 1), Arg(1), class);
        let rest = self.add("arith.remsi", &[Arg(0), divisor], class);
        let inexact = self.compare_int("ne", rest, Int(class, 0));
        let rest_negative = self.compare_int("slt", rest, Int(class, 0));
        let divisor_negative = self.compare_int("slt", divisor, Int(class, 0));
        let adjust = self.differ(inexact, rest_negative, divisor_negative);
        let moved = self.add("arith.addi", &[rest, divisor], class);
        self.select(adjust, moved, rest, class)
    }

    /// The remainder of `arith.remf` is exact; the divisor is added where the signs differ, +0 otherwise.
    fn real_remainder(&mut self) -> Input {
        let zero = Real(0.0);
        let rest = self.add("arith.remf", &[Arg(0), Arg(1)], TypeClass::Real);
        let inexact = self.compare_real("une", rest, zero);
        let rest_negative = self.compare_real("olt", rest, zero);
        let divisor_negative = self.compare_real("olt", Arg(1), zero);
        let adjust = self.differ(inexact, rest_negative, divisor_negative);
        let moved = self.select(adjust, Arg(1), zero, TypeClass::Real);
        self.add("arith.addf", &[rest, moved], TypeClass::Real)
    }

    /// Whether a remainder is not zero and its sign differs from that of its divisor.
    fn differ(&mut self, inexact: Input, rest_negative: Input, divisor_negative: Input) -> Input {
        let signs = [rest_negative, divisor_negative];
        let differ = self.add("arith.xori", &signs, TypeClass::Bool);
        self.add("arith.andi", &[inexact, differ], TypeClass::Bool)
    }

    /// `math.ipowi` with a non-negative exponent; it does not support `index`.
    fn power(&mut self, class: TypeClass) -> Input {
        let (base, exponent, width) = match class {
            TypeClass::Index => (
                self.add("arith.index_cast", &[Arg(0)], TypeClass::I64),
                self.add("arith.index_cast", &[Arg(1)], TypeClass::I64),
                TypeClass::I64,
            ),
            _ => (Arg(0), Arg(1), class),
        };
        let negative = self.compare_int("slt", exponent, Int(width, 0));
        let safe = self.select(negative, Int(width, 0), exponent, width);
        let power = self.add("math.ipowi", &[base, safe], width);
        let odd = self.add("arith.andi", &[exponent, Int(width, 1)], width);
        let is_odd = self.compare_int("ne", odd, Int(width, 0));
        let is_one = self.compare_int("eq", base, Int(width, 1));
        let is_minus_one = self.compare_int("eq", base, Int(width, -1));
        let alternating = self.select(is_odd, Int(width, -1), Int(width, 1), width);
        let unit = self.select(is_minus_one, alternating, Int(width, 0), width);
        let inverse = self.select(is_one, Int(width, 1), unit, width);
        let result = self.select(negative, inverse, power, width);
        match class {
            TypeClass::Index => self.add("arith.index_cast", &[result], TypeClass::Index),
            _ => result,
        }
    }

    fn real(&mut self, op: ScalarOp) -> Option<Input> {
        let real = TypeClass::Real;
        let pair = [Arg(0), Arg(1)];
        Some(match op {
            ScalarOp::Add => self.add("arith.addf", &pair, real),
            ScalarOp::Sub => self.add("arith.subf", &pair, real),
            ScalarOp::Mul => self.add("arith.mulf", &pair, real),
            ScalarOp::Div => self.add("arith.divf", &pair, real),
            ScalarOp::CeilDiv => {
                let quotient = self.add("arith.divf", &pair, real);
                self.add("math.ceil", &[quotient], real)
            }
            ScalarOp::Mod => self.real_remainder(),
            ScalarOp::Pow => self.add("math.powf", &pair, real),
            ScalarOp::Min => self.add("arith.minimumf", &pair, real),
            ScalarOp::Max => self.add("arith.maximumf", &pair, real),
            ScalarOp::Neg => self.add("arith.negf", &[Arg(0)], real),
            ScalarOp::Sign => {
                let positive = self.compare_real("ogt", Arg(0), Real(0.0));
                let negative = self.compare_real("olt", Arg(0), Real(0.0));
                let low = self.select(negative, Real(-1.0), Arg(0), real);
                self.select(positive, Real(1.0), low, real)
            }
            ScalarOp::Lt => self.compare_real("olt", Arg(0), Arg(1)),
            ScalarOp::Le => self.compare_real("ole", Arg(0), Arg(1)),
            ScalarOp::Gt => self.compare_real("ogt", Arg(0), Arg(1)),
            ScalarOp::Ge => self.compare_real("oge", Arg(0), Arg(1)),
            ScalarOp::Eq => self.compare_real("oeq", Arg(0), Arg(1)),
            ScalarOp::Ne => self.compare_real("une", Arg(0), Arg(1)),
            ScalarOp::Frac => {
                let whole = self.add("math.trunc", &[Arg(0)], real);
                self.add("arith.subf", &[Arg(0), whole], real)
            }
            _ => self.add(function(op)?, &[Arg(0)], real),
        })
    }

    fn cast(&mut self, op: ScalarOp, operand: TypeClass, result: TypeClass) -> Option<Input> {
        use TypeClass::{Bool, I64, Index, Int as Integer, Real as Float};
        let matching = match op {
            ScalarOp::ToBool => result == Bool,
            ScalarOp::ToInt => matches!(result, Integer | Index),
            _ => result == Float,
        };
        if !matching {
            return None;
        }
        Some(match (operand, result) {
            (a, b) if a == b => Arg(0),
            (Integer | Index, Bool) => self.compare_int("ne", Arg(0), Int(operand, 0)),
            (Float, Bool) => self.compare_real("une", Arg(0), Real(0.0)),
            (Bool, Integer) => self.add("arith.extui", &[Arg(0)], Integer),
            (Bool, Index) => self.add("arith.index_castui", &[Arg(0)], Index),
            (Integer, Index) => self.add("arith.index_cast", &[Arg(0)], Index),
            (Index, Integer) => self.add("arith.index_cast", &[Arg(0)], Integer),
            (Float, Integer) => self.truncate(Integer),
            (Float, Index) => {
                let wide = self.truncate(I64);
                self.add("arith.index_cast", &[wide], Index)
            }
            (Bool, Float) => self.add("arith.uitofp", &[Arg(0)], Float),
            (Integer, Float) => self.add("arith.sitofp", &[Arg(0)], Float),
            (Index, Float) => {
                let wide = self.add("arith.index_cast", &[Arg(0)], I64);
                self.add("arith.sitofp", &[wide], Float)
            }
            _ => return None,
        })
    }

    /// Out of range operands are replaced by 0 before the conversion, which also is the result for NaN.
    fn truncate(&mut self, class: TypeClass) -> Input {
        let (least, beyond) = (Input::LeastAsReal(class), Input::BeyondGreatestAsReal(class));
        let above = self.compare_real("ogt", Arg(0), least);
        let below = self.compare_real("olt", Arg(0), beyond);
        let inside = self.add("arith.andi", &[above, below], TypeClass::Bool);
        let safe = self.select(inside, Arg(0), Real(0.0), TypeClass::Real);
        let whole = self.add("arith.fptosi", &[safe], class);
        let too_small = self.compare_real("ole", Arg(0), least);
        let too_large = self.compare_real("oge", Arg(0), beyond);
        let low = self.select(too_small, Input::Least(class), whole, class);
        self.select(too_large, Input::Greatest(class), low, class)
    }
}

/// The op of `math` for the function.
fn function(op: ScalarOp) -> Option<&'static str> {
    Some(match op {
        ScalarOp::Abs => "math.absf",
        ScalarOp::Sqrt => "math.sqrt",
        ScalarOp::Exp => "math.exp",
        ScalarOp::Log => "math.log",
        ScalarOp::Sin => "math.sin",
        ScalarOp::Cos => "math.cos",
        ScalarOp::Tan => "math.tan",
        ScalarOp::Asin => "math.asin",
        ScalarOp::Acos => "math.acos",
        ScalarOp::Atan => "math.atan",
        ScalarOp::Sinh => "math.sinh",
        ScalarOp::Cosh => "math.cosh",
        ScalarOp::Tanh => "math.tanh",
        ScalarOp::Asinh => "math.asinh",
        ScalarOp::Acosh => "math.acosh",
        ScalarOp::Atanh => "math.atanh",
        ScalarOp::Erf => "math.erf",
        ScalarOp::Round => "math.round",
        ScalarOp::Floor => "math.floor",
        ScalarOp::Ceil => "math.ceil",
        _ => return None,
    })
}
