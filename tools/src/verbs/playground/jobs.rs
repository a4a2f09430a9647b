// SPDX-License-Identifier: Apache-2.0
//! Work on a text: an execution of this program, which ends with the request that asked for it.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use hyper::StatusCode;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::access::{MAX_TEXT_BYTES, Refusal};
use super::pages::Page;
use super::results::{self, MAX_OUTPUT_BYTES};

/// The name of the text's file in messages and locations.
pub const FILE: &str = "playground.sknd";
/// Maximum number of processes that run at the same time; further work waits.
const MAX_PROCESSES: usize = 3;
/// Maximum size of messages in bytes.
const MAX_MESSAGE_BYTES: u64 = 64 << 10;
/// Maximum size of the address space of a process in bytes, most of which are stacks and libraries.
const MAX_ADDRESS_BYTES: u64 = 8 << 30;
/// Time by which a process outlives the limit if the server cannot end it.
const GRACE: Duration = Duration::from_secs(2);

/// Work that a page requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub kind: Kind,
    text: String,
    /// The graph; the default is the first one.
    graph: Option<String>,
    /// Values of the graph's attributes, as `--set` has them.
    #[serde(default)]
    attributes: Vec<String>,
    /// Shapes of inputs with dynamic dimensions, as `--input-shape` has them.
    #[serde(default)]
    shapes: Vec<String>,
    /// The element type of reals.
    real: Option<String>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    engine: Engine,
    #[serde(default)]
    target: Target,
}

/// The view that shows the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Graph,
    Model,
    Stages,
    Code,
    Stablehlo,
    Values,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Engine {
    #[default]
    Compiled,
    Reference,
}

/// The target of code as text.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Cpu,
    Aarch64,
    Riscv64,
    Wasm32,
    Ptx,
    Amdgcn,
}

impl Job {
    /// Reads a request.
    ///
    /// # Errors
    /// It is malformed, or the text is too long.
    pub fn parse(body: &[u8]) -> Result<Job, Refusal> {
        let job: Job = serde_json::from_slice(body)
            .map_err(|_| Refusal(StatusCode::BAD_REQUEST, "this is not a request of the page"))?;
        if job.text.len() as u64 > MAX_TEXT_BYTES {
            return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, "the text exceeds 1 MiB"));
        }
        Ok(job)
    }

    /// The command line.
    fn arguments(&self, limit: Duration) -> Vec<String> {
        let timeout = format!("--timeout={}", (limit + GRACE).as_secs_f64());
        let mut all: Vec<String> = match self.kind {
            Kind::Graph => vec!["view".into(), timeout, "--output=-".into(), "--no-weights".into()],
            Kind::Model => vec!["compile".into(), timeout, "--emit=model".into()],
            Kind::Stages => {
                let dumped = [("stages", results::STAGES), ("passes", results::PASSES)];
                let dumped = dumped.map(|(what, folder)| format!("--dump-{what}={folder}"));
                [vec!["compile".into(), timeout], dumped.to_vec()].concat()
            }
            Kind::Code => [vec!["compile".into(), timeout], self.target.arguments()].concat(),
            Kind::Stablehlo => {
                vec!["compile".into(), timeout, "--emit=stablehlo".into(), "--no-locations".into()]
            }
            Kind::Values => {
                let engine = match self.engine {
                    Engine::Compiled => "--engine=compiled",
                    Engine::Reference => "--engine=reference",
                };
                vec!["playground-values".into(), timeout, engine.into(), format!("--seed={}", self.seed)]
            }
        };
        all.extend(self.graph.iter().map(|graph| format!("--graph={graph}")));
        all.extend(self.real.iter().map(|real| format!("--real={real}")));
        all.extend(self.attributes.iter().map(|attribute| format!("--set={attribute}")));
        all.extend(self.shapes.iter().map(|shape| format!("--input-shape={shape}")));
        all.extend(["--".to_owned(), FILE.to_owned()]);
        all
    }
}

impl Target {
    fn arguments(self) -> Vec<String> {
        let triple = match self {
            Target::Cpu => "cpu",
            Target::Aarch64 => "aarch64-linux-gnu",
            Target::Riscv64 => "riscv64-linux-gnu",
            Target::Wasm32 => "wasm32",
            Target::Ptx => "nvptx64",
            Target::Amdgcn => "amdgcn",
        };
        let output = match self {
            Target::Ptx => vec![format!("--output={}.ptx", results::KERNELS)],
            Target::Amdgcn => vec![format!("--output={}.s", results::KERNELS)],
            _ => vec!["--emit=asm".to_owned()],
        };
        [vec![format!("--target={triple}"), "--line-tables".to_owned()], output].concat()
    }
}

/// Executes this program on texts.
pub struct Runner {
    executable: PathBuf,
    limit: Duration,
    processes: Semaphore,
}

impl Runner {
    pub fn new(executable: PathBuf, limit: Duration) -> Runner {
        Runner { executable, limit, processes: Semaphore::new(MAX_PROCESSES) }
    }

