//! What a project is called where others know it too: by the address of its repository, or by its first commit.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use crate::error::GitError;
use crate::project::Project;
use crate::project::git::Asker;

/// The settings of git that are asked for: addresses of remotes, short forms of addresses, line ends.
const SETTINGS: &str = r"^(remote\..*\.url|url\..*\.insteadof|core\.(autocrlf|eol))$";
/// Commits whose distances are asked for at once, and commits that git lists for it.
const TIPS_MAX: usize = 64;
const WALKED_MAX: u32 = 5_000;
/// Longest name, in bytes.
const NAME_MAX: usize = 300;

/// The names of a project, and what of its history is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Names, the best first: the addresses of `origin`, `upstream` and other remotes; without any, the first commit.
    /// Empty outside a repository, and in one that has neither.
    pub names: Vec<String>,
    /// Why there is no name.
    pub nameless: Option<Nameless>,
    /// How lines end in this worktree, where git makes them end otherwise than in the commit: `crlf`.
    pub lines: Option<&'static str>,
    /// The commit that is checked out.
    pub commit: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
}

/// Why a project has no name by which others know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nameless {
    NoRepository,
    /// It has no remote, or one that leads to a folder or is not plain, and no commit.
    NoCommit,
    /// The same, and it is a shallow clone, which lacks the first commit.
    Shallow,
}

impl fmt::Display for Nameless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Nameless::NoRepository => "is not a git repository",
            Nameless::NoCommit => "has no remote with an address that means the same elsewhere, and no commit",
            Nameless::Shallow => {
                "is a shallow clone, which does not know its first commit, and has no remote with an address that means \
                 the same elsewhere"
            }
        })
    }
}

impl Identity {
    /// The identity of a project. Git is asked, and runs nothing that the repository names.
    ///
    /// # Errors
    /// Where git can't be started, or refuses the repository, for example because another user owns it.
    pub fn of(project: &Project) -> Result<Identity, GitError> {
        if !project.root.ancestors().any(|folder| folder.join(".git").exists()) {
            return Ok(Identity { nameless: Some(Nameless::NoRepository), ..Identity::default() });
        }
        let git = Asker::of(project);
        git.check()?;
        let commit = git.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        let branch = git.line(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        let listed = git.all(&["config", "--null", "--get-regexp", SETTINGS])?.unwrap_or_default();
        let mut names = addresses(&listed);
        let mut nameless = None;
        names.retain(|name| is_name(name));
        if names.is_empty() {
            match first_commit(&git)? {
                Ok(first) => names.push(format!("commit/{first}")),
                Err(why) => nameless = Some(why),
            }
        }
        let names = within(&git, names)?;
        Ok(Identity { names, nameless, lines: lines(&listed), commit, branch })
    }

    /// The names of a project by the addresses of its remotes, and the commit that is checked out; `None` if one of them is
    /// unknown. Does not walk the history.
    pub fn by_remotes(project: &Project) -> Option<(Vec<String>, String)> {
        if !project.root.ancestors().any(|folder| folder.join(".git").exists()) {
            return None;
        }
        let git = Asker::of(project);
        git.check().ok()?;
        let mut names = addresses(&git.all(&["config", "--null", "--get-regexp", SETTINGS]).ok()??);
        names.retain(|name| is_name(name));
        if names.is_empty() {
            return None;
        }
        let commit = git.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok()??;
        Some((within(&git, names).ok()?, commit))
    }

    /// The name by the first commit, which repositories have in common that were renamed, or copied, or had no address
    /// when they were shared. It is asked for last: git walks the whole history for it.
    pub fn last_name(project: &Project) -> Option<String> {
        let git = Asker::of(project);
        let first = first_commit(&git).ok()?.ok()?;
        within(&git, vec![format!("commit/{first}")]).ok()?.pop()
    }
}

/// Names of the folder that git is asked in: a project may be a folder of its repository.
fn within(git: &Asker<'_>, names: Vec<String>) -> Result<Vec<String>, GitError> {
    let below = git.line(&["rev-parse", "--show-prefix"])?.unwrap_or_default();
    let of = |name: String| match below.trim_end_matches('/') {
        "" => name,
        below => format!("{name}/-/{below}"),
    };
    Ok(names.into_iter().map(of).collect())
}

/// How lines end after a checkout, from what `git config --null --get-regexp` printed.
fn lines(listed: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(listed);
    let last = |key: &str| text.split('\0').filter_map(|entry| entry.strip_prefix(key)?.strip_prefix('\n')).next_back();
    let is_crlf = match (last("core.autocrlf"), last("core.eol")) {
        (Some("true"), _) => true,
        (Some("input"), _) => false,
        (_, eol) => eol == Some("crlf"),
    };
    is_crlf.then_some("crlf")
}

/// Whether a project may be called so: some plain words.
pub fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= NAME_MAX && !name.contains(char::is_control)
}

