//! Where git keeps its configuration outside repositories.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the configuration of git is, besides that of repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitPlaces {
    /// Files of the system and the user, in the order in which git reads them: the last value counts.
    pub files: Vec<PathBuf>,
    /// The ignore file that counts where no configuration names one.
    pub ignore: Option<PathBuf>,
    /// The user's home, for paths that begin with `~/`.
    pub home: Option<PathBuf>,
    /// Keys with their values, which count before those of all files.
    pub settings: Vec<(String, String)>,
}

impl GitPlaces {
    /// The places that git's documentation names, by the variables that it reads.
    pub fn new(home: Option<&Path>, var: impl Fn(&str) -> Option<OsString>) -> GitPlaces {
        let path = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let own = path("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config"))).map(|folder| folder.join("git"));
        let is_off =
            var("GIT_CONFIG_NOSYSTEM").is_some_and(|value| !matches!(value.to_str(), Some("" | "0" | "false")));
        let system = path("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
        let users = match path("GIT_CONFIG_GLOBAL") {
            Some(file) => vec![file],
            None => {
                let both = [own.as_ref().map(|own| own.join("config")), home.map(|home| home.join(".gitconfig"))];
                both.into_iter().flatten().collect()
            }
        };
        let files = (!is_off).then_some(system).into_iter().chain(users).collect();
        let text = |name: String| var(&name).map(|value| value.to_string_lossy().into_owned());
        let count = text("GIT_CONFIG_COUNT".to_string()).and_then(|count| count.parse().ok()).unwrap_or(0);
        let setting =
            |at: usize| Some((text(format!("GIT_CONFIG_KEY_{at}"))?, text(format!("GIT_CONFIG_VALUE_{at}"))?));
        // Git refuses to run where one of them is missing.
        let settings = (0..count).map_while(setting).collect();
        GitPlaces { files, ignore: own.map(|own| own.join("ignore")), home: home.map(Path::to_path_buf), settings }
    }

    /// A path as the configuration writes it.
    pub(super) fn path(&self, written: &str) -> Option<PathBuf> {
        match written.strip_prefix("~/") {
            Some(rest) => Some(self.home.as_ref()?.join(rest)),
            None => Some(PathBuf::from(written)),
        }
    }

    /// A hashable form of all of it.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let paths =
            self.files.iter().chain(&self.ignore).chain(&self.home).map(|path| path.as_os_str().as_encoded_bytes());
        let settings = self.settings.iter().flat_map(|(key, value)| [key.as_bytes(), value.as_bytes()]);
        paths.chain(settings).flat_map(|text| [text, b"\0"].concat()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_name_the_places() {
        let of = |vars: &[(&str, &str)]| {
            let var =
                |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
            let places = GitPlaces::new(Some(Path::new("/home/a")), var);
            let files: Vec<String> = places.files.iter().map(|path| path.display().to_string()).collect();
            let settings: String = places.settings.iter().map(|(key, value)| format!(" {key}={value}")).collect();
            format!("{} {}{settings}", files.join(" "), places.ignore.expect("a file").display())
        };
        for (vars, expected) in [
            (&[][..], "/etc/gitconfig /home/a/.config/git/config /home/a/.gitconfig /home/a/.config/git/ignore"),
            (&[("XDG_CONFIG_HOME", "/x")], "/etc/gitconfig /x/git/config /home/a/.gitconfig /x/git/ignore"),
            (&[("GIT_CONFIG_GLOBAL", "/g")], "/etc/gitconfig /g /home/a/.config/git/ignore"),
            (
                &[("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")],
                "/dev/null /home/a/.config/git/ignore",
            ),
            (
                &[
                    ("GIT_CONFIG_GLOBAL", "/g"),
                    ("GIT_CONFIG_COUNT", "3"),
                    ("GIT_CONFIG_KEY_0", "a.b"),
                    ("GIT_CONFIG_VALUE_0", "1"),
                    ("GIT_CONFIG_KEY_1", "c.d"),
                ],
                "/etc/gitconfig /g /home/a/.config/git/ignore a.b=1",
            ),
        ] {
            assert_eq!(of(vars), expected, "{vars:?}");
        }
    }
}
