//! The address of a file at the host of its repository, such as GitHub.

use colgrep_engine::project::Project;
use colgrep_engine::project::identity::Identity;
use colgrep_render::address::encoded;

/// Beginnings of hosts' names, and what stands between the repository and the commit in the address of a file there.
const HOSTS: [(&str, &str); 5] = [
    ("github.", "blob"),
    ("gitlab.", "-/blob"),
    ("codeberg.", "src/commit"),
    ("gitea.", "src/commit"),
    ("forgejo.", "src/commit"),
];

/// The address of a project's file as it is in the commit that is checked out; none where the host is not known.
pub fn address(project: &Project, path: &str) -> Option<String> {
    let (names, commit) = Identity::by_remotes(project)?;
    names.iter().find_map(|name| of_name(name, &commit, path))
}

/// The same for a repository's name, `HOST/PATH`, with `/-/FOLDER` where the project is a folder of it.
fn of_name(name: &str, commit: &str, path: &str) -> Option<String> {
    let (repository, folder) = name.split_once("/-/").unwrap_or((name, ""));
    let (_, between) = HOSTS.iter().find(|(host, _)| repository.starts_with(host))?;
    let whole = if folder.is_empty() { path.to_string() } else { format!("{folder}/{path}") };
    Some(format!("https://{}/{between}/{commit}/{}", encoded(repository), encoded(&whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_addresses_of_their_hosts() {
        for (name, path, expected) in [
            ("github.com/go-chi/chi", "mux.go", Some("https://github.com/go-chi/chi/blob/c0ffee/mux.go")),
            ("gitlab.com/a/b/c", "src/a b.rs", Some("https://gitlab.com/a/b/c/-/blob/c0ffee/src/a%20b.rs")),
            ("codeberg.org/a/b/-/web", "é.js", Some("https://codeberg.org/a/b/src/commit/c0ffee/web/%C3%A9.js")),
            ("example.com/a/b", "mux.go", None),
            ("commit/0123", "mux.go", None),
        ] {
            assert_eq!(of_name(name, "c0ffee", path).as_deref(), expected, "{name} {path}");
        }
    }
}
