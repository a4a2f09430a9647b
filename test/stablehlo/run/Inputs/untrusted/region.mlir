func.func @main(%x: tensor<f32>) { "y"(%x) ({ }) : (tensor<f32>) -> () return }
