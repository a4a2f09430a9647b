// SPDX-License-Identifier: Apache-2.0
use super::*;

const F32: u32 = 0;
const Q4_0: u32 = 2;
const IQ2_XS: u32 = 17;

/// A file of the format with keys and tensors; the data is zero.
#[derive(Clone)]
struct File {
    keys: Vec<(String, Vec<u8>)>,
    tensors: Vec<(String, Vec<u64>, u32)>,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn int(n: u32) -> Vec<u8> {
    [4u32.to_le_bytes(), n.to_le_bytes()].concat()
}

fn real(x: f32) -> Vec<u8> {
    [6u32.to_le_bytes(), x.to_le_bytes()].concat()
}

fn flag(is_set: bool) -> Vec<u8> {
    [&7u32.to_le_bytes()[..], &[u8::from(is_set)]].concat()
}

fn string(s: &str) -> Vec<u8> {
    [&8u32.to_le_bytes()[..], &text(s)].concat()
}

impl File {
    /// A model with one layer of 32 features, two heads and one head of keys.
    fn new(architecture: &str) -> File {
        let mut keys = vec![("general.architecture".to_owned(), string(architecture))];
        for (key, value) in [
            ("block_count", int(1)),
            ("context_length", int(4096)),
            ("embedding_length", int(32)),
            ("attention.head_count", int(2)),
            ("attention.head_count_kv", int(1)),
            ("attention.layer_norm_rms_epsilon", real(1e-5)),
        ] {
            keys.push((format!("{architecture}.{key}"), value));
        }
        let matrices = [
            ("token_embd", 10, 32),
            ("blk.0.attn_q", 32, 32),
            ("blk.0.attn_k", 16, 32),
            ("blk.0.attn_v", 16, 32),
            ("blk.0.attn_output", 32, 32),
            ("blk.0.ffn_gate", 64, 32),
            ("blk.0.ffn_up", 64, 32),
            ("blk.0.ffn_down", 32, 64),
        ];
        let norms = ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"];
        let matrices =
            matrices.map(|(name, rows, columns)| (format!("{name}.weight"), vec![rows, columns], Q4_0));
        let norms = norms.map(|name| (format!("{name}.weight"), vec![32], F32));
        File { keys, tensors: matrices.into_iter().chain(norms).collect() }
    }

    fn key(mut self, name: &str, value: Option<Vec<u8>>) -> File {
        self.keys.retain(|(key, _)| key != name);
        self.keys.extend(value.map(|value| (name.to_owned(), value)));
        self
    }

