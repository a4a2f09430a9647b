"\6Clvm.func"() <{sym_name = "_exit", function_type = !llvm.func<void (i32)>, linkage = #llvm.linkage<external>, CConv = #llvm.cconv<ccc>, visibility_ = 0 : i64}> ({ }) : () -> ()
func.func @main() {
  %0 = "\6Clvm.mlir.constant"() <{value = 43 : i32}> : () -> i32
  "\6Clvm.call"(%0) <{callee = @_exit, fastmathFlags = #llvm.fastmath<none>, CConv = #llvm.cconv<ccc>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 1, 0>}> : (i32) -> ()
  return
}
