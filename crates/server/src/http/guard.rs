//! Access control: names of this server, pages of its own, a token; and headers for browsers.

use core::net::IpAddr;

use anyhow::{Result, bail};
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use colgrep_engine::settings::env::Env;
use subtle::ConstantTimeEq as _;

use super::problem::Problem;
use crate::api::token_in;
use crate::args::ServeArgs;

/// The shortest token, in bytes.
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

/// The repositories that a request's caller may see; all where nothing limits it.
#[derive(Clone, Debug, Default)]
pub struct Caller(pub Option<Vec<String>>);

impl Caller {
    /// Reads the header of a request to a server `over_shards`, which may need one.
    ///
    /// # Errors
    /// When it is missing, no list of names, or would be without effect.
    pub fn read(headers: &HeaderMap, over_shards: bool, is_needed: bool) -> Result<Caller, Problem> {
        let mut given = headers.get_all(REPOSITORIES).iter();
        let (first, second) = (given.next(), given.next());
        let names = match (first, second) {
            (None, _) if is_needed => {
                let detail = "requests to this server say which repositories their caller may see: Colgrep-Repositories: \
                              [\"NAME\", …]";
                return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail));
            }
            (None, _) => return Ok(Caller(None)),
            (Some(_), None) if !over_shards => {
                return Err(Problem::invalid(
                    "this server has folders and no shards, so Colgrep-Repositories limits nothing",
                ));
            }
            (Some(one), None) => serde_json::from_slice(one.as_bytes()).ok(),
            (Some(_), Some(_)) => None,
        };
        let names = names.ok_or_else(|| Problem::invalid("Colgrep-Repositories is one list of names in JSON"))?;
        Ok(Caller(Some(names)))
    }
}

/// What a request has to bring.
pub struct Guard {
    token: Option<String>,
    /// Names of this server besides `localhost`, in lower case.
    names: Vec<String>,
}

impl Guard {
    /// From what the user gave.
    ///
    /// # Errors
    /// When the token can't be read or is too short, or is missing where others can reach the server.
    pub fn new(args: &ServeArgs, env: &Env) -> Result<Guard> {
        let token = match &args.token_file {
            Some(path) => Some(token_in(path)?),
            None => env.token.as_ref().map(|token| token.reveal().to_string()),
        };
        let token = token.map(|token| token.trim().to_string());
        if token.as_ref().is_some_and(|token| token.len() < TOKEN_BYTES_MIN) {
            bail!("the token is too short: {TOKEN_BYTES_MIN} characters at least; `openssl rand -hex 32` makes one");
        }
        if token.as_ref().is_some_and(|token| !token.bytes().all(|b| b.is_ascii_graphic())) {
            bail!("the token holds other than letters, digits and marks of ASCII, so no header can hold it");
        }
        if token.is_none() && !args.listen.ip().is_loopback() {
            bail!(
                "{} can be reached from other machines, so a token is needed: give one by --token-file FILE or the variable \
                 COLGREP_TOKEN, or listen on 127.0.0.1",
                args.listen.ip()
            );
        }
        if let Some(host) = args.host.iter().find(|host| host.contains([':', '/'])) {
            bail!("--host takes a name alone, as in --host code.example, not {host:?}: no scheme, port or path");
        }
        Ok(Guard { token, names: args.host.iter().map(|name| name.to_lowercase()).collect() })
    }

    /// The token.
    pub fn into_token(self) -> Option<String> {
        self.token
    }

    /// Whether requests need a token.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether a request may be answered: it uses a name of this server (against DNS rebinding), does not come from
    /// another site's page, and has the token unless its target is `open`.
    ///
    /// # Errors
    /// When it may not.
    pub fn check(&self, headers: &HeaderMap, is_page: bool, is_open: bool) -> Result<(), Problem> {
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
        match &self.token {
            Some(token) if !is_open && !brings(headers, token) => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "this server needs its token: Authorization: Bearer TOKEN",
            )),
            _ => Ok(()),
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

/// Whether a request brings the token; takes the same time wherever a wrong one differs.
fn brings(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let (scheme, given) = given.split_at(given.len().min("Bearer ".len()));
    scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(given.ct_eq(token.as_bytes()))
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
        guard.check(&map, is_page, false).map_or_else(|problem| problem.status().as_u16(), |()| 200)
    }

    #[test]
    fn only_this_servers_own_names_and_pages_are_answered() {
        let guard = Guard { token: None, names: vec!["search.example".into()] };
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
        let guard = Guard { token: Some(TOKEN.into()), names: Vec::new() };
        for (given, status) in [
            (Some("Bearer 0123456789abcdef"), 200),
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
