//! Access control: names of this server, pages of its own, a token; and headers for browsers.

use core::net::IpAddr;
use std::sync::Arc;

use anyhow::{Result, bail};
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use colgrep_cluster::{AccessTokens, bearer};
use colgrep_engine::settings::env::Env;

use super::problem::Problem;
use crate::api::warn_of_readers;
use crate::args::ServeArgs;

const TOKEN_BYTES_MIN: usize = 16;

/// Headers of every answer. Scripts and styles come only from this server and are never inline; no other site may
/// embed, read or follow its pages.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

/// The longest head of a request, in bytes.
pub const HEAD_BYTES_MAX: usize = 32 << 10;

/// Refuses a request whose head is too long: its address, and the names and values of its headers.
///
/// # Errors
/// When it is.
pub fn check_head(address: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let path = address.path_and_query().map_or(0, |path| path.as_str().len());
    let bytes =
        headers.iter().fold(path, |sum, (name, value)| sum + name.as_str().len() + value.len() + ": \r\n".len());
    if bytes <= HEAD_BYTES_MAX {
        return Ok(());
    }
    let detail = format!(
        "the head of the request is longer than {} KiB, the most that is read, Colgrep-Repositories included",
        HEAD_BYTES_MAX >> 10
    );
    Err(Problem::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large", detail))
}

/// The header in which a proxy says what the caller may see: a list of names in JSON.
pub const REPOSITORIES: &str = "colgrep-repositories";

/// The header in which a proxy names the caller, whose requests then wait in a queue of their own.
pub const CALLER: &str = "colgrep-caller";
/// The longest such name that counts, in bytes.
const CALLER_BYTES_MAX: usize = 200;

/// The address of a request's client.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub IpAddr);

/// Whose queue a request waits in: that of a client, and there of the caller that a proxy names. Clients take turns first,
/// so whoever makes up names takes turns from no other client.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallerKey {
    client: String,
    caller: String,
}

impl CallerKey {
    /// The key of a request. `token` is the position of its token.
    pub fn new(token: Option<usize>, headers: &HeaderMap, peer: Option<PeerAddress>) -> CallerKey {
        let named = headers.get(CALLER).map(HeaderValue::as_bytes).filter(|name| name.len() <= CALLER_BYTES_MAX);
        let named = named.map(|name| String::from_utf8_lossy(name).into_owned());
        let with_token = |who: String| match token {
            Some(token) => format!("{}:{who}", token + 1),
            None => who,
        };
        let client = with_token(peer.map(|PeerAddress(address)| address.to_string()).unwrap_or_default());
        CallerKey { caller: named.map_or_else(|| client.clone(), with_token), client }
    }

    /// The client: its token and its address.
    pub fn client(&self) -> &str {
        &self.client
    }
}

impl std::fmt::Display for CallerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.caller)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The repositories that the caller may see; all where nothing limits it.
    pub allowed: Option<Vec<String>>,
    /// Whose queue the request waits in.
    pub key: CallerKey,
}

impl Caller {
    /// Reads the header of a request to a server `over_shards`, which may need one.
    ///
    /// # Errors
    /// When it is missing, no list of names, or would be without effect.
    pub fn read(headers: &HeaderMap, over_shards: bool, is_needed: bool, key: CallerKey) -> Result<Caller, Problem> {
        let mut given = headers.get_all(REPOSITORIES).iter();
        let (first, second) = (given.next(), given.next());
        let names = match (first, second) {
            (None, _) if is_needed => {
                let detail = "requests to this server say which repositories their caller may see: Colgrep-Repositories: \
                              [\"NAME\", …]";
                return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail));
            }
            (None, _) => return Ok(Caller { allowed: None, key }),
            (Some(_), None) if !over_shards => {
                return Err(Problem::invalid(
                    "this server has folders and no shards, so Colgrep-Repositories limits nothing",
                ));
            }
            (Some(one), None) => serde_json::from_slice(one.as_bytes()).ok(),
            (Some(_), Some(_)) => None,
        };
        let names = names.ok_or_else(|| Problem::invalid("Colgrep-Repositories is one list of names in JSON"))?;
        Ok(Caller { allowed: Some(names), key })
    }
}