/// How many commits lie between `own` and each of others: those that one of both has and the other has not. Git runs
/// once and lists at most `WALKED_MAX` commits; distances beyond are unknown.
pub fn distances(project: &Project, own: &str, commits: &[&str]) -> HashMap<String, u64> {
    let is_hash = |commit: &str| commit.len() == own.len() && commit.bytes().all(|b| b.is_ascii_hexdigit());
    let others = commits.iter().copied().filter(|commit| is_hash(commit) && *commit != own);
    let tips: Vec<&str> = std::iter::once(own).chain(others).take(TIPS_MAX).collect();
    let most = format!("--max-count={WALKED_MAX}");
    let args = [&["rev-list", "--ignore-missing", "--parents", &most], &tips[..], &["--"]].concat();
    match Asker::of(project).all(&args) {
        Ok(Some(walked)) if is_hash(own) => apart(&String::from_utf8_lossy(&walked), &tips),
        _ => HashMap::new(),
    }
}

/// The distances from the first of some commits to all that the walk reached: `walked` has a line for each commit,
/// followed by its parents.
fn apart(walked: &str, tips: &[&str]) -> HashMap<String, u64> {
    let lines: Vec<Vec<&str>> = walked.lines().map(|line| line.split(' ').collect()).collect();
    let places: HashMap<&str, usize> = lines.iter().enumerate().map(|(at, line)| (line[0], at)).collect();
    // A bit a tip: whether the commit is in its history.
    let mut within = vec![0u64; lines.len()];
    for (tip, place) in tips.iter().enumerate().filter_map(|(n, tip)| Some((n, places.get(tip)?))) {
        within[*place] |= 1 << tip;
    }
    let mut changed = true;
    // Once is enough where parents come after their children; where clocks were wrong, some do not.
    while std::mem::take(&mut changed) {
        for (at, line) in lines.iter().enumerate() {
            for parent in line[1..].iter().filter_map(|parent| places.get(parent)) {
                changed |= within[at] & !within[*parent] != 0 && *parent < at;
                within[*parent] |= within[at];
            }
        }
    }
    let between = |tip: usize| within.iter().filter(|bits| (*bits ^ (*bits >> tip)) & 1 != 0).count() as u64;
    let known = tips.iter().enumerate().filter(|(_, tip)| places.contains_key(*tip));
    known.map(|(tip, commit)| (commit.to_string(), between(tip))).collect()
}

/// The repository's first commit; of several the one that sorts first. None in a shallow clone, which does not know it.
fn first_commit(git: &Asker<'_>) -> Result<Result<String, Nameless>, GitError> {
    if git.line(&["rev-parse", "--is-shallow-repository"])?.as_deref() != Some("false") {
        return Ok(Err(Nameless::Shallow));
    }
    let roots = git.all(&["rev-list", "--max-parents=0", "HEAD", "--"])?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&roots).lines().min().map(str::to_string).ok_or(Nameless::NoCommit))
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

/// `host/path` of a remote's address, in lower case (the large hosts ignore case), without protocol, user and port.
/// `None` for a folder, which means nothing elsewhere, and where a part may be a password: names are shown, and sent.
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
    // In an IPv6 address, colons don't precede ports.
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

    #[test]
    fn distances_count_what_one_has_and_the_other_has_not() {
        // a - b - c (own), b - d - e, and b - m, c - m; f is of no relation.
        let walked = "m c b\nc b\ne d\nd b\nb a\na\nf\n";
        let found = |walked: &str| {
            let mut all: Vec<_> = apart(walked, &["c", "e", "m", "a", "f", "gone"]).into_iter().collect();
            all.sort();
            all.iter().map(|(commit, n)| format!("{commit}{n}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(found(walked), "a2 c0 e3 f4 m1");
        // In any order.
        assert_eq!(found("a\nb a\nc b\nm c b\nd b\ne d\nf\n"), "a2 c0 e3 f4 m1");
        assert_eq!(found(""), "");
    }

    #[test]
    fn line_ends_are_told_by_what_git_makes_of_them() {
        for (listed, crlf) in [
            ("core.autocrlf\ntrue\0", true),
            ("core.autocrlf\ntrue\0core.autocrlf\nfalse\0", false),
            ("core.autocrlf\ninput\0core.eol\ncrlf\0", false),
            ("core.eol\ncrlf\0", true),
            ("core.eol\nlf\0remote.origin.url\nhttps://h/o/n\0", false),
            ("", false),
        ] {
            assert_eq!(lines(listed.as_bytes()).is_some(), crlf, "{listed:?}");
        }
    }
}
