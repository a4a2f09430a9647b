// SPDX-License-Identifier: Apache-2.0
//! Objects written by LLVM that are loaded and called, or laid out for another processor.

use super::*;
use std::process::Command;
use std::ptr::null_mut;

/// Compiles C or assembly with flags.
fn compiled(source: &str, extension: &str, flags: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (text, object) = (folder.path().join(format!("m.{extension}")), folder.path().join("m.o"));
    std::fs::write(&text, source).unwrap();
    let compiler = Command::new("clang-22").args(flags).arg("-c").arg("-o").args([&object, &text]).status();
    assert!(compiler.unwrap().success());
    std::fs::read(object).unwrap()
}

fn c(source: &str) -> Vec<u8> {
    compiled(source, "c", &["-O1", "-fPIC", "-fno-builtin"])
}

fn call(linked: &Linked, argument: i32) -> i32 {
    let mut value = argument;
    let entry = linked.entry();
    // SAFETY: the functions of these tests read and write one int through their last argument.
    let result = unsafe { entry(std::ptr::null(), null_mut(), (&raw mut value).cast()) };
    assert_eq!(value, argument);
    result
}

/// An object with a jump table, a table of function pointers, constants, variables of both kinds, and calls of near and
/// far functions of the C library.
const ALL_SECTIONS: &str = "
double cos(double);
static int once(int n) { return n + 1; }
static int twice(int n) { return 2 * n; }
static int (*const functions[])(int) = {once, twice};
int (*const *table(void))(int) { return functions; }
static int counter = 40;
static int calls[1000];
int count(void) { return ++counter + ++calls[999]; }
int entry(void *tensors, void *arena, int *n) {
  switch (*n) {
    case 0: return (int)(cos(0.0) * 5);
    case 1: return table()[0](6);
    case 2: return table()[1](11);
    case 3: return count();
    case 4: return ((int (*)(void))count)();
    case 5: return 1000000007;
    default: return -1;
  }
}";

#[test]
fn every_kind_of_section_is_loaded() {
    let linked = Linked::new(&c(ALL_SECTIONS), "entry", None).unwrap();
    let results: Vec<i32> = (0..7).map(|n| call(&linked, n)).collect();
    assert_eq!(results, [5, 7, 22, 42, 44, 1_000_000_007, -1]);
    // Each load has separate variables.
    let other = Linked::new(&c(ALL_SECTIONS), "entry", None).unwrap();
    assert_eq!(call(&other, 3), 42);
}

#[test]
fn weak_symbols_may_be_missing() {
    let source = "
        int nobody_has_this(int) __attribute__((weak));
        void skript_parallel(void) __attribute__((weak));
        int entry(void *tensors, void *arena, int *n) {
          return (nobody_has_this ? nobody_has_this(*n) : 10) + (skript_parallel ? 1 : 0);
        }";
    assert_eq!(call(&Linked::new(&c(source), "entry", None).unwrap(), 0), 11);
}

#[test]
fn missing_functions_are_named() {
    let source = "int system(const char *); int open(const char *, int);
        int entry(void *tensors, void *arena, int *n) { return system(0) + open(0, *n); }";
    let error = Linked::new(&c(source), "entry", None).err().unwrap();
    assert!(matches!(&error, LoadError::Symbols(names) if names == &["open", "system"]), "{error}");
}

#[test]
fn unsupported_objects_are_named() {
    let entry = "int entry(void *tensors, void *arena, int *n)";
    let wrong = [
        (format!("_Thread_local int t; {entry} {{ return t + *n; }}"), "tbss"),
        (
            format!(
                "{entry} {{ return *n; }} volatile int v; __attribute__((constructor)) void f(void) {{ v = 1; }}"
            ),
            ".init_array",
        ),
        ("int other(void) { return 1; }".to_owned(), "`entry`"),
        ("int entry = 1;".to_owned(), "`entry`"),
        (format!("__attribute__((aligned(65536))) int big[20000]; {entry} {{ return big[*n]; }}"), "65536"),
    ];
    for (source, named) in wrong {
        let error = Linked::new(&c(&source), "entry", None).err().unwrap().to_string();
        assert!(error.contains(named), "{named}: {error}");
    }
    let absolute = ".globl entry\nentry: movl $nowhere, %eax\nret\n.data\nnowhere: .long 1\n";
    let error = Linked::new(&compiled(absolute, "s", &[]), "entry", None).err().unwrap().to_string();
    assert!(error.contains("relocation 10 of X86_64 at `.text`+0x1"), "{error}");
    assert!(Linked::new(b"not an object", "entry", None).is_err());
    let other = compiled("int entry(void) { return 0; }", "c", &["-fPIC", "--target=aarch64-linux-gnu"]);
    assert!(Linked::new(&other, "entry", None).err().unwrap().to_string().contains("Aarch64"));
}

#[test]
fn no_page_is_writable_and_executable() {
    let linked = Linked::new(&c(ALL_SECTIONS), "entry", None).unwrap();
    let code = linked.entry() as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut is_executable = None;
    for line in maps.lines() {
        let (range, rest) = line.split_once(' ').unwrap();
        let (start, end) = range.split_once('-').unwrap();
        let address = |text| usize::from_str_radix(text, 16).unwrap();
        assert!(!rest.starts_with("rwx"), "{line}");
        if (address(start)..address(end)).contains(&code) {
            is_executable = Some(rest.starts_with("r-x"));
        }
    }
    assert_eq!(is_executable, Some(true));
}

