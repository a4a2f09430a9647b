// SPDX-License-Identifier: Apache-2.0
//! Decides which requests are answered: those of the page that the user opened.
//!
//! The port is reachable by all programs and users of the machine, and by all pages in the user's browser. A request needs
//! the random token of the printed address. The `Host` header must be the loopback address, so that a page whose name is
//! resolved to it cannot read answers (DNS rebinding), and the `Origin` of a POST request must be the page itself.

use std::net::SocketAddr;

use hyper::header::{CONTENT_TYPE, HOST, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

/// Maximum size of a text in bytes.
pub const MAX_TEXT_BYTES: u64 = 1 << 20;

/// The address of the server and its token.
pub struct Access {
    address: SocketAddr,
    token: String,
}

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(pub StatusCode, pub &'static str);

impl Access {
    /// Access with a new token.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new(address: SocketAddr) -> Result<Access, getrandom::Error> {
        Ok(Access { address, token: random_name()? })
    }

    /// The address of the page, with the token.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    /// Checks the head of a request.
    ///
    /// # Errors
    /// The request does not come from the page that the user opened.
    pub fn check(&self, head: &Parts) -> Result<(), Refusal> {
        let host = self.address.to_string();
        let mut hosts = head.headers.get_all(HOST).iter();
        if hosts.next().is_none_or(|given| given.as_bytes() != host.as_bytes()) || hosts.next().is_some() {
            return Err(Refusal(StatusCode::FORBIDDEN, "the host is not the address of the playground"));
        }
        if head.uri.host().is_some_and(|given| given != self.address.ip().to_string()) {
            return Err(Refusal(StatusCode::FORBIDDEN, "the host is not the address of the playground"));
        }
        let token = query(head.uri.query().unwrap_or(""), "token").unwrap_or("");
        // Hashes are compared in constant time.
        if blake3::hash(token.as_bytes()) != blake3::hash(self.token.as_bytes()) {
            return Err(Refusal(StatusCode::FORBIDDEN, "the token is missing or wrong"));
        }
        if head.method == Method::GET {
            return Ok(());
        }
        if head.method != Method::POST {
            return Err(Refusal(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are supported"));
        }
        let origin = format!("http://{host}");
        if head.headers.get(ORIGIN).is_none_or(|given| given.as_bytes() != origin.as_bytes()) {
            return Err(Refusal(StatusCode::FORBIDDEN, "the origin is not the playground"));
        }
        if head.headers.get(CONTENT_TYPE).is_none_or(|given| given.as_bytes() != b"application/json") {
            return Err(Refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content must be application/json"));
        }
        Ok(())
    }
}

/// 128 random bits as hexadecimal digits.
pub fn random_name() -> Result<String, getrandom::Error> {
    Ok(format!("{:016x}{:016x}", getrandom::u64()?, getrandom::u64()?))
}

/// The value of a name in the query of a URL, as it is written.
pub fn query<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    let mut parts = query.split('&').filter_map(|part| part.split_once('='));
    parts.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    const HOST_NAME: &str = "127.0.0.1:4711";

    fn access() -> Access {
        Access { address: HOST_NAME.parse().unwrap(), token: "secret".to_owned() }
    }

    fn status(method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        access().check(&head).map_or_else(|refusal| refusal.0.as_u16(), |()| 200)
    }

    #[test]
    fn a_request_needs_the_token() {
        let host = [("host", HOST_NAME)];
        assert_eq!(status("GET", "/?token=secret", &host), 200);
        assert_eq!(status("GET", "/graph?page=1&token=secret", &host), 200);
        for path in
            ["/", "/?token=", "/?token=secre", "/?token=secrets", "/?Token=secret", "/?x=token=secret"]
        {
            assert_eq!(status("GET", path, &host), 403, "{path}");
        }
    }

    #[test]
    fn the_host_is_the_loopback_address_with_the_port() {
        let others = [
            "localhost:4711",
            "127.0.0.1",
            "127.0.0.1:4712",
            "evil.example:4711",
            "127.0.0.1:4711.evil.example",
        ];
        for host in others {
            assert_eq!(status("GET", "/?token=secret", &[("host", host)]), 403, "{host}");
        }
        assert_eq!(status("GET", "/?token=secret", &[]), 403);
        assert_eq!(status("GET", "/?token=secret", &[("host", HOST_NAME), ("host", "evil.example")]), 403);
        assert_eq!(status("GET", "http://evil.example/?token=secret", &[("host", HOST_NAME)]), 403);
    }

    #[test]
    fn posts_come_from_the_page_itself() {
        let json = ("content-type", "application/json");
        let post = |headers: &[(&str, &str)]| {
            let all: Vec<_> = headers.iter().copied().chain([("host", HOST_NAME)]).collect();
            status("POST", "/job?token=secret", &all)
        };
        assert_eq!(post(&[json, ("origin", "http://127.0.0.1:4711")]), 200);
        assert_eq!(post(&[json]), 403);
        for origin in ["null", "https://127.0.0.1:4711", "http://127.0.0.1", "http://evil.example"] {
            assert_eq!(post(&[json, ("origin", origin)]), 403, "{origin}");
        }
        // A form can send these types from any page without asking.
        for content in ["text/plain", "application/x-www-form-urlencoded"] {
            assert_eq!(post(&[("content-type", content), ("origin", "http://127.0.0.1:4711")]), 415);
        }
        assert_eq!(status("PUT", "/?token=secret", &[("host", HOST_NAME)]), 405);
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, other) = (random_name().unwrap(), random_name().unwrap());
        assert_eq!((one.len(), other.len()), (32, 32));
        assert_ne!(one, other);
    }
}
