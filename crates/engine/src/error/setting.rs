//! Invalid settings and variables of the environment.

use std::io;
use std::path::PathBuf;

use super::Source;

/// Why a setting or a variable of the environment is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// There is no such setting.
    #[error("there is no setting {key:?}{}", meant(near, true))]
    Unknown {
        /// The name given.
        key: String,
        /// The one that was probably meant.
        near: Option<String>,
    },
    /// There is no such variable.
    #[error("{name} is not a setting of colgrep{}", meant(near, false))]
    UnknownVariable {
        name: String,
        /// The one that was probably meant.
        near: Option<String>,
    },
    /// A variable's value does not fit.
    #[error("{name}={value}: expected {expected}")]
    Variable { name: String, value: String, expected: String },
    /// A constant of the ranking is unknown or does not fit.
    #[error(transparent)]
    Knob(#[from] colgrep_core::knob::KnobError),
    /// There is no such set of constants.
    #[error("there is no profile {name:?}; there are default and classic")]
    Profile { name: String },
    /// A setting's value does not fit.
    #[error("{key} takes {takes}{}", given.as_ref().map(|given| format!(", not {given:?}")).unwrap_or_default())]
    Unfit {
        key: String,
        takes: String,
        /// The given value, if worth repeating.
        given: Option<String>,
    },
    /// A setting's value does not fit, for this reason.
    #[error("{key}")]
    Value { key: String, source: Source },
    /// A setting has an invalid pattern.
    #[error("{key}: {pattern:?} is not a pattern")]
    Pattern { key: String, pattern: String, source: Source },
    /// A setting of folders has an empty name.
    #[error("{key}: an empty name is not a folder")]
    EmptyFolder { key: String },
    /// The setting `ignore` has an invalid pattern.
    #[error("setting ignore")]
    Ignore(#[source] Source),
    #[error("{text:?} is not a size; write for example 500K or 2M")]
    NoSize { text: String },
    /// A size does not fit into a number of bytes.
    #[error("{text:?} is too large")]
    LargeSize { text: String },
    /// A settings file is not TOML.
    #[error(transparent)]
    Toml(Source),
    /// A settings file is refused.
    #[error("{}", path.display())]
    File { path: PathBuf, source: Box<SettingError> },
    /// A file of settings can't be read or written.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was tried, such as "read".
        doing: &'static str,
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file of settings is too large.
    #[error("{} is larger than {} KiB, the most that settings take", path.display(), bytes_max >> 10)]
    TooLarge { path: PathBuf, bytes_max: u64 },
    /// A repository's file of settings is a link. An error would show lines of whatever it leads to.
    #[error("{} is a link; a repository's settings are a file of its own", path.display())]
    Link { path: PathBuf },
    /// A repository's settings name a model on another machine.
    #[error("{}: model = {name:?} lies on another machine, from which none is taken", path.display())]
    OtherMachine {
        /// The file of settings.
        path: PathBuf,
        name: String,
    },
    /// The list of trusted settings is damaged.
    #[error("{} is damaged", path.display())]
    Damaged {
        path: PathBuf,
        /// What its reader says.
        source: Source,
    },
    /// The folder of indexes is named by a path that is another in each folder.
    #[error("COLGREP_DATA_DIR is {}, which is not an absolute path", folder.display())]
    RelativeFolder { folder: PathBuf },
    /// No folder of indexes is known.
    #[error("no folder for indexes is known here: HOME is not set to an absolute path")]
    NoFolder,
}

/// The question whether another name was meant.
fn meant(near: &Option<String>, is_quoted: bool) -> String {
    match (near, is_quoted) {
        (Some(near), true) => format!("; did you mean {near:?}?"),
        (Some(near), false) => format!("; did you mean {near}?"),
        (None, _) => String::new(),
    }
}