/// What a request has to bring.
pub struct Guard {
    tokens: Option<Arc<AccessTokens>>,
    /// Names of this server besides `localhost`, in lower case.
    names: Vec<String>,
}

impl Guard {
    /// From what the user gave.
    ///
    /// # Errors
    /// When the token can't be read or is too short, or is missing where others can reach the server.
    pub fn new(args: &ServeArgs, env: &Env) -> Result<Guard> {
        let tokens = match (&args.token_file, &env.token) {
            (Some(path), _) => Some(AccessTokens::of_file(path, check_token)?),
            (None, Some(token)) => Some(AccessTokens::new(token.reveal(), "COLGREP_TOKEN", check_token)?),
            (None, None) => None,
        };
        warn_of_readers(tokens.as_deref());
        if tokens.is_none() && !args.listen.ip().is_loopback() {
            bail!(
                "{} can be reached from other machines, so a token is needed: give one by --token-file FILE or the variable \
                 COLGREP_TOKEN, or listen on 127.0.0.1",
                args.listen.ip()
            );
        }
        if let Some(host) = args.host.iter().find(|host| host.contains([':', '/'])) {
            bail!("--host takes a name alone, as in --host code.example, not {host:?}: no scheme, port or path");
        }
        Ok(Guard { tokens, names: args.host.iter().map(|name| name.to_lowercase()).collect() })
    }

    pub fn into_tokens(self) -> Option<Arc<AccessTokens>> {
        self.tokens
    }

    /// Why the current file of tokens was rejected, if it was.
    pub fn refused_token(&self) -> Option<String> {
        self.tokens.as_ref()?.refused()
    }

    /// Whether requests need a token.
    pub fn has_token(&self) -> bool {
        self.tokens.is_some()
    }

    /// Whether a request may be answered: it uses a name of this server (against DNS rebinding), does not come from
    /// another site's page, and has a token unless its target is `open`. Returns the token's position, if it has one.
    ///
    /// # Errors
    /// When it may not.
    pub fn check(&self, headers: &HeaderMap, is_page: bool, is_open: bool) -> Result<Option<usize>, Problem> {
        let forbidden = |detail: &str| Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail));
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(Ok(host)), None) = (hosts.next().map(HeaderValue::to_str), hosts.next()) else {
            return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid", "a request has one header Host"));
        };
        if !self.is_own_name(name_of(host)) {
            return forbidden(
                "this server has another name: it answers to localhost, addresses, and names given by --host",
            );
        }
        if let Some(origin) = headers.get(ORIGIN) {
            let own =
                ["http://", "https://"].iter().any(|scheme| origin.as_bytes() == format!("{scheme}{host}").as_bytes());
            if !own {
                return forbidden("pages of other sites may not ask this server");
            }
        }
        // A link on another site may lead to the page; nothing else may be fetched from there.
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_link = is_page && headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if !matches!(site, None | Some(b"same-origin" | b"none")) && !is_link {
            return forbidden("pages of other sites may not ask this server");
        }
        let given = headers.get(AUTHORIZATION).and_then(|value| bearer(value.as_bytes()));
        let token = self.tokens.as_ref().zip(given).and_then(|(tokens, given)| tokens.position(given));
        match &self.tokens {
            Some(_) if !is_open && token.is_none() => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "this server needs its token: Authorization: Bearer TOKEN",
            )),
            _ => Ok(token),
        }
    }

    fn is_own_name(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        name == "localhost" || name.parse::<IpAddr>().is_ok() || self.names.contains(&name)
    }
}

