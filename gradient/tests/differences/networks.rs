// SPDX-License-Identifier: Apache-2.0
//! Small networks of operators of the library.

/// A multilayer perceptron with the cross-entropy of a softmax.
pub const PERCEPTRON: &str = "import nn; import math; import linalg;
graph G {
    @input { x: real[3,4]; t: real[3,2]; }
    @variable { w: real[5,4]; b: real[5]; v: real[2,5]; c: real[2]; }
    @output { loss: real[]; }
    @compose {
        h = nn.linear(x, w, b);
        a = math.tanh(h);
        o = nn.linear(a, v, c);
        p = nn.softmax{axes=[1]}(o);
        l = math.log(p);
        m = math.mul(l, t);
        s = math.sum_reduce{axes=[0,1], squeeze=true}(m);
        loss = math.neg(s);
    }
}";

/// A convolution, a normalization, a pooling and a sum of squares, with a residual connection in an unrolled loop.
pub const CONVOLUTIONAL: &str = "import nn; import math;
graph G {
    @input { x: real[2,2,6,6]; }
    @variable { f: real[2,2,3,3]; g: real[2]; o: real[2]; s: real[2]; }
    @output { loss: real[]; }
    @compose {
        last = with h = x do..(2) {
            c = nn.conv{padding=1}(h, f, g);
            r = nn.sigmoid(c);
            next = math.add(h, r);
            yield next;
        };
        m = nn.mean_variance_norm{epsilon=0.01}(last, o, s);
        p = nn.max_pool{size=[2,2], stride=2}(m);
        a = nn.avg_pool{size=[2,2], stride=1}(p);
        e = math.mean_reduce{axes=[2,3]}(p);
        q = math.mul(a, e);
        loss = math.sum_reduce{axes=[0,1,2,3], squeeze=true}(q);
    }
}";
