//! Files that by their name hold keys, passwords or tokens.
//!
//! The list has names that tools give to such files, each with its tool, and is checked against the file rules of
//! gitleaks (`pkcs12-file`), of gitrob and shhgit (`signatures`), and GitHub's `.gitignore` templates. Names that most
//! repositories use for something else (`secrets.yaml` of a chart, `settings.xml`, `*.tfvars`) are left out: what is
//! committed under them is rarely secret, and a search has to find it. Letters of both cases are the same.

/// Names.
const NAMES: &[&str] = &[
    // Variables of an environment: dotenv, direnv, Docker.
    ".env",
    ".envrc",
    // Version control, package registries.
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".netrc",
    "_netrc",
    "credentials.tfrc.json",
    ".terraformrc",
    // Server software that keeps passwords in its own sources: WordPress, MediaWiki, Rails, Jenkins, Ansible.
    "wp-config.php",
    "localsettings.php",
    "secret_token.rb",
    "credentials.xml",
    ".vault_pass",
    ".vault_pass.txt",
    "vault_pass.txt",
    // Keys of SSH and PGP.
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "secring.gpg",
    "secring.pgp",
    "secring.skr",
    // Databases.
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".dbeaver-data-sources.xml",
    "robomongo.json",
    "credentials-config.json",
    // Web servers, mail, file transfer, chats.
    ".htpasswd",
    ".htdigest",
    ".esmtprc",
    ".fetchmailrc",
    ".ftpconfig",
    ".s3cfg",
    ".passwd-s3fs",
    "sftp-config.json",
    ".remote-sync.json",
    "filezilla.xml",
    "recentservers.xml",
    "otr.private_key",
    // Clouds and their tools.
    ".boto",
    ".databrickscfg",
    ".dockercfg",
    ".dockerconfigjson",
    ".tugboat",
    ".vault-token",
    "accesstokens.json",
    "application_default_credentials.json",
    "credentials.json",
    "kubeconfig",
    "local.settings.json",
    "rclone.conf",
    "serviceaccountkey.json",
    // Histories of shells and clients, which have what was typed.
    ".bash_history",
    ".histfile",
    ".mysql_history",
    ".node_repl_history",
    ".psql_history",
    ".python_history",
    ".rediscli_history",
    ".sh_history",
    ".sqlite_history",
    ".zsh_history",
];
/// Names with the folder around them.
const PLACES: &[(&str, &str)] = &[
    (".aws", "credentials"),
    (".azure", "msal_token_cache.json"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".composer", "auth.json"),
    (".config", "hub"),
    (".docker", "config.json"),
    (".gem", "credentials"),
    (".kube", "config"),
    (".m2", "settings-security.xml"),
    (".snowsql", "config"),
    (".streamlit", "secrets.toml"),
    ("gcloud", "credentials.db"),
    ("gh", "hosts.yml"),
];
/// Extensions of keys, stores of keys and of passwords, state with passwords.
const EXTENSIONS: &[&str] = &[
    "agilekeychain",
    "bek",
    "bks",
    "env",
    "jceks",
    "jks",
    "kdb",
    "kdbx",
    "key",
    "keychain",
    "keystore",
    "kubeconfig",
    "kwallet",
    "ovpn",
    "p12",
    "p8",
    "pem",
    "pfx",
    "pk8",
    "pkcs12",
    "ppk",
    "psafe3",
    "publishsettings",
    "tfstate",
];
/// Endings of backups, before which the extension counts.
const BACKUPS: &[&str] = &[".backup", ".bak", ".old", ".orig"];
/// Parts of the names of committed samples of variables, without secrets.
const SAMPLES: &[&str] = &["default", "defaults", "dist", "example", "examples", "sample", "template", "tmpl"];
/// Beginnings of names with this extension: what Google's console and its GitHub action give to keys.
const GOOGLE: &[(&str, &str)] = &[("client_secret", "json"), ("gha-creds", "json"), ("service-account", "json")];

/// Whether a file's name is typical of keys, passwords and tokens, which a search should neither store nor show by
/// chance.
pub fn looks_secret(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let (folder, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let name = BACKUPS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_sample = || name.split(['.', '-', '_']).any(|part| SAMPLES.contains(&part));
    let is_stage = || name.strip_prefix(".env").is_some_and(|stage| stage.starts_with(['.', '-', '_']));
    // `.env` itself has the extension `env`.
    if extension == "env" || is_stage() {
        return !is_sample();
    }
    let is_below = |around: &str| folder.rsplit('/').any(|part| part == around);
    NAMES.contains(&name)
        || EXTENSIONS.contains(&extension)
        || PLACES.iter().any(|(around, own)| name == *own && folder.rsplit('/').next() == Some(around))
        || GOOGLE.iter().any(|(begin, own)| stem.starts_with(begin) && extension == *own)
        || (stem.contains("firebase-adminsdk") && extension == "json")
        || (is_below(".ssh") && extension != "pub" && !["authorized_keys", "known_hosts"].contains(&name))
        || (is_below(".gnupg") && extension != "conf")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Skip, skip_by_name};

    #[test]
    fn secrets_go_by_name() {
        for (path, secret) in [
            (".env", true),
            (".ENV", true),
            ("a/.env.local", true),
            (".env.production.local", true),
            (".env-prod", true),
            (".env.example", false),
            (".env.local.example", false),
            (".env.sample", false),
            ("deploy/prod.env", true),
            ("deploy/example.env", false),
            ("deploy/env.example", false),
            ("src/env.rs", false),
            ("src/dotenv.py", false),
            ("deploy/server.pem", true),
            ("deploy/server.PEM", true),
            ("deploy/server.pem.bak", true),
            ("tls.key", true),
            ("keys/id_rsa", true),
            ("keys/ID_RSA", true),
            ("keys/id_rsa.pub", false),
            (".ssh/deploy", true),
            (".ssh/deploy.pub", false),
            (".ssh/known_hosts", false),
            (".aws/credentials", true),
            ("src/credentials", false),
            (".kube/config", true),
            (".git/config", false),
            ("config", false),
            (".docker/config.json", true),
            ("src/config.json", false),
            ("infra/terraform.tfstate", true),
            ("infra/terraform.tfstate.backup", true),
            ("infra/main.tf", false),
            ("infra/prod.tfvars", false),
            ("client_secret_1.json", true),
            ("src/client_secret.rs", false),
            ("gha-creds-1a2b.json", true),
            ("web-firebase-adminsdk-x1-2f.json", true),
            ("src/firebase-adminsdk.ts", false),
            ("credentials.json", true),
            ("src/credentials.json.md", false),
            ("admin.kubeconfig", true),
            ("wp-config.php.bak", true),
            ("wp-config-sample.php", false),
            ("rclone.conf", true),
            ("chart/templates/secrets.yaml", false),
            ("home/.bash_history", true),
            ("src/key.rs", false),
            ("key", false),
        ] {
            assert_eq!(looks_secret(path), secret, "{path}");
            assert_eq!(skip_by_name(path) == Some(Skip::Secret), secret, "{path}");
        }
    }

    #[test]
    fn the_lists_are_in_lower_case_and_without_repetition() {
        let places = PLACES.iter().flat_map(|(folder, name)| [*folder, *name]);
        let all = NAMES.iter().chain(EXTENSIONS).chain(BACKUPS).chain(SAMPLES).copied().chain(places);
        all.for_each(|entry| assert_eq!(entry, entry.to_ascii_lowercase()));
        for list in [NAMES, EXTENSIONS, SAMPLES] {
            assert_eq!(list.iter().collect::<std::collections::HashSet<_>>().len(), list.len());
        }
    }
}
