// SPDX-License-Identifier: Apache-2.0
//! Generic types (2.13).

use super::rows::{Rows, graph, reals_of};
use skript_frontend::diagnostics::codes;
use skript_tensor::Tensor;

#[test]
fn s2_13_generics() {
    let mut rows = Rows::default();
    let operators = "
        operator fill { @dtype { T: num = real; } @attrib { n: int = 2; } @output { y: T[n]; } @lower { y[i,] = T(1), i < n; } }
        operator make { @dtype { T: num; } @output { y: T[2]; } @lower { y[i,] = T(1), i < 2; } }
        operator convert { @dtype { R: arith; T: arith; } @input { x: T[n]; } @output { y: R[n]; } @lower { y[i,] = R(x[i,]), i < n; } }
        operator scale { @dtype { T: num; } @attrib { k: T; } @input { x: T[n]; } @output { y: T[n]; } @lower { y[i,] = x[i,] * k, i < n; } }";
    let over =
        |output: &str, statements: &str| graph(operators, "x: real[2]; i: int[2];", output, statements);
    let given = [reals_of(&[1.5, -2.5]), Tensor::from_i64(&[2], &[3, -4]).unwrap()];
    rows.output(&[258], &over("y: real[2];", "y = fill();"), &given, &[1.0, 1.0]);
    rows.output(&[258, 260], &over("y: int[2];", "y = fill<int>();"), &given, &[1.0, 1.0]);
    rows.output(&[258], &over("y: int[2];", "y = add(i, i);"), &given, &[6.0, -8.0]);
    rows.output(&[258], &over("y: real[2];", "y = scale{k=2.0}(x);"), &given, &[3.0, -5.0]);
    rows.output(&[258], &over("y: int[2];", "y = scale{k=2}(i);"), &given, &[6.0, -8.0]);
    rows.output(&[79, 260], &over("y: int[2];", "y = convert<int>(x);"), &given, &[1.0, -2.0]);
    rows.output(&[260], &over("y: real[2];", "y = convert<real, int>(i);"), &given, &[3.0, -4.0]);
    rows.output(
        &[21],
        &graph(
            "operator f { @dtype { T: type = int; } @output { y: T[2]; } @lower { y[i,] = T(), i < 2; } }",
            "",
            "y: int[2]; z: bool[2];",
            "y = f(); z = f<bool>();",
        ),
        &[],
        &[0.0; 4],
    );
    rows.rejected(&[259, 279], &codes::TYPE_UNKNOWN, &over("y: real[2];", "y = make();"));
    rows.rejected(&[259, 279], &codes::TYPE_UNKNOWN, &over("y: real[2];", "y = convert(x);"));
    rows.rejected(&[260], &codes::TYPE_CONFLICT, &over("y: int[2];", "y = scale<int>{k=2}(x);"));
    rows.rejected(&[261], &codes::TYPE_CONFLICT, &over("y: real[2];", "y = add(x, i);"));
}
