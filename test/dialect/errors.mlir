// RUN: skript-opt %s --split-input-file --verify-diagnostics

func.func @element_types(%a: f32, %b: f64) {
  // expected-error @+1 {{operands must have one element type, but have 'f32', 'f64'}}
  %0 = skript.add %a, %b : f32, f64
  return
}

// -----

func.func @rfc_6_7(%a: tensor<4xf32>) {
  // expected-error @+1 {{if an operand is non-scalar, then there must be at least one non-scalar result}}
  %0 = "skript.cast"(%a) : (tensor<4xf32>) -> i64
  return
}

// -----

func.func @rfc_6_7_back(%a: f32) {
  // expected-error @+1 {{if a result is non-scalar, then at least one operand must be non-scalar}}
  %0 = "skript.cast"(%a) : (f32) -> tensor<4xi64>
  return
}

// -----

func.func @rfc_8(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{must have one shape}}
  %0 = skript.add %a, %b : tensor<4xf32>, tensor<5xf32>
  return
}

// -----

func.func @rfc_8_generic(%a: tensor<4xf32>, %b: tensor<4x1xf32>) {
  // expected-error @+1 {{must have the same shape}}
  %0 = "skript.add"(%a, %b) : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<4xf32>
  return
}

// -----

// The rules of tensors also apply to vectors.
func.func @rfc_14_6_7(%a: vector<4xf32>) {
  // expected-error @+1 {{if an operand is non-scalar, then there must be at least one non-scalar result}}
  %0 = "skript.cast"(%a) : (vector<4xf32>) -> i64
  return
}

// -----

func.func @rfc_14_6_7_back(%a: f32) {
  // expected-error @+1 {{if a result is non-scalar, then at least one operand must be non-scalar}}
  %0 = "skript.cast"(%a) : (f32) -> vector<4xi64>
  return
}

// -----

func.func @rfc_14_8(%a: vector<4xf32>, %b: vector<5xf32>) {
  // expected-error @+1 {{must have one shape}}
  %0 = skript.add %a, %b : vector<4xf32>, vector<5xf32>
  return
}

// -----

func.func @rfc_14(%a: tensor<4xf32>, %b: vector<4xf32>) {
  // expected-error @+1 {{must have one shape and be all tensors or all vectors, but have types}}
  %0 = skript.add %a, %b : tensor<4xf32>, vector<4xf32>
  return
}

// -----