    /// Executes a job. Dropping the future, a newer job of the page and the time limit end its process.
    ///
    /// # Errors
    /// A newer job made this one obsolete, or the system refuses a file or a process.
    pub async fn run(&self, page: &Page, job: Job) -> Result<Value, Refusal> {
        let obsolete = page.begin_work();
        let work = async {
            let _place = self.processes.acquire().await;
            match timeout(self.limit, self.execute(page, &job)).await {
                Ok(result) => result.map_err(|error| {
                    let _ = error;
                    Refusal(StatusCode::INTERNAL_SERVER_ERROR, "the work cannot be started or read")
                }),
                Err(_) => {
                    let text = format!("stopped after {} s (--timeout)", self.limit.as_secs_f64());
                    Ok(json!({"status": "stopped", "messages": text}))
                }
            }
        };
        tokio::select! {
            result = work => result,
            _ = obsolete => Err(Refusal(StatusCode::CONFLICT, "a newer request made this one obsolete")),
        }
    }

    async fn execute(&self, page: &Page, job: &Job) -> std::io::Result<Value> {
        let folder = tempfile::Builder::new().prefix("skript-playground-").tempdir()?;
        std::fs::write(folder.path().join(FILE), &job.text)?;
        let child = Command::new(&self.executable)
            .arg0("skript")
            .args(job.arguments(self.limit))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the server, which ends its processes.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let mut process = Process { child: Some(child), folder: Some(folder) };
        if let Some(id) = id {
            let limit = Some(MAX_ADDRESS_BYTES);
            prlimit(Some(id), Resource::As, Rlimit { current: limit, maximum: limit })?;
        }
        let (stdout, stderr) = process.streams();
        let (output, messages) =
            tokio::try_join!(read(stdout, MAX_OUTPUT_BYTES), read(stderr, MAX_MESSAGE_BYTES))?;
        let (status, folder) = process.end().await?;
        let messages = String::from_utf8_lossy(&messages).into_owned();
        if output.len() as u64 > MAX_OUTPUT_BYTES {
            return Ok(json!({"status": "wrong", "messages": "the result is too large for the page"}));
        }
        if !status.success() {
            let messages = if messages.is_empty() { format!("skript ended: {status}") } else { messages };
            return Ok(json!({"status": "wrong", "messages": messages}));
        }
        let result = result(page, job.kind, output, folder.path()).await?;
        Ok(json!({"status": "done", "messages": messages, "result": result}))
    }
}

/// A process and its folder, which remains until the process has ended: a process that is killed may still write to it.
struct Process {
    child: Option<Child>,
    folder: Option<TempDir>,
}

impl Process {
    fn streams(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        let child = self.child.as_mut();
        child.map_or((None, None), |child| (child.stdout.take(), child.stderr.take()))
    }

    /// Waits for the end of the process; returns its status and its folder.
    async fn end(mut self) -> std::io::Result<(ExitStatus, TempDir)> {
        let ended = || std::io::Error::other("the process has ended");
        let status = self.child.as_mut().ok_or_else(ended)?.wait().await?;
        self.child = None;
        Ok((status, self.folder.take().ok_or_else(ended)?))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let (Some(mut child), folder) = (self.child.take(), self.folder.take()) {
            let _ = child.start_kill();
            tokio::spawn(async move {
                let _ = child.wait().await;
                drop(folder);
            });
        }
    }
}

/// The result of a job, for its view.
async fn result(page: &Page, kind: Kind, output: Vec<u8>, folder: &Path) -> std::io::Result<Value> {
    if kind == Kind::Graph {
        page.set_graph(String::from_utf8_lossy(&output).into_owned());
        return Ok(Value::Null);
    }
    let folder = folder.to_owned();
    let read = move || results::read(kind, &output, &folder);
    tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other)?
}

/// Reads at most one byte more than `most`, so that a longer output is recognized, and then closes the stream.
async fn read(stream: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(most + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_known_fields_and_values() {
        let parse = |text: &str| Job::parse(text.as_bytes()).map_err(|refusal| refusal.0.as_u16());
        assert!(parse(r#"{"kind": "graph", "text": ""}"#).is_ok());
        for wrong in [
            "",
            "{}",
            "[]",
            r#"{"kind": "graph"}"#,
            r#"{"kind": "rm", "text": ""}"#,
            r#"{"kind": "graph", "text": "", "output": "/etc/passwd"}"#,
            r#"{"kind": "values", "text": "", "seed": -1}"#,
            r#"{"kind": "code", "text": "", "target": "../x"}"#,
        ] {
            assert_eq!(parse(wrong).unwrap_err(), 400, "{wrong}");
        }
        let long = json!({"kind": "model", "text": "x".repeat(MAX_TEXT_BYTES as usize + 1)});
        assert_eq!(parse(&long.to_string()).unwrap_err(), 413);
    }

    #[test]
    fn a_killed_process_leaves_no_folder() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().to_owned();
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do echo > file; done"]).current_dir(&path);
            let child = command.kill_on_drop(true).spawn().unwrap();
            drop(Process { child: Some(child), folder: Some(folder) });
            for _ in 0..6000 {
                if !path.exists() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            panic!("the folder remains");
        });
    }

    /// Each value of a request is a part of one flag.
    #[test]
    fn a_request_adds_no_arguments() {
        let body = json!({"kind": "values", "text": "", "graph": "--help", "real": "-o", "attributes": ["-x"], "shapes": ["x --y"]});
        let job = Job::parse(body.to_string().as_bytes()).unwrap();
        let arguments = job.arguments(Duration::from_secs(1));
        assert_eq!(
            arguments,
            [
                "playground-values",
                "--timeout=3",
                "--engine=compiled",
                "--seed=0",
                "--graph=--help",
                "--real=-o",
                "--set=-x",
                "--input-shape=x --y",
                "--",
                FILE
            ]
        );
    }
}
