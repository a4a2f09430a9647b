// RUN: skript-opt %s --verify-diagnostics --skript-lower-invocations

ml_program.func private @other(%x: f32) -> f32 {
  ml_program.return %x : f32
}
func.func @model(%x: f32) -> f32 {
  // expected-error @below {{invokes 'other', which is not a func.func}}
  %0 = skript.invoke @other(%x) operator "mine.other" : (f32) -> f32
  return %0 : f32
}
