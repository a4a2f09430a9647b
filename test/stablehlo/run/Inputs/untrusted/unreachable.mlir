func.func @main() {
  "\6Clvm.unreachable"() : () -> ()
}
