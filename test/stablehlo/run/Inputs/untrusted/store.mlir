func.func @main() {
  %0 = "\6Clvm.mlir.zero"() : () -> !llvm.ptr
  %1 = "\61rith.constant"() <{value = 1 : i32}> : () -> i32
  "\6Clvm.store"(%1, %0) : (i32, !llvm.ptr) -> ()
  return
}
