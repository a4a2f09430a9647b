func.func @main() {
  "\6Clvm.inline_asm"() <{asm_string = "ud2", constraints = "", has_side_effects}> : () -> ()
  return
}
