//! What a project is called where others know it too: by the address of its repository, or by its first commit.

use std::path::Path;

use crate::error::GitError;
use crate::git::Asker;
use crate::project::Project;

/// The settings of git that are asked for: addresses of remotes, and short forms of addresses.
const SETTINGS: &str = r"^(remote\..*\.url|url\..*\.insteadof)$";
/// Longest name, in bytes.
const NAME_MAX: usize = 300;

/// The names of a project, and what of its history is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Names, the best first: the addresses of `origin`, `upstream` and other remotes; without any, the first commit.
    /// Empty outside a repository, and in one that has neither.
    pub names: Vec<String>,
    /// The commit that is checked out.
    pub commit: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
}

impl Identity {
    /// The identity of a project. Git is asked, and runs nothing that the repository names.
    ///
    /// # Errors
    /// Where git can't be started, or refuses the repository: that of another user, say.
    pub fn of(project: &Project) -> Result<Identity, GitError> {
        if !project.root.ancestors().any(|folder| folder.join(".git").exists()) {
            return Ok(Identity::default());
        }
        let git = Asker::of(project);
        git.check()?;
        let commit = git.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        let branch = git.line(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        // A project may be a folder of its repository.
        let below = git.line(&["rev-parse", "--show-prefix"])?.unwrap_or_default();
        let of = |name: String| match below.trim_end_matches('/') {
            "" => name,
            below => format!("{name}/-/{below}"),
        };
        let listed = git.all(&["config", "--null", "--get-regexp", SETTINGS])?.unwrap_or_default();
        let mut names: Vec<String> = addresses(&listed);
        if names.is_empty()
            && let Some(first) = first_commit(&git)?
        {
            names.push(format!("commit/{first}"));
        }
        names.retain(|name| is_name(name));
        Ok(Identity { names: names.into_iter().map(of).collect(), commit, branch })
    }
}

/// Whether a project may be called so: some plain words.
pub fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= NAME_MAX && !name.contains(char::is_control)
}

/// How many commits lie between the one that is checked out and another, if git knows that one.
pub fn distance(project: &Project, commit: &str) -> Option<u64> {
    let is_hash = (7..=64).contains(&commit.len()) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    let range = format!("{commit}...HEAD");
    let count = is_hash.then(|| Asker::of(project).line(&["rev-list", "--count", &range, "--"]).ok()).flatten()??;
    count.parse().ok()
}

/// The repository's first commit; of several the one that sorts first. None in a shallow clone, which does not know it.
fn first_commit(git: &Asker<'_>) -> Result<Option<String>, GitError> {
    if git.line(&["rev-parse", "--is-shallow-repository"])?.as_deref() != Some("false") {
        return Ok(None);
    }
    let roots = git.all(&["rev-list", "--max-parents=0", "HEAD", "--"])?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&roots).lines().min().map(str::to_string))
}

/// The normalised addresses of remotes, from what `git config --null --get-regexp` printed: with the user's short forms
/// (`url.ADDRESS.insteadOf`) spelt out.
fn addresses(listed: &[u8]) -> Vec<String> {
    let entries = || listed.split(|b| *b == 0).filter_map(|entry| std::str::from_utf8(entry).ok()?.split_once('\n'));
    let short: Vec<(&str, &str)> =
        entries().filter_map(|(key, short)| Some((short, key.strip_prefix("url.")?.rsplit_once('.')?.0))).collect();
    let rank = |key: &str| match key {
        "remote.origin.url" => 0,
        "remote.upstream.url" => 1,
        _ => 2,
    };
    let remotes = entries().filter(|(key, _)| key.starts_with("remote."));
    let mut found: Vec<(u8, &str, String)> =
        remotes.filter_map(|(key, url)| Some((rank(key), key, normalised(&spelt_out(url, &short))?))).collect();
    found.sort();
    let mut names: Vec<String> = Vec::new();
    for (_, _, name) in found {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// An address with the longest short form in front of it replaced, as git does it.
fn spelt_out(url: &str, short: &[(&str, &str)]) -> String {
    let fitting = short.iter().filter(|(short, _)| !short.is_empty() && url.starts_with(short));
    match fitting.max_by_key(|(short, _)| short.len()) {
        Some((short, long)) => format!("{long}{}", &url[short.len()..]),
        None => url.to_string(),
    }
}

/// `host/path` of a remote's address, in small letters (the great hosts do not tell them from capitals), whatever the
/// protocol, the user and the port. None of a folder, which says nothing elsewhere, and none where it can't be told what
/// of it may be a password: names are shown, and sent.
fn normalised(url: &str) -> Option<String> {
    let url = url.split(['?', '#']).next().unwrap_or_default().trim();
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            (authority.rsplit_once('@').map_or(authority, |(_, host)| host), path)
        }
        // `user@host:path`; one letter before the colon is a drive.
        None => {
            let before = &url[..url.find('/').unwrap_or(url.len())];
            let host_at = before.rfind('@').map_or(0, |at| at + 1);
            let (host, path) = url[host_at..].split_once(':')?;
            if host.contains('/') || url[..host_at + host.len()].len() < 2 || Path::new(url).exists() {
                return None;
            }
            (host, path)
        }
    };
    // Of an address of IPv6, colons are no ports.
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => host.split_once(':').map_or(host, |(host, _)| host),
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '@' | '[' | ']');
    let is_plain = !host.is_empty() && !path.is_empty() && !host.contains(is_odd) && !path.contains(is_odd);
    is_plain.then(|| format!("{host}/{path}").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_name_by_all_its_addresses() {
        for url in [
            "git@github.com:owner/name.git",
            "https://github.com/owner/name",
            "https://user:token@GitHub.com/owner/name.git/",
            "ssh://git@github.com:22/owner/name.git",
            "git://github.com/owner/name.git",
        ] {
            assert_eq!(normalised(url).as_deref(), Some("github.com/owner/name"), "{url}");
        }
        for (url, name) in [
            ("ssh://git@[::1]:22/o/n", "::1/o/n"),
            ("https://host/o/n.git?private_token=SEKRET", "host/o/n"),
            ("https://host/o/n#SEKRET", "host/o/n"),
            ("user:SEKRET@host:o/n.git", "host/o/n"),
            ("https://user:SEKRET@host:8443/o/n", "host/o/n"),
        ] {
            assert_eq!(normalised(url).as_deref(), Some(name), "{url}");
        }
        let odd =
            ["https://user:SEK/RET@host/o/n", "user:SEK/RET@host:o/n", "https://host/SEKRET@x/n", "https://h/a b"];
        let folders = ["/srv/name.git", "../name", "file:///srv/name", "C:\\name", "", "host:", "https://host/"];
        for url in odd.into_iter().chain(folders) {
            assert_eq!(normalised(url), None, "{url}");
        }
    }

    #[test]
    fn origin_comes_first_and_then_upstream() {
        let listed =
            b"remote.fork.url\ngit@h.com:z/n.git\0remote.upstream.url\nhttps://h.com/team/n\0remote.origin.url\n\
            https://h.com/me/n\0remote.same.url\nssh://git@h.com/me/n.git\0remote.local.url\n/srv/n\0";
        assert_eq!(addresses(listed), ["h.com/me/n", "h.com/team/n", "h.com/z/n"]);
        let short = b"url.https://user:SEKRET@h.com/.insteadof\ngh:\0url.https://other.com/o/.insteadof\ngh:o/\0\
            remote.origin.url\ngh:me/n\0remote.upstream.url\ngh:o/n\0";
        assert_eq!(addresses(short), ["h.com/me/n", "other.com/o/n"]);
    }
}