func.func @rfc_20_unranked(%a: tensor<*xf32>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = "skript.sqrt"(%a) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @result(%a: tensor<4xf32>) {
  // expected-error @+1 {{must have the same shape and base type}}
  %0 = skript.neg %a : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @comparison_result(%a: f32) {
  // expected-error @+1 {{result #0 must be i1}}
  %0 = "skript.lt"(%a, %a) : (f32, f32) -> f32
  return
}

// -----

func.func @no_numbers(%a: i1) {
  // expected-error @+1 {{operand #0 must be signless integer of 2 to 64 bits, index, bf16, f16, f32 or f64}}
  %0 = skript.add %a, %a : i1
  return
}

// -----

func.func @no_truth(%a: i8) {
  // expected-error @+1 {{operand #0 must be i1}}
  %0 = skript.and %a, %a : i8
  return
}

// -----

func.func @wide(%a: i65) {
  // expected-error @+1 {{operand #0 must be signless integer of 2 to 64 bits}}
  %0 = skript.add %a, %a : i65
  return
}

// -----

func.func @narrow(%a: f8E4M3FN) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = skript.sqrt %a : f8E4M3FN
  return
}

// -----

func.func @encodings(%a: tensor<4xf32, "a">, %b: tensor<4xf32, "b">) {
  // expected-error @+1 {{tensor operands and results must have one encoding}}
  %0 = skript.add %a, %b : tensor<4xf32, "a">, tensor<4xf32, "b">
  return
}

// -----

func.func @number_of_types(%a: f32) {
  // expected-error @+1 {{expected one type, or one for each of the 2 operands}}
  %0 = skript.add %a, %a : f32, f32, f32
  return
}

// -----

func.func @select(%p: tensor<4xi1>, %a: f32, %b: f64) {
  // expected-error @+1 {{both values must have one element type, but have types 'f32', 'f64'}}
  %0 = skript.select %p, %a, %b : tensor<4xi1>, f32, f64
  return
}

// -----

func.func @undefined(%x: f32) {
  // expected-error @+1 {{calls 'nowhere', which is not defined here}}
  %0 = skript.invoke @nowhere(%x) operator "a.b" : (f32) -> f32
  return
}

// -----

// expected-note @+1 {{defined here}}
func.func private @callee(%x: f32) -> f32

func.func @types(%x: i32) {
  // expected-error @+1 {{operand 0 has type 'i32', but 'callee' has 'f32' there}}
  %0 = skript.invoke @callee(%x) operator "a.b" : (i32) -> f32
  return
}

// -----

// expected-note @+1 {{defined here}}
func.func private @callee(%x: f32) -> f32

func.func @count(%x: f32) {
  // expected-error @+1 {{has 2 operands, but 'callee' has 1}}
  %0 = skript.invoke @callee(%x, %x) operator "a.b" : (f32, f32) -> f32
  return
}

// -----

module @inner {}
func.func @no_function(%x: f32) {
  // expected-error @+1 {{which is a 'builtin.module' and not a function}}
  %0 = skript.invoke @inner(%x) operator "a.b" : (f32) -> f32
  return
}

// -----

// expected-error @+1 {{'skript.role' on an argument is a string, but has the value 3 : i64}}
func.func @roles(%x: f32 {skript.role = 3}) {
  return
}

// -----

// expected-error @+1 {{'skript.bounds' on an argument is an array of i64, none of them negative, but has the value "ten"}}
func.func @bounds(%x: tensor<?xf32> {skript.bounds = "ten"}) {
  return
}

// -----

// expected-error @+1 {{'skript.bounds' on a result is an array of i64, none of them negative, but has the value array<i64: -1>}}
func.func @bounds(%x: tensor<?xf32>) -> (tensor<?xf32> {skript.bounds = array<i64: -1>}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{'skript.entry' marks functions only}}
module attributes {skript.entry} {}

// -----

func.func @kind(%x: tensor<4xf32>) {
  // expected-error @+1 {{'average' is no kind of formula: expected assign, sum, product, all, any, min, max or replace}}
  %0 = skript.formula average (%i) in (4) outs(%a = %x : tensor<4xf32>) do {
    skript.yield %i at [%i] : index
  } : tensor<4xf32>
  return
}

// -----

func.func @bounds(%x: tensor<4xf32>) {
  // expected-error @+1 {{formula has 2 index variables, but 1 bounds}}
  %0 = skript.formula assign (%i, %j) in (4) outs(%a = %x : tensor<4xf32>) do {
    skript.yield %i at [%i] : index
  } : tensor<4xf32>
  return
}

// -----

func.func @negative(%x: tensor<4xf32>, %v: f32) {
  // expected-error @+1 {{bound 0 is -4: bounds are not negative}}
  %0 = skript.formula assign (%i) in (-4) outs(%a = %x : tensor<4xf32>) do {
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return
}

// -----

func.func @kind_and_element(%x: tensor<4xf32>, %v: f32) {
  // expected-error @+1 {{of kind 'all' does not combine elements of type 'f32' (destination 0)}}
  %0 = skript.formula all (%i) in (4) outs(%a = %x : tensor<4xf32>) do {
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return
}

// -----

func.func @sum_of_bits(%x: tensor<4xi1>, %v: i1) {
  // expected-error @+1 {{of kind 'sum' does not combine elements of type 'i1'}}
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xi1>) do {
    skript.yield %v at [%i] : i1
  } : tensor<4xi1>
  return
}

// -----

func.func @rank(%x: tensor<4x4xf32>, %v: f32) {
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4x4xf32>) do {
    // expected-error @+1 {{has 1 subscripts for destination 0, which has rank 2}}
    skript.yield %v at [%i] : f32
  } : tensor<4x4xf32>
  return
}

// -----

func.func @value(%x: tensor<4xf32>) {
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>) do {
    // expected-error @+1 {{yields a value of type 'index' for destination 0, whose elements have type 'f32'}}
    skript.yield %i at [%i] : index
  } : tensor<4xf32>
  return
}