    fn tensor(mut self, name: &str, shape: &[u64], kind: u32) -> File {
        self.tensors.retain(|(known, ..)| known != name);
        self.tensors.push((name.to_owned(), shape.to_vec(), kind));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let counts = [self.tensors.len() as u64, self.keys.len() as u64].map(u64::to_le_bytes).concat();
        let mut bytes = [&b"GGUF\x03\0\0\0"[..], &counts].concat();
        for (key, value) in &self.keys {
            bytes.extend([text(key), value.clone()].concat());
        }
        let mut offset = 0u64;
        for (name, shape, kind) in &self.tensors {
            bytes.extend(text(name));
            bytes.extend((shape.len() as u32).to_le_bytes());
            bytes.extend(shape.iter().rev().flat_map(|extent| extent.to_le_bytes()));
            bytes.extend(kind.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
            // At most four bytes for each element.
            offset += (4 * shape.iter().product::<u64>()).next_multiple_of(32);
        }
        bytes.resize(bytes.len().next_multiple_of(32) + usize::try_from(offset).unwrap(), 0);
        bytes
    }

    fn import(&self) -> Result<Imported, String> {
        import(&self.bytes(), GgufOptions::default())
    }

    fn refusal(&self) -> String {
        self.import().unwrap_err()
    }
}

fn import(bytes: &[u8], options: GgufOptions) -> Result<Imported, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.gguf");
    std::fs::write(&path, bytes).unwrap();
    convert_gguf(&path, options).map_err(|error| match error {
        ImportError::Refused { refusals, .. } => refusals[0].to_string(),
        other => other.to_string(),
    })
}

#[test]
fn documents_compose_the_layers() {
    let imported = File::new("llama").import().unwrap();
    for part in [
        "graph Llama {",
        "tokens: int[n|2048];",
        "lm.rotate{adjacent=true}",
        "blk_0: layer(x0, cosine, sine)",
    ] {
        assert!(imported.main.contains(part), "{part}: {}", imported.main);
    }
    assert!(imported.json.contains(r#""skript": "main.Llama.blk_0.attn_q.weight""#), "{}", imported.json);
    assert!(imported.json.contains(r#""skript": "main.Llama.token_embd_weight""#), "{}", imported.json);
    let qwen = File::new("qwen2").tensor("blk.0.attn_q.bias", &[32], F32).import().unwrap();
    assert!(qwen.main.contains("attn_q: linear_q4_0_bias{size=32}(a)"), "{}", qwen.main);
    assert!(!qwen.main.contains("adjacent"));
}

#[test]
fn cached_documents_have_initial_values() {
    let options = GgufOptions { context: Some(100), cache: GgufCache::Variables, ..GgufOptions::default() };
    let imported = import(&File::new("llama").bytes(), options).unwrap();
    for part in ["keys: real[100,g,d];", "@update {", "tokens: int[n|100];", "layer(x0, cosine, sine, past)"]
    {
        assert!(imported.main.contains(part), "{part}: {}", imported.main);
    }
    let [keys, values] = &imported.weights[..] else { panic!("{:?}", imported.weights) };
    assert_eq!(keys.name, "main.Llama.blk_0.attention.keys");
    assert_eq!(values.name, "main.Llama.blk_0.attention.values");
    assert_eq!(keys.tensor.shape(), [100, 1, 16]);
    let options = GgufOptions { context: Some(4097), ..GgufOptions::default() };
    let refused = import(&File::new("llama").bytes(), options).unwrap_err();
    assert!(refused.contains("--context is 4097; the model supports 1 to 4096 tokens"), "{refused}");
}

#[test]
fn models_that_are_not_supported_are_refused() {
    let llama = || File::new("llama");
    let list = [9u32.to_le_bytes(), 4u32.to_le_bytes(), 0u32.to_le_bytes(), [0; 4]].concat();
    let cases = [
        (
            File::new("bert"),
            "the architecture `bert` is not supported; supported are llama, qwen2, qwen2moe, qwen3",
        ),
        (llama().key("general.architecture", None), "`general.architecture` is missing"),
        (llama().key("llama.block_count", None), "the key `llama.block_count` is missing"),
        (llama().key("llama.block_count", Some(int(2))), "the tensor `blk.1.attn_norm.weight` is missing"),
        (llama().key("llama.block_count", Some(int(u32::MAX))), "is 4294967295; supported are 1 to"),
        (llama().key("llama.block_count", Some(real(1.0))), "`llama.block_count` is not an integer"),
        (llama().key("llama.attention.head_count_kv", Some(list)), "differs between layers"),
        (llama().key("llama.attention.head_count", Some(int(5))), "do not divide"),
        (llama().key("llama.attention.layer_norm_rms_epsilon", Some(real(f32::NAN))), "not a finite number"),
        (
            llama().key("llama.rope.scaling.type", Some(string("yarn"))),
            "`llama.rope.scaling.type` has a value",
        ),
        (
            llama().key("llama.rope.scaling.factor", Some(real(2.0))),
            "`llama.rope.scaling.factor` has a value",
        ),
        (llama().key("llama.rope.scale_linear", Some(real(4.0))), "`llama.rope.scale_linear` has a value"),
        (
            llama().key("llama.rope.scaling.attn_factor", Some(real(0.5))),
            "`llama.rope.scaling.attn_factor` has",
        ),
        (llama().key("llama.attention.scale", Some(real(0.25))), "`llama.attention.scale` has a value"),
        (
            llama().key("llama.attention.sliding_window", Some(int(512))),
            "`llama.attention.sliding_window` has",
        ),
        (llama().key("llama.attention.causal", Some(flag(false))), "`llama.attention.causal` has a value"),
        (llama().key("llama.expert_count", Some(int(8))), "the key `llama.expert_used_count` is missing"),
        (
            File::new("qwen2").key("qwen2.expert_count", Some(int(8))),
            "the key `qwen2.expert_count` has a value",
        ),
        (llama().key("llama.rope.dimension_count", Some(int(18))), "turns 18 of 16 features"),
        (llama().tensor("blk.0.attn_k.weight", &[32, 32], Q4_0), "is [32, 32] instead of [16, 32]"),
        (llama().tensor("blk.0.attn_k.weight", &[16, 256], IQ2_XS), "is [16, 256] instead of [16, 32]"),
        (llama().tensor("output.weight", &[10, 256], IQ2_XS), "is [10, 256] instead of [10, 32]"),
        (llama().tensor("token_embd.weight", &[10], F32), "is [10] instead of [any, 32]"),
        (llama().tensor("token_embd.weight", &[0, 32], F32), "is [0, 32] instead of [any, 32]"),
        (llama().tensor("blk.0.attn_norm.weight", &[32], Q4_0), "has the type Q4_0 instead of F32"),
        (llama().tensor("token_embd.bias", &[10], F32), "`token_embd.bias` is not supported"),
        (llama().tensor("blk.0.attn_norm.bias", &[32], F32), "`blk.0.attn_norm.bias` is not a part of"),
    ];
    for (file, expected) in cases {
        let message = file.refusal();
        assert!(message.contains(expected), "{message}");
    }
}

/// A model with the norms and the window of Gemma 2 and 3.
fn gemma(architecture: &str) -> File {
    let file =
        File::new(architecture).key(&format!("{architecture}.attention.sliding_window"), Some(int(512)));
    let norms = ["post_attention_norm", "post_ffw_norm"].map(|norm| format!("blk.0.{norm}.weight"));
    norms.iter().fold(file, |file, norm| file.tensor(norm, &[32], F32))
}

/// A model with four experts of 64 features, of which a token has two.
fn mixture(architecture: &str) -> File {
    let mut file = File::new(architecture);
    for (key, count) in [("expert_count", 4), ("expert_used_count", 2)] {
        file = file.key(&format!("{architecture}.{key}"), Some(int(count)));
    }
    file.tensors.retain(|(name, ..)| !name.starts_with("blk.0.ffn_") || name == "blk.0.ffn_norm.weight");
    for (name, shape, kind) in [
        ("ffn_gate_inp", &[4, 32][..], F32),
        ("ffn_gate_exps", &[4, 64, 32], Q4_0),
        ("ffn_up_exps", &[4, 64, 32], Q4_0),
        ("ffn_down_exps", &[4, 32, 64], Q4_0),
    ] {
        file = file.tensor(&format!("blk.0.{name}.weight"), shape, kind);
    }
    file
}

/// A model with a shared expert of 96 features.
fn shared_expert() -> File {
    let mut file = mixture("qwen2moe").tensor("blk.0.ffn_gate_inp_shexp.weight", &[32], F32);
    for (name, shape) in [("gate", [96, 32]), ("up", [96, 32]), ("down", [32, 96])] {
        file = file.tensor(&format!("blk.0.ffn_{name}_shexp.weight"), &shape, Q4_0);
    }
    file
}

#[test]
fn experts_are_formulas() {
    let normalized = "expert, weight = lm.route{used=2, normalize=true}(logits);";
    let all = [
        (
            mixture("llama"),
            vec![
                "weight: int[count,size,k / 32,18];",
                "y = lm.experts(x, expert, w);",
                "logits = ffn_gate_inp: linear{size=4}(c);",
                normalized,
                "parts = ffn_down_exps: experts_q4_0{count=4, size=32}(gated, expert);",
                "fed = lm.mixture(parts, weight);",
            ],
        ),
        (mixture("qwen3moe"), vec!["graph Qwen3moe {", normalized]),
        (
            shared_expert(),
            vec![
                "lm.route{used=2}(logits)",
                "closed = ffn_down_shexp: linear_q4_0{size=32}(active);",
                "shared = ffn_gate_inp_shexp: opened(closed, c);",
                "fed = math.add(routed, shared);",
            ],
        ),
    ];
    for (file, parts) in all {
        for cache in [GgufCache::None, GgufCache::Variables, GgufCache::Arrays] {
            let imported = import(&file.bytes(), GgufOptions { cache, ..GgufOptions::default() }).unwrap();
            for part in &parts {
                assert!(imported.main.contains(part), "{part}: {}", imported.main);
            }
        }
    }
    // One expert is a mixture too, and a layer may have none.
    let one = mixture("llama").key("llama.expert_used_count", Some(int(1)));
    assert!(one.import().unwrap().main.contains("used=1"));
    let mut dense = File::new("llama");
    dense.keys = mixture("llama").keys;
    assert!(!dense.import().unwrap().main.contains("lm.route"));
}

#[test]
fn wrong_experts_are_refused() {
    let llama = || mixture("llama");
    let key = |name: &str, value| llama().key(&format!("llama.{name}"), Some(value));
    let without = |file: File, name: &str| {
        let mut file = file;
        file.tensors.retain(|(known, ..)| *known != format!("blk.0.{name}.weight"));
        file
    };
    let cases = [
        (key("expert_used_count", int(5)), "`llama.expert_used_count` is 5, but the model has 4 experts"),
        (key("expert_used_count", int(0)), "`llama.expert_used_count` is 0; supported are 1 to"),
        (key("expert_count", int(8)), "`blk.0.ffn_gate_inp.weight` is [4, 32] instead of [8, 32]"),
        (key("expert_count", int(0)), "selects experts, but the key `llama.expert_count` is missing or 0"),
        (key("expert_feed_forward_length", int(65)), "is [4, 64, 32] instead of [4, 65, 32]"),
        (key("expert_gating_func", int(2)), "`llama.expert_gating_func` has a value other than 1"),
        (key("expert_group_count", int(2)), "`llama.expert_group_count` has a value other than 1"),
        (key("expert_weights_scale", real(2.5)), "`llama.expert_weights_scale` has a value other than 1"),
        (
            key("expert_weights_norm", flag(false)),
            "`llama.expert_weights_norm` is false, which the architecture",
        ),
        (without(llama(), "ffn_gate_inp"), "the tensor `blk.0.ffn_gate_inp.weight` is missing"),
        (without(llama(), "ffn_up_exps"), "the tensor `blk.0.ffn_up_exps.weight` is missing"),
        (
            llama().tensor("blk.0.ffn_down_exps.weight", &[4, 32, 96], Q4_0),
            "`blk.0.ffn_down_exps.weight` is [4, 32, 96] instead of [4, 32, 64]",
        ),
        (llama().tensor("blk.0.ffn_gate_exps.weight", &[64, 32], Q4_0), "is [64, 32] instead of [4, 64, 32]"),
        (
            llama().tensor("blk.0.ffn_up_exps.weight", &[4, 0, 32], Q4_0),
            "is [4, 0, 32] instead of [4, any, 32]",
        ),
        (
            llama().tensor("blk.0.ffn_up_exps.bias", &[4, 64], F32),
            "`blk.0.ffn_up_exps.bias` is not a part of",
        ),
        (mixture("qwen3moe").key("qwen3moe.expert_count", None), "`qwen3moe.expert_count` is missing or 0"),
        (
            shared_expert().key("qwen2moe.expert_shared_feed_forward_length", Some(int(64))),
            "`blk.0.ffn_up_shexp.weight` is [96, 32] instead of [64, 32]",
        ),
        (
            without(shared_expert(), "ffn_gate_inp_shexp")
                .key("qwen2moe.expert_shared_feed_forward_length", Some(int(96))),
            "the tensor `blk.0.ffn_gate_inp_shexp.weight` is missing",
        ),
        (without(shared_expert(), "ffn_gate_inp_shexp"), "_shexp.weight` is not a part of"),
    ];
    for (file, expected) in cases {
        let message = file.refusal();
        assert!(message.contains(expected), "{message}");
    }
}

/// A model whose matrices have the rows of several.
fn phi() -> File {
    let mut file = File::new("phi3").tensor("blk.0.attn_qkv.weight", &[64, 32], Q4_0).tensor(
        "blk.0.ffn_up.weight",
        &[128, 32],
        Q4_0,
    );
    let replaced = ["attn_q", "attn_k", "attn_v", "ffn_gate"].map(|name| format!("blk.0.{name}.weight"));
    file.tensors.retain(|(name, ..)| !replaced.contains(name));
    file
}

fn factors(file: File, name: &str) -> File {
    file.tensor(&format!("rope_factors_{name}.weight"), &[8], F32)
}

#[test]
fn differences_of_architectures_are_formulas() {
    let all = [
        (File::new("gemma"), vec!["nn.gelu{approximate='TANH'}(gate)", "x0 = math.mul(embedded, 5.656854);"]),
        (
            gemma("gemma2"),
            vec![
                "50.0 * `tanh`(product[k,t,j] * scale / 50.0)",
                "bounded{cap=30.0}",
                "attention{window=512}(queries",
            ],
        ),
        (
            gemma("gemma3")
                .key("gemma3.rope.scaling.type", Some(string("linear")))
                .key("gemma3.rope.scaling.factor", Some(real(8.0))),
            vec!["value=8.0}", "local_cosine, local_sine = lm.angles{base=10000.0, size=16}(position);"],
        ),
        (phi(), vec!["[gate, up] = layout.split{axis=1, sizes=[64, 64]}(both);"]),
        (
            factors(factors(phi(), "short"), "long")
                .key("phi3.rope.scaling.original_context_length", Some(int(1024))),
            vec!["lm.angles{base=10000.0, size=16}(position, rope_factors_long_weight)"],
        ),
    ];
    for (file, parts) in all {
        for cache in [GgufCache::None, GgufCache::Variables, GgufCache::Arrays] {
            let imported = import(&file.bytes(), GgufOptions { cache, ..GgufOptions::default() }).unwrap();
            for part in &parts {
                assert!(imported.main.contains(part), "{part}: {}", imported.main);
            }
        }
    }
    // A window that has all tokens of the context is left out.
    let wide = gemma("gemma2").key("gemma2.attention.sliding_window", Some(int(2048)));
    assert!(!wide.import().unwrap().main.contains("window"));
}

#[test]
fn wrong_differences_are_refused() {
    let cases = [
        (
            gemma("gemma2").key("gemma2.attention.sliding_window", None),
            "attention.sliding_window` is missing",
        ),
        (
            gemma("gemma3").key("gemma3.rope.scaling.type", Some(string("yarn"))),
            "`gemma3.rope.scaling.type` has",
        ),
        (gemma("gemma3").key("gemma3.rope.scaling.type", Some(int(1))), "type` is not a string"),
        (
            gemma("gemma2").key("gemma2.attn_logit_softcapping", Some(real(-1.0))),
            "softcapping` is not a finite",
        ),
        (File::new("gemma2"), "`gemma2.attention.sliding_window` is missing"),
        (
            File::new("llama").key("llama.final_logit_softcapping", Some(real(30.0))),
            "softcapping` has a value",
        ),
        (phi().tensor("blk.0.ffn_up.weight", &[127, 32], Q4_0), "has 127 rows, which are not two halves"),
        (phi().tensor("blk.0.attn_qkv.weight", &[65, 32], Q4_0), "is [65, 32] instead of [64, 32]"),
        (factors(phi(), "short"), "the file has some of the tensors rope_freqs.weight, rope_factors_short"),
        (factors(factors(phi(), "short"), "long"), "original_context_length` is missing"),
        (File::new("llama").key("split.count", Some(int(2))), "the file is one of 2 parts of a model"),
        (
            File::new("llama").key("llama.attention.head_count", Some(int(3))),
            "32 features do not divide into 3 heads",
        ),
    ];
    for (file, expected) in cases {
        let message = file.refusal();
        assert!(message.contains(expected), "{message}");
    }
}

/// Contexts have the same code up to 2048 tokens; the name of the file is not a part of the text.
#[test]
fn texts_for_callers_do_not_depend_on_small_contexts() {
    let file = File::new("llama");
    let text = |context| {
        let options = GgufOptions { context, cache: GgufCache::Arrays, ..GgufOptions::default() };
        import(&file.bytes(), options).unwrap().main
    };
    assert_eq!(text(Some(100)), text(None));
    assert!(!text(None).contains("small.gguf"));
    assert_eq!(text(Some(2049)), text(Some(4096)));
    assert_ne!(text(Some(2048)), text(Some(2049)));
}

#[test]
fn documents_read_caches_of_callers() {
    let options = GgufOptions { context: Some(100), cache: GgufCache::Arrays, ..GgufOptions::default() };
    let imported = import(&File::new("llama").bytes(), options).unwrap();
    for part in [
        "past_keys_0: real[o|2048,1,16];",
        "values_0: real[n,1,16];",
        "logits: real[1,10];",
        "x1, keys_0, values_0 = blk_0: layer(x0, cosine, sine, past_keys_0, past_values_0);",
        "selected = layout.gather{axis=0}(x1, row);",
    ] {
        assert!(imported.main.contains(part), "{part}: {}", imported.main);
    }
    assert!(imported.weights.is_empty() && !imported.main.contains("@update"));
}

/// Near miss: keys with the values that llama.cpp has without them.
#[test]
fn keys_without_effect_are_accepted() {
    let mut file = File::new("llama");
    for (key, value) in [
        ("rope.scaling.type", string("none")),
        ("rope.scaling.factor", real(1.0)),
        ("rope.scale_linear", int(1)),
        ("attention.scale", real(0.0)),
        ("attention.sliding_window", int(0)),
        ("attention.causal", flag(true)),
    ] {
        file = file.key(&format!("llama.{key}"), Some(value));
    }
    assert_eq!(file.import().unwrap().main, File::new("llama").import().unwrap().main);
}

/// Files that differ from a valid one in one byte are imported or refused with a message.
#[test]
fn mutated_files_are_imported_or_refused() {
    for file in [File::new("llama"), shared_expert()] {
        let (bytes, mut refused) = (file.bytes(), 0);
        for at in (0..1000).step_by(3) {
            let mut mutated = bytes.clone();
            mutated[at] ^= 0x41;
            if let Err(message) = import(&mutated, GgufOptions::default()) {
                assert!(!message.is_empty());
                refused += 1;
            }
        }
        assert!(refused > 200, "{refused}");
    }
}
