//! Credentials of Amazon's tools: profiles in `~/.aws/credentials` and `~/.aws/config`. They are read for one command and
//! kept nowhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use colgrep_engine::settings::cloud::Cloud;
use colgrep_index::disk::read_regular;

/// Longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Where a program or another service would have to be asked: these keys of a profile are not followed.
const ASKS_OTHERS: [&str; 5] = ["credential_process", "sso_session", "sso_start_url", "role_arn", "source_profile"];

/// What a profile says that matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CredentialsProfile {
    /// Names as the builder of stores knows them, with their values.
    pub(crate) values: Vec<(&'static str, String)>,
    /// A key that delegates to another source of credentials, where no values are given.
    pub(crate) asks_others: Option<&'static str>,
}

/// The sections of such a file, each with its keys.
fn sections(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut sections: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut section = String::new();
    for line in text.lines() {
        let nested = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) || nested {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let name = name.0.trim();
            section = name.strip_prefix("profile ").unwrap_or(name).trim().to_string();
        } else if let Some((key, value)) = line.split_once('=') {
            let value = value.split(" #").next().unwrap_or_default().trim().to_string();
            sections.entry(section.clone()).or_default().insert(key.trim().to_lowercase(), value);
        }
    }
    sections
}

/// The profile that the environment chooses, of the files that it names or those of the home folder.
pub(crate) fn profile(cloud: &Cloud, home: Option<&Path>) -> CredentialsProfile {
    let name = cloud.get("AWS_PROFILE").or_else(|| cloud.get("AWS_DEFAULT_PROFILE")).unwrap_or("default");
    let file = |variable: &str, usual: &str| {
        let path = cloud.get(variable).map(PathBuf::from).or_else(|| Some(home?.join(usual)))?;
        String::from_utf8(read_regular(&path, FILE_BYTES_MAX).ok()?).ok()
    };
    let config = file("AWS_CONFIG_FILE", ".aws/config").map(|text| sections(&text));
    let secret = file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials").map(|text| sections(&text));
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for sections in config.into_iter().chain(secret) {
        found.extend(sections.get(name).cloned().unwrap_or_default());
    }
    chosen(&found)
}

fn chosen(found: &BTreeMap<String, String>) -> CredentialsProfile {
    let known = [
        ("aws_access_key_id", "aws_access_key_id"),
        ("aws_secret_access_key", "aws_secret_access_key"),
        ("aws_session_token", "aws_session_token"),
        ("region", "aws_region"),
        ("endpoint_url", "aws_endpoint_url"),
    ];
    let values = known.iter().filter_map(|(key, config)| Some((*config, found.get(*key)?.clone()))).collect();
    let has_keys = found.contains_key("aws_access_key_id");
    let asks_others = ASKS_OTHERS.into_iter().find(|key| !has_keys && found.contains_key(*key));
    CredentialsProfile { values, asks_others }
}

#[cfg(test)]
mod tests {
    use colgrep_engine::Env;

    use super::*;

    #[test]
    fn a_profile_is_read_of_both_files() {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(home.path().join(".aws")).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).expect("a file");
        write(
            ".aws/config",
            "[default]\nregion = eu-west-1 # here\ns3 =\n  addressing_style = path\n\n[profile team]\nregion=us-east-2\n\
             endpoint_url = https://s3.example.com\n; no more\n[profile one]\nsso_session = x\n",
        );
        write(
            ".aws/credentials",
            "[team]\naws_access_key_id = ID\naws_secret_access_key=a=b\n[default]\naws_access_key_id=D\n",
        );
        let of = |vars: &[(&str, &str)]| {
            let env = Env::read(vars.iter().map(|(n, v)| (n.into(), v.into()))).expect("an environment");
            profile(env.cloud(), Some(home.path()))
        };
        let values = |profile: &CredentialsProfile| {
            profile.values.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(values(&of(&[])), "aws_access_key_id=D aws_region=eu-west-1");
        assert_eq!(
            values(&of(&[("AWS_PROFILE", "team")])),
            "aws_access_key_id=ID aws_secret_access_key=a=b aws_region=us-east-2 aws_endpoint_url=https://s3.example.com"
        );
        assert_eq!(of(&[("AWS_PROFILE", "one")]).asks_others, Some("sso_session"));
        assert_eq!(of(&[("AWS_PROFILE", "none")]), CredentialsProfile::default());
    }
}
