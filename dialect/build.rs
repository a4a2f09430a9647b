// SPDX-License-Identifier: Apache-2.0
//! Finds LLVM, builds the C++ dialect, and passes the linker flags for both.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    if let Err(problem) = build() {
        println!("cargo::error={}", problem.replace('\n', " "));
    }
}

fn build() -> Result<(), String> {
    for variable in ["SKRIPT_LLVM_PREFIX", "MLIR_SYS_220_PREFIX"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    for path in
        ["build.rs", "CMakeLists.txt", "../CMakeLists.txt", "include", "lib", "../stablehlo/dialect", "test"]
    {
        println!("cargo::rerun-if-changed={path}");
    }
    let prefix = llvm_prefix()?;
    let out = shared_folder()?;
    write_linker_script(&prefix, &out)?;
    let build = build_library(&prefix, &out)?;

    println!("cargo::rustc-link-search=native={}", out.display());
    for folder in ["dialect", "stablehlo"] {
        println!("cargo::rustc-link-search=native={}", build.join(folder).display());
    }
    println!("cargo::rustc-link-search=native={}", prefix.join("lib").display());
    for library in
        ["static=MLIRSkript", "static=MLIRSkriptStablehlo", "static=MLIRSkriptTest", "dylib=MLIR-C"]
    {
        println!("cargo::rustc-link-lib={library}");
    }
    for library in ["dylib=MLIR", "dylib=LLVM-22", "dylib=stdc++"] {
        println!("cargo::rustc-link-lib={library}");
    }
    println!("cargo::metadata=prefix={}", prefix.display());
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|e| format!("{name}: {e}"))
}

/// The prefix of an LLVM 22 installation with MLIR, which contains `bin`, `lib` and `include`.
fn llvm_prefix() -> Result<PathBuf, String> {
    let asked = ["SKRIPT_LLVM_PREFIX", "MLIR_SYS_220_PREFIX"]
        .iter()
        .find_map(|name| env::var_os(name).filter(|value| !value.is_empty()));
    let prefix = match asked {
        Some(prefix) => PathBuf::from(prefix),
        None => {
            let answer = Command::new("llvm-config-22").arg("--prefix").output();
            let text = answer.map_err(|e| format!("llvm-config-22: {e}"))?.stdout;
            PathBuf::from(String::from_utf8_lossy(&text).trim())
        }
    };
    if prefix.join("lib/cmake/mlir").is_dir() {
        Ok(prefix)
    } else {
        Err(format!(
            "no MLIR 22 in {}: run scripts/setup.sh, or set SKRIPT_LLVM_PREFIX to where it is installed",
            prefix.display()
        ))
    }
}

/// The build folder of the C++ dialect, `target/PROFILE/dialect-library`. Cargo runs this script separately for builds
/// and for lints; with a common folder, the second run reuses the compiled files of the first.
fn shared_folder() -> Result<PathBuf, String> {
    let out_folder = PathBuf::from(variable("OUT_DIR")?);
    // target/PROFILE/build/skript-dialect-HASH/out
    let profile = out_folder.ancestors().nth(3);
    let profile = profile.ok_or_else(|| format!("{} is not a folder of Cargo", out_folder.display()))?;
    let folder = profile.join("dialect-library");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

/// Debian has no libMLIR-C.so: this linker script replaces it.
fn write_linker_script(prefix: &Path, out: &Path) -> Result<(), String> {
    if prefix.join("lib/libMLIR-C.so").exists() {
        return Ok(());
    }
    let entries = fs::read_dir(prefix.join("lib")).map_err(|e| format!("{}: {e}", prefix.display()))?;
    let mut archives: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("libMLIRCAPI") && name.ends_with(".a"))
        .collect();
    archives.sort();
    let mut script = String::from("INPUT(");
    for archive in &archives {
        let _ = write!(script, " {}/lib/{archive}", prefix.display());
    }
    script.push_str(" -lMLIR )\n");
    let path = out.join("libMLIR-C.so");
    fs::write(&path, script).map_err(|e| format!("{}: {e}", path.display()))
}

/// Builds the C++ dialect with the Clang of the same prefix; returns the build folder.
fn build_library(prefix: &Path, out: &Path) -> Result<PathBuf, String> {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("..");
    let build = out.join("cmake");
    remove_if_moved(&root, &build);
    let optimize = variable("PROFILE")? == "release";
    let mut configure = Command::new("cmake");
    configure
        .arg("-S")
        .arg(&root)
        .arg("-B")
        .arg(&build)
        .args(["-G", "Ninja"])
        .arg(format!("-DCMAKE_C_COMPILER={}", prefix.join("bin/clang").display()))
        .arg(format!("-DCMAKE_CXX_COMPILER={}", prefix.join("bin/clang++").display()))
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
        .arg(format!("-DCMAKE_BUILD_TYPE={}", if optimize { "Release" } else { "" }))
        // Compiles nine files at a time: MLIR's headers take most of the time of each.
        .args(["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=9"]);
    run(configure)?;
    let mut compile = Command::new("cmake");
    compile.arg("--build").arg(&build);
    if let Ok(jobs) = variable("NUM_JOBS") {
        compile.args(["-j", &jobs]);
    }
    run(compile)?;
    Ok(build)
}

/// Removes a build folder for another source path, which CMake rejects after a checkout was moved or copied.
fn remove_if_moved(root: &Path, build: &Path) {
    let Ok(cache) = fs::read_to_string(build.join("CMakeCache.txt")) else {
        return;
    };
    let home = cache.lines().find_map(|line| line.strip_prefix("CMAKE_HOME_DIRECTORY:INTERNAL="));
    let same = home.and_then(|home| fs::canonicalize(home).ok()) == fs::canonicalize(root).ok();
    if !same {
        // If files remain, CMake reports that its cache belongs to another source folder.
        let _ = fs::remove_dir_all(build);
    }
}

fn run(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}: run scripts/setup.sh"))?;
    if output.status.success() {
        return Ok(());
    }
    for stream in [&output.stdout, &output.stderr] {
        for line in String::from_utf8_lossy(stream).lines() {
            println!("cargo::warning={line}");
        }
    }
    Err(format!("{command:?} failed; its output stands above"))
}
