// SPDX-License-Identifier: Apache-2.0
//! Answers HTTP requests on one thread, until Ctrl-C.

use std::convert::Infallible;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};

use super::access::{Access, Refusal, query};
use super::jobs::{Job, Runner};
use super::pages::{Page, Pages};

/// Maximum size of the body of a request in bytes: a text and its escapes in JSON.
const MAX_BODY_BYTES: usize = 4 << 20;
/// Maximum size of the head of a request in bytes.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// The time in which the head of a request must arrive, then its body, and in which its answer must be read.
const MAX_ARRIVAL: Duration = Duration::from_secs(10);
/// Maximum number of connections; further ones wait.
const MAX_CONNECTIONS: usize = 64;

/// The served site.
pub struct Site {
    access: Access,
    runner: Runner,
    pages: Pages,
    html: Bytes,
    policy: HeaderValue,
}

type Reply = Response<Full<Bytes>>;

impl Site {
    /// A site with a page and its policy. `executable` is this program.
    pub fn new(access: Access, executable: PathBuf, limit: Duration, page: (String, String)) -> Site {
        let (html, policy) = page;
        let policy = HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
        let runner = Runner::new(executable, limit);
        Site { access, runner, pages: Pages::default(), html: html.into(), policy }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Reply, Refusal> {
        let (head, body) = request.into_parts();
        self.access.check(&head)?;
        let page = || {
            let id = query(head.uri.query().unwrap_or(""), "page").unwrap_or("");
            self.pages.get(id).ok_or(Refusal(StatusCode::GONE, "this page has expired: load it again"))
        };
        match (&head.method, head.uri.path()) {
            (&Method::GET, "/") => Ok(html(self.html.clone(), &self.policy)),
            (&Method::GET, "/graph") => Ok(graph(&*page()?)),
            (&Method::POST, "/pages") => {
                read(body).await?;
                self.open().await
            }
            (&Method::POST, "/language") => {
                let page = page()?;
                let message = read(body).await?;
                Ok(json_reply(StatusCode::OK, &page.conversation.ask(&message).await?))
            }
            (&Method::POST, "/job") => {
                let page = page()?;
                let job = Job::parse(&read(body).await?)?;
                Ok(json_reply(StatusCode::OK, &self.runner.run(&page, job).await?))
            }
            (_, "/" | "/graph" | "/pages" | "/language" | "/job") => {
                Err(Refusal(StatusCode::METHOD_NOT_ALLOWED, "this address has another method"))
            }
            _ => Err(Refusal(StatusCode::NOT_FOUND, "unknown address")),
        }
    }

    /// Opens a page: its name, and what its language server supports.
    async fn open(&self) -> Result<Reply, Refusal> {
        let (name, page) = self.pages.open()?;
        let capabilities = page.conversation.initialize().await?;
        Ok(json_reply(StatusCode::OK, &json!({"page": name, "capabilities": capabilities})))
    }
}

/// The page with the graph that was drawn last. Its scripts have no access to the playground.
fn graph(page: &Page) -> Reply {
    let policy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                  img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
    html(page.graph().into(), &HeaderValue::from_static(policy))
}

/// Reads the body of a request.
async fn read(body: Incoming) -> Result<Bytes, Refusal> {
    let body = Limited::new(body, MAX_BODY_BYTES).collect();
    match timeout(MAX_ARRIVAL, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, "the request exceeds 4 MiB"))
        }
        Ok(Err(_)) => Err(Refusal(StatusCode::BAD_REQUEST, "the request cannot be read")),
        Err(_) => Err(Refusal(StatusCode::REQUEST_TIMEOUT, "the request does not arrive")),
    }
}

fn html(text: Bytes, policy: &HeaderValue) -> Reply {
    let mut reply = reply(StatusCode::OK, "text/html; charset=utf-8", text);
    reply.headers_mut().insert(CONTENT_SECURITY_POLICY, policy.clone());
    reply
}

fn json_reply(status: StatusCode, value: &Value) -> Reply {
    reply(status, "application/json", value.to_string().into())
}

fn reply(status: StatusCode, content: &'static str, text: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(text));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set(CONTENT_TYPE, content);
    set(CACHE_CONTROL, "no-store");
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    // The address contains the token.
    set(REFERRER_POLICY, "no-referrer");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    reply
}

/// Serves the site until Ctrl-C or a request to terminate.
///
/// # Errors
/// The system refuses the listener or the runtime.
pub fn serve(listener: TcpListener, site: Site) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let mut terminated = signal(SignalKind::terminate())?;
        // The terminal was closed.
        let mut closed = signal(SignalKind::hangup())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminated.recv() => Ok(()),
            _ = closed.recv() => Ok(()),
            () = accept(&listener, Arc::new(site)) => Ok(()),
        }
    })
}

async fn accept(listener: &tokio::net::TcpListener, site: Arc<Site>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // Such as too many open files.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let site = Arc::clone(&site);
        tokio::spawn(async move {
            let answered = Arc::new(Notify::new());
            let service = service_fn(|request| {
                let (site, answered) = (Arc::clone(&site), Arc::clone(&answered));
                async move {
                    let answer = site.answer(request).await;
                    answered.notify_one();
                    let refused = |Refusal(status, text)| json_reply(status, &json!({"error": text}));
                    Ok::<_, Infallible>(answer.unwrap_or_else(refused))
                }
            });
            let mut http = http1::Builder::new();
            // One request for each connection, so that a page without requests holds none.
            http.timer(TokioTimer::new())
                .header_read_timeout(MAX_ARRIVAL)
                .max_buf_size(MAX_HEAD_BYTES)
                .keep_alive(false);
            let unread = async {
                answered.notified().await;
                sleep(MAX_ARRIVAL).await;
            };
            // An error concerns this connection alone.
            tokio::select! {
                _ = http.serve_connection(TokioIo::new(stream), service) => {}
                () = unread => {}
            }
            drop(place);
        });
    }
}