/// The name in a header Host: without port, an address without brackets.
fn name_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// Refuses tokens that are guessed easily, or that no header can hold.
fn check_token(address: Option<&str>, token: &str) -> Result<(), String> {
    if address.is_some() {
        return Err("a line holds two words; the tokens of a server are one a line".into());
    }
    if token.len() < TOKEN_BYTES_MIN {
        return Err(format!(
            "the token is too short: {TOKEN_BYTES_MIN} characters at least; `openssl rand -hex 32` makes one"
        ));
    }
    if !token.bytes().all(|b| b.is_ascii_graphic()) {
        return Err("the token holds other than letters, digits and marks of ASCII, so no header can hold it".into());
    }
    Ok(())
}

/// Puts the headers of every answer into one.
pub fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn asked(guard: &Guard, headers: &[(&'static str, &str)], is_page: bool) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), value.parse().expect("a value"));
        }
        guard.check(&map, is_page, false).map_or_else(|problem| problem.status().as_u16(), |_| 200)
    }

    #[test]
    fn only_this_servers_own_names_and_pages_are_answered() {
        let guard = Guard { tokens: None, names: vec!["search.example".into()] };
        for (headers, status) in [
            (&[("host", "127.0.0.1:7345")][..], 200),
            (&[("host", "localhost")], 200),
            (&[("host", "LOCALHOST:1")], 200),
            (&[("host", "[::1]:7345")], 200),
            (&[("host", "search.example:443")], 200),
            (&[("host", "evil.example:7345")], 403),
            (&[("host", "127.0.0.1.evil.example")], 403),
            (&[("host", "localhost.")], 403),
            (&[("host", "")], 403),
            (&[], 400),
            (&[("host", "localhost"), ("host", "localhost")], 400),
            (&[("host", "localhost:1"), ("origin", "http://localhost:1")], 200),
            (&[("host", "localhost:1"), ("origin", "https://localhost:1")], 200),
            (&[("host", "localhost:1"), ("origin", "http://localhost:2")], 403),
            (&[("host", "localhost:1"), ("origin", "null")], 403),
            (&[("host", "localhost"), ("sec-fetch-site", "same-origin")], 200),
            (&[("host", "localhost"), ("sec-fetch-site", "none")], 200),
            (&[("host", "localhost"), ("sec-fetch-site", "cross-site")], 403),
            (&[("host", "localhost"), ("sec-fetch-site", "same-site"), ("sec-fetch-mode", "navigate")], 403),
        ] {
            assert_eq!(asked(&guard, headers, false), status, "{headers:?}");
        }
        let link = [("host", "localhost"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(asked(&guard, &link, true), 200, "a link on another site leads to the page");
        assert_eq!(asked(&guard, &link[..2], true), 403);
    }

    #[test]
    fn the_token_is_compared_whole() {
        let tokens =
            AccessTokens::new(&format!("{TOKEN}\nfedcba9876543210\n"), "the test", check_token).expect("tokens");
        let guard = Guard { tokens: Some(tokens), names: Vec::new() };
        for (given, status) in [
            (Some("Bearer 0123456789abcdef"), 200),
            (Some("Bearer fedcba9876543210"), 200),
            (Some("Bearer 0123456789abcdef\tfedcba9876543210"), 401),
            (Some("bearer 0123456789abcdef"), 200),
            (Some("Bearer 0123456789abcdeX"), 401),
            (Some("Bearer 0123456789abcde"), 401),
            (Some("Bearer 0123456789abcdef "), 401),
            (Some("Bearer "), 401),
            (Some("Bear"), 401),
            (Some("0123456789abcdef"), 401),
            (None, 401),
        ] {
            let headers: Vec<_> =
                [("host", "localhost")].into_iter().chain(given.map(|given| ("authorization", given))).collect();
            assert_eq!(asked(&guard, &headers, false), status, "{given:?}");
        }
        let mut map = HeaderMap::new();
        map.insert(HOST, HeaderValue::from_static("localhost"));
        assert!(guard.check(&map, false, true).is_ok(), "what is open needs none");
    }
}