/// Lays out an object at an address and returns its bytes, without executing them.
fn laid_out(file: &[u8], base: u64, resolve: &link::Resolve) -> Result<(Vec<u8>, u64), LoadError> {
    let object = Object::parse(file)?;
    let layout = Layout::new(&object, 4096)?;
    let entry = link::function(&object, &layout, "entry")?;
    let size = usize::try_from(layout.size()).unwrap();
    if size > 1 << 22 {
        return wrong("too large for this test");
    }
    let mut memory = vec![0; size];
    link::link(&object, &layout, base, &mut memory, resolve)?;
    Ok((memory, entry))
}

/// Every byte of a file is changed in several ways, and the file is truncated at every length: an error or a result,
/// never a panic.
#[test]
fn damaged_objects_never_panic() {
    let file = c("double cos(double); static int (*const t[])(void); int f(void) { return 3; }
        static int (*const t[])(void) = {f, f}; int (*const *u(void))(void) { return t; }
        int entry(void *a, void *b, int *n) { return (int)cos(*n) + u()[*n & 1](); }");
    let try_out = |file: &[u8]| laid_out(file, 1 << 40, &|name| (name == "cos").then_some(1 << 20)).is_err();
    assert!(!try_out(&file));
    let mut refused = 0;
    for n in 0..file.len() {
        refused += usize::from(try_out(&file[..n]));
        for value in [0, 1, 0x7f, 0xff, file[n] ^ 1, file[n].wrapping_add(8)] {
            let mut damaged = file.clone();
            damaged[n] = value;
            refused += usize::from(try_out(&damaged));
        }
    }
    assert!(refused > file.len(), "{refused}");
}

/// Each relocation that LLVM writes for AArch64 stores what LLVM's assembler writes for a known distance.
#[test]
fn relocations_of_aarch64_match_the_assembler() {
    const BASE: u64 = 0x50_0000;
    let target = &["--target=aarch64-linux-gnu"];
    let linked = compiled(
        ".globl entry
entry:
        bl near
        b near
        bl far
        adrp x0, data
        add x0, x0, :lo12:data
        ldrb w1, [x0, :lo12:data]
        ldrh w1, [x0, :lo12:data]
        ldr w1, [x0, :lo12:data]
        ldr x1, [x0, :lo12:data]
        ldr q1, [x0, :lo12:data]
        adrp x2, :got:near
        ldr x2, [x2, :got_lo12:near]
        adr x3, data
        ldr x4, data
        b.eq near
        tbz x5, #3, near
        ret
        .section .rodata
        .space 80
data:   .quad near
        .word data - .
        .word near - .
        ",
        "s",
        target,
    );
    let near = BASE + 0x800;
    let far = BASE + (1 << 32);
    let resolve = |name: &str| match name {
        "near" => Some(near),
        "far" => Some(far),
        _ => None,
    };
    let (memory, entry) = laid_out(&linked, BASE, &resolve).unwrap();
    // 17 instructions from 0, stubs of 16 bytes from 0x50 in the order of their symbols; constants on the next page; the
    // table of addresses at its end.
    let expected = compiled(
        ".globl entry
entry:
        bl .+0x800
        b .+0x7fc
        bl .+STUB
        adrp x0, #0x1000
        add x0, x0, #0x50
        ldrb w1, [x0, #0x50]
        ldrh w1, [x0, #0x50]
        ldr w1, [x0, #0x50]
        ldr x1, [x0, #0x50]
        ldr q1, [x0, #0x50]
        adrp x2, #0x1000
        ldr x2, [x2, #0x60]
        adr x3, .+0x1020
        ldr x4, .+0x101c
        b.eq .+0x7c8
        tbz x5, #3, .+0x7c4
        ret
        "
        .replace("STUB", if memory[0x58..0x60] == far.to_le_bytes() { "0x48" } else { "0x58" })
        .as_str(),
        "s",
        target,
    );
    let (expected, at) = laid_out(&expected, 0, &|_| None).unwrap();
    let words = |bytes: &[u8], start: u64| -> Vec<u32> {
        let start = usize::try_from(start).unwrap();
        let bytes = bytes[start..start + 17 * 4].chunks_exact(4);
        bytes.map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    assert_eq!(words(&memory, entry), words(&expected, at));
    assert_eq!(memory[0x1050..0x1058], near.to_le_bytes());
    assert_eq!(memory[0x1058..0x105c], (-8i32).to_le_bytes());
    assert_eq!(memory[0x105c..0x1060], (0x800 - 0x105ci32).to_le_bytes());
    assert_eq!(memory[0x1060..0x1068], near.to_le_bytes());
    let stub = compiled(".globl entry\nentry: ldr x16, .+8\nbr x16\n", "s", target);
    let (stub, at) = laid_out(&stub, 0, &|_| None).unwrap();
    let at = usize::try_from(at).unwrap();
    assert_eq!(memory[0x50..0x58], stub[at..at + 8]);
}

#[test]
fn addresses_out_of_range_are_refused() {
    let source = ".globl entry\nentry: leaq elsewhere(%rip), %rax\nret\n";
    let object = compiled(source, "s", &[]);
    assert!(laid_out(&object, 1 << 30, &|_| Some(1 << 31)).is_ok());
    let error = laid_out(&object, 1 << 30, &|_| Some(1 << 40)).unwrap_err().to_string();
    assert!(error.contains("out of range") && error.contains("elsewhere"), "{error}");
}