// -----

func.func @destinations(%x: tensor<4xf32>, %v: f32) {
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>) do {
    // expected-error @+1 {{yields 2 values, but the formula has 1 destinations}}
    skript.yield %v at [%i], %v at [%i] : f32, f32
  } : tensor<4xf32>
  return
}

// -----

func.func @indices(%x: tensor<4x4xf32>, %i: index) {
  // expected-error @+1 {{has 1 indices, but the tensor has rank 2}}
  %0 = skript.access %x[%i] : tensor<4x4xf32>
  return
}

// -----

func.func @results(%x: tensor<4xf32>, %v: f32) {
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>) do {
    skript.yield %v at [%i] : f32
  // expected-error @+1 {{results have the types of the destinations}}
  } : tensor<5xf32>
  return
}

// -----

func.func @no_condition(%x: tensor<4xf32>, %v: f32) {
  // expected-error @+1 {{'where' region must end with 'skript.condition'}}
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>) where {
    skript.yield %v at [%i] : f32
  } do {
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return
}

// -----

func.func @empty_body(%x: tensor<4xf32>) {
  // expected-error @+1 {{'do' region has 0 blocks instead of one}}
  %0 = "skript.formula"(%x) <{kind = #skript.kind<sum>, static_bounds = array<i64: 4>, operandSegmentSizes = array<i32: 0, 1>}> ({
  }, {
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>, %v: f32, %c: index) {
  // expected-error @+1 {{'do' region has 1 arguments instead of 2: 1 index variables and 1 destinations}}
  %0 = "skript.formula"(%x) <{kind = #skript.kind<sum>, static_bounds = array<i64: 4>, operandSegmentSizes = array<i32: 0, 1>}> ({
  }, {
  ^bb0(%i: index):
    skript.yield %v at [%i] : f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @argument_types(%x: tensor<4xf32>, %v: f32, %c: index) {
  // expected-error @+1 {{'do' region's argument 0 has type 'i64' instead of 'index'}}
  %0 = "skript.formula"(%x) <{kind = #skript.kind<sum>, static_bounds = array<i64: 4>, operandSegmentSizes = array<i32: 0, 1>}> ({
  }, {
  ^bb0(%i: i64, %a: tensor<4xf32>):
    skript.yield %v at [%c] : f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_bounds(%x: tensor<4xf32>, %v: f32) {
  // expected-error @+1 {{has 1 dynamic bounds, but 0 operands for them}}
  %0 = "skript.formula"(%x) <{kind = #skript.kind<sum>, static_bounds = array<i64: -9223372036854775808>, operandSegmentSizes = array<i32: 0, 1>}> ({
  }, {
  ^bb0(%i: index, %a: tensor<4xf32>):
    skript.yield %v at [%i] : f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_destination() {
  // expected-error @+1 {{has no destination: `outs` needs at least one tensor}}
  "skript.formula"() <{kind = #skript.kind<sum>, static_bounds = array<i64>, operandSegmentSizes = array<i32: 0, 0>}> ({
  }, {
    "skript.yield"() <{ranks = array<i32>, operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @ranks(%x: tensor<4xf32>, %v: f32) {
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>) do {
    // expected-error @+1 {{has 1 subscripts, but 'ranks' counts 7}}
    "skript.yield"(%v, %i) <{ranks = array<i32: 7>, operandSegmentSizes = array<i32: 1, 1>}> : (f32, index) -> ()
  } : tensor<4xf32>
  return
}

// -----

func.func @outside(%v: i1) {
  // expected-error @+1 {{expects parent op 'skript.formula'}}
  skript.condition %v
}

// -----

func.func @intrinsic_mixed(%x: memref<4xf32>, %o: tensor<4xf32>) {
  // expected-error @+1 {{works on tensors or on memrefs, but has operands of both}}
  %0 = skript.intrinsic "m.f" ins(%x : memref<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @intrinsic_given(%o: memref<4xf32>) {
  // expected-error @+1 {{is given 1 attributes, but has only 0 inputs}}
  skript.intrinsic "m.f" outs(%o : memref<4xf32>) {given = ["k"]}
  return
}

// -----

func.func @intrinsic_given_type(%k: memref<f32>, %o: memref<4xf32>) {
  // expected-error @+1 {{is given the attribute 'k' as one value or a list of type 'i64', 'f64' or 'i1', but this is 'memref<f32>'}}
  skript.intrinsic "m.f" ins(%k : memref<f32>) outs(%o : memref<4xf32>) {given = ["k"]}
  return
}

// -----

func.func @intrinsic_given_twice(%k: memref<i64>, %o: memref<4xf32>) {
  // expected-error @+1 {{is given the attribute 'k', which 'operator_attributes' has as well}}
  skript.intrinsic "m.f" ins(%k : memref<i64>) outs(%o : memref<4xf32>) {given = ["k"], operator_attributes = {k = 1}}
  return
}

// -----

func.func @intrinsic_told(%o: memref<2x4xf32>, %e: memref<3xi64>) {
  // expected-error @+1 {{returns the extents of output 0 as 2 elements of type 'i64', but the destination for them is 'memref<3xi64>'}}
  skript.intrinsic "m.f" outs(%o, %e : memref<2x4xf32>, memref<3xi64>) {dynamic_outputs = array<i64: 0>}
  return
}

// -----

func.func @intrinsic_position(%o: memref<4xf32>, %e: memref<1xi64>) {
  // expected-error @+1 {{returns the extents of output 1, but has 1 outputs}}
  skript.intrinsic "m.f" outs(%o, %e : memref<4xf32>, memref<1xi64>) {dynamic_outputs = array<i64: 1>}
  return
}

// -----

func.func @intrinsic_alone(%e: memref<1xi64>) {
  // expected-error @+1 {{returns the extents of 1 outputs, but has only 1 destinations}}
  skript.intrinsic "m.f" outs(%e : memref<1xi64>) {dynamic_outputs = array<i64: 0>}
  return
}

// -----

func.func @whole_destination(%x: tensor<4xf32>) {
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>) do {
    // expected-error @+1 {{has tensors, but is inside of a formula: only 'skript.access' reads tensors there}}
    %v = tensor.extract %a[%i] : tensor<4xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return
}

// -----

func.func @whole_in_predicate(%x: tensor<?xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %0 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<?xf32>) where {
    // expected-error @+1 {{has tensors, but is inside of a formula: only 'skript.access' reads tensors there}}
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %ok = skript.lt %i, %n : index
    skript.condition %ok
  } do {
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return
}

// -----

func.func @made_within(%x: tensor<2xf32>, %v: f32) {
  %0 = skript.formula assign (%i) in (2) outs(%a = %x : tensor<2xf32>) do {
    // expected-error @+1 {{has tensors, but is inside of a formula}}
    %t = tensor.from_elements %v, %v : tensor<2xf32>
    %e = skript.access %t[%i] : tensor<2xf32>
    skript.yield %e at [%i] : f32
  } : tensor<2xf32>
  return
}

// -----

func.func @elementwise_within(%x: tensor<2xf32>, %y: tensor<2xf32>, %p: i1, %v: f32) {
  %0 = skript.formula assign (%i) in (2) outs(%a = %x : tensor<2xf32>) do {
    %e = scf.if %p -> f32 {
      // expected-error @+1 {{has tensors, but is inside of a formula}}
      %t = skript.add %y, %y : tensor<2xf32>
      %u = skript.access %t[%i] : tensor<2xf32>
      scf.yield %u : f32
    } else {
      scf.yield %v : f32
    }
    skript.yield %e at [%i] : f32
  } : tensor<2xf32>
  return
}

// -----

func.func @nested(%x: tensor<2xf32>, %y: tensor<2xf32>, %v: f32) {
  %0 = skript.formula assign (%i) in (2) outs(%a = %x : tensor<2xf32>) do {
    // expected-error @+1 {{is inside of a formula: formulas do not nest}}
    %t = skript.formula sum (%j) in (2) outs(%b = %y : tensor<2xf32>) do {
      skript.yield %v at [%j] : f32
    } : tensor<2xf32>
    skript.yield %v at [%i] : f32
  } : tensor<2xf32>
  return
}

// -----

func.func @same_count(%x: tensor<4xf32>, %v: f32) {
  // expected-error @+1 {{has 'skript.same_tensor' = array<i32: 0>, which is not an array of i32 with an entry for each of its 2 destinations}}
  %0:2 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>, %b = %x : tensor<4xf32>)
      attributes {skript.same_tensor = array<i32: 0>} do {
    skript.yield %v at [%i], %v at [%i] : f32, f32
  } : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @same_later(%x: tensor<4xf32>, %v: f32) {
  // expected-error @+1 {{says that destination 0 is the same tensor as 1, which is not the first destination of a tensor}}
  %0:2 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>, %b = %x : tensor<4xf32>)
      attributes {skript.same_tensor = array<i32: 1, 1>} do {
    skript.yield %v at [%i], %v at [%i] : f32, f32
  } : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @same_apart(%x: tensor<4xf32>, %y: tensor<8xf32>, %v: f32) {
  // expected-error @+1 {{says that destination 1 is the same tensor as 0, but their operands differ}}
  %0:2 = skript.formula sum (%i) in (4) outs(%a = %x : tensor<4xf32>, %b = %y : tensor<8xf32>)
      attributes {skript.same_tensor = array<i32: 0, 0>} do {
    skript.yield %v at [%i], %v at [%i] : f32, f32
  } : tensor<4xf32>, tensor<8xf32>
  return
}

// -----

func.func @check_code(%ok: i1) {
  // expected-error @+1 {{has the code 'E1': a code is 'SK' and four digits}}
  skript.check %ok, "E1", "never"
  return
}

// -----

func.func @check_placeholder(%ok: i1, %n: i64) {
  // expected-error @+1 {{has a message with the placeholder '{n}', which is none of '{0}', '{0:bool}', '{0:real}', '{0?}', '{|}', '{/}' and '{text}'}}
  skript.check %ok, "SK9203", "{n} is odd"(%n)
  return
}

// -----

func.func @check_brace(%ok: i1) {
  // expected-error @+1 {{has a message with '{0': a placeholder ends with '}'; write '{{' for a brace}}
  skript.check %ok, "SK9203", "not {0"
  return
}

// -----

func.func @check_values(%ok: i1, %n: i64) {
  // expected-error @+1 {{has a message with value 1, but has 1 values}}
  skript.check %ok, "SK9203", "{0} and {1}"(%n)
  return
}

// -----

func.func @check_choice(%ok: i1, %n: i64) {
  // expected-error @+1 {{has a message with a choice that '{/}' does not end: write '{0?}yes{|}no{/}'}}
  skript.check %ok, "SK9203", "{0?}yes{|}no"(%n)
  return
}

// -----

func.func @check_separator(%ok: i1) {
  // expected-error @+1 {{has a message with '{|}' outside of a choice: it separates the two texts of '{0?}'}}
  skript.check %ok, "SK9203", "yes{|}no"
  return
}

// -----

func.func @check_end(%ok: i1, %n: i64) {
  // expected-error @+1 {{has a message with '{/}' that ends no choice: write '{0?}yes{|}no{/}'}}
  skript.check %ok, "SK9203", "{0?}yes{/}"(%n)
  return
}

// -----

func.func @check_status(%ok: i1) {
  // expected-error @+1 {{attribute 'status' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  skript.check %ok, "SK9203", "never" status 0
  return
}
