//! Addresses of remotes, and opening what they lead to.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use colgrep_engine::cloud::Cloud;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ClientOptions, ObjectStore, ObjectStoreScheme, RetryConfig};
use reqwest::Url;

use crate::credentials::profile;
use crate::error::{Error, Result};

/// How long a connection may take, and how long nothing may arrive on one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a request is tried again, and for how long.
const RETRIES: usize = 4;
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// Where indexes are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Folder(PathBuf),
    Amazon(Url),
    Google(Url),
    Azure(Url),
}

impl fmt::Display for Place {
    /// Without user, password and what stands behind a question mark.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Folder(folder) => write!(f, "{}", folder.display()),
            Kind::Amazon(url) | Kind::Google(url) => f.write_str(&shown(url)),
            // The container may stand where others have a user.
            Kind::Azure(url) => {
                let mut url = url.clone();
                url.set_query(None);
                let _ = url.set_password(None);
                f.write_str(url.as_str())
            }
        }
    }
}

fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

impl Place {
    /// Reads an address: `s3://`, `gs://`, `az://` and their like, `file://`, or the path of a folder.
    ///
    /// # Errors
    /// Where it is none of these.
    pub fn parse(text: &str) -> Result<Place> {
        let refused = |why: &str| {
            let address = Url::parse(text).map_or_else(|_| text.to_string(), |url| shown(&url));
            Error::Address { address, why: why.to_string() }
        };
        if text.trim().is_empty() {
            return Err(refused("the address is empty"));
        }
        if !text.contains("://") {
            // A word is rather a forgotten flag's value than a folder.
            if !text.contains(['/', '\\']) && !text.starts_with('.') {
                return Err(refused(&format!("is no address; ./{text} is a folder of that name")));
            }
            let folder = std::path::absolute(text).map_err(|e| refused(&e.to_string()))?;
            return Ok(Place { kind: Kind::Folder(folder) });
        }
        let url = Url::parse(text).map_err(|e| refused(&e.to_string()))?;
        if url.scheme() == "file" {
            let folder = url.to_file_path().map_err(|()| refused("is no path on this machine"))?;
            return Ok(Place { kind: Kind::Folder(folder) });
        }
        let known = "takes s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER, file:///FOLDER, or a folder";
        let (scheme, _) = ObjectStoreScheme::parse(&url).map_err(|_| refused(known))?;
        let kind = match scheme {
            ObjectStoreScheme::AmazonS3 => Kind::Amazon(url),
            ObjectStoreScheme::GoogleCloudStorage => Kind::Google(url),
            ObjectStoreScheme::MicrosoftAzure => Kind::Azure(url),
            _ => return Err(refused(known)),
        };
        Ok(Place { kind })
    }

    /// Whether it is a folder, for which nothing is sent.
    pub fn is_folder(&self) -> bool {
        self.folder().is_some()
    }

    /// Whether it is a folder that this path is in, or the path itself.
    pub fn holds(&self, path: &Path) -> bool {
        self.folder().is_some_and(|folder| path.starts_with(folder.canonicalize().as_deref().unwrap_or(folder)))
    }

    /// The folder, if it is one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Folder(folder) => Some(folder),
            _ => None,
        }
    }
}

/// Opens the store of a place, with the path in it.
pub(crate) fn open(
    place: &Place,
    cloud: &Cloud,
    home: Option<&Path>,
    plain: bool,
) -> Result<(Arc<dyn ObjectStore>, ObjectPath)> {
    let refused = |error: object_store::Error| Error::Address { address: place.to_string(), why: error.to_string() };
    let url = match &place.kind {
        Kind::Folder(folder) => {
            // The store writes absolute paths, and makes folders itself.
            let store = LocalFileSystem::new().with_fsync(true);
            let root = ObjectPath::from_absolute_path(folder).map_err(|e| refused(e.into()))?;
            return Ok((Arc::new(store), root));
        }
        Kind::Amazon(url) | Kind::Google(url) | Kind::Azure(url) => url,
    };
    encrypt()?;
    let (_, root) = ObjectStoreScheme::parse(url).map_err(|e| refused(e.into()))?;
    let store: Arc<dyn ObjectStore> = match &place.kind {
        Kind::Azure(_) => Arc::new(azure(url, cloud, plain)?.build().map_err(refused)?),
        Kind::Google(_) => Arc::new(google(url, cloud, plain)?.build().map_err(refused)?),
        _ => Arc::new(amazon(url, cloud, home, plain)?.build().map_err(refused)?),
    };
    Ok((store, root))
}

/// Sets up the library for https, once.
fn encrypt() -> Result<()> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been faster.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    match rustls::crypto::CryptoProvider::get_default() {
        Some(_) => Ok(()),
        None => Err(Error::Tls("no provider".to_string())),
    }
}

fn retry() -> RetryConfig {
    RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() }
}

/// Whether an address without encryption may be used: on this machine, or where the user says so.
fn check_plain(address: &str, plain: bool) -> Result<bool> {
    let Ok(url) = Url::parse(address) else { return Ok(false) };
    if url.scheme() != "http" {
        return Ok(false);
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_own = host == "localhost" || host.parse::<core::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if is_own || plain { Ok(true) } else { Err(Error::Plain { address: shown(&url) }) }
}

/// Options of all connections: http only where `plain_is_used`.
fn client(plain_is_used: bool) -> ClientOptions {
    let options = ClientOptions::new().with_connect_timeout(CONNECT_TIMEOUT).with_timeout_disabled();
    options.with_read_timeout(READ_TIMEOUT).with_allow_http(plain_is_used)
}

/// Names and values of variables, as the builders know them; those that would allow http by themselves are left out.
fn values<'a>(cloud: &'a Cloud, prefix: &str) -> Vec<(String, &'a str)> {
    let all = cloud.of(prefix).map(|(name, value)| (name.to_ascii_lowercase(), value));
    all.filter(|(name, _)| !name.ends_with("_allow_http")).collect()
}

/// Whether any of the addresses among the values is reached without encryption.
fn is_plain<'a>(values: impl Iterator<Item = (&'a str, &'a str)>, plain: bool) -> Result<bool> {
    let addresses = values.filter(|(name, _)| name.contains("endpoint") || name.contains("base_url"));
    let checked: Vec<bool> = addresses.map(|(_, value)| check_plain(value, plain)).collect::<Result<_>>()?;
    Ok(checked.contains(&true))
}

fn amazon(url: &Url, cloud: &Cloud, home: Option<&Path>, plain: bool) -> Result<AmazonS3Builder> {
    let variables = values(cloud, "AWS_");
    let is_set = |name: &str| variables.iter().any(|(known, _)| known == name);
    let has_keys = is_set("aws_access_key_id");
    let elsewhere =
        ["aws_web_identity_token_file", "aws_container_credentials_relative_uri", "aws_container_credentials_full_uri"];
    let elsewhere = elsewhere.into_iter().chain(["aws_skip_signature"]).any(is_set);
    let profile = profile(cloud, home);
    let mut used: Vec<(&str, &str)> = Vec::new();
    for (name, value) in &profile.values {
        let is_key = name.contains("key") || name.contains("token");
        if !(is_set(name) || (is_key && (has_keys || elsewhere))) {
            used.push((name, value));
        }
    }
    used.extend(variables.iter().map(|(name, value)| (name.as_str(), *value)));
    if !used.iter().any(|(name, _)| *name == "aws_access_key_id") && !elsewhere {
        let why = match profile.asks_others {
            Some(key) => format!(
                "the profile asks for credentials by {key}, which colgrep does not; \
                 `eval \"$(aws configure export-credentials --format env)\"` sets them"
            ),
            None if cloud.get("AWS_EC2_METADATA_DISABLED").is_some_and(|v| v.eq_ignore_ascii_case("true")) => {
                "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE".to_string()
            }
            // A machine in the cloud has them from its own service.
            None => String::new(),
        };
        if !why.is_empty() {
            return Err(Error::Address { address: shown(url), why });
        }
    }
    let is_plain = is_plain(used.iter().copied(), plain)?;
    let builder = AmazonS3Builder::new().with_url(url.as_str()).with_retry(retry());
    let builder = used.into_iter().fold(builder, |builder, (name, value)| match name.parse() {
        Ok(key) => builder.with_config(key, value),
        Err(_) => builder,
    });
    Ok(builder.with_client_options(client(is_plain)))
}

fn google(url: &Url, cloud: &Cloud, plain: bool) -> Result<GoogleCloudStorageBuilder> {
    let variables = values(cloud, "GOOGLE_");
    let is_plain = is_plain(variables.iter().map(|(name, value)| (name.as_str(), *value)), plain)?;
    let builder = GoogleCloudStorageBuilder::new().with_url(url.as_str()).with_retry(retry());
    let builder = variables.into_iter().fold(builder, |builder, (name, value)| match name.parse() {
        Ok(key) => builder.with_config(key, value),
        Err(_) => builder,
    });
    Ok(builder.with_client_options(client(is_plain)))
}

fn azure(url: &Url, cloud: &Cloud, plain: bool) -> Result<MicrosoftAzureBuilder> {
    let mut variables = values(cloud, "AZURE_");
    // The names of Microsoft's own tool.
    for (name, _) in &mut variables {
        match name.as_str() {
            "azure_storage_account" => *name = "azure_storage_account_name".to_string(),
            "azure_storage_key" => *name = "azure_storage_account_key".to_string(),
            _ => {}
        }
    }
    let connection = cloud.get("AZURE_STORAGE_CONNECTION_STRING").unwrap_or_default();
    for (key, value) in connection.split(';').filter_map(|pair| pair.split_once('=')) {
        let name = match key {
            "AccountName" => "azure_storage_account_name",
            "AccountKey" => "azure_storage_account_key",
            "BlobEndpoint" => "azure_storage_endpoint",
            "SharedAccessSignature" => "azure_storage_sas_key",
            _ => continue,
        };
        variables.push((name.to_string(), value));
    }
    let is_plain = is_plain(variables.iter().map(|(name, value)| (name.as_str(), *value)), plain)?;
    let builder = MicrosoftAzureBuilder::new().with_url(url.as_str()).with_retry(retry());
    let builder = variables.into_iter().fold(builder, |builder, (name, value)| match name.parse() {
        Ok(key) => builder.with_config(key, value),
        Err(_) => builder,
    });
    Ok(builder.with_client_options(client(is_plain)))
}

#[cfg(test)]
mod tests {
    use colgrep_engine::Env;

    use super::*;

    fn cloud(vars: &[(&str, &str)]) -> Cloud {
        Env::read(vars.iter().map(|(n, v)| (n.into(), v.into()))).expect("an environment").cloud().clone()
    }

    #[test]
    fn addresses_are_told_apart_and_shown_without_secrets() {
        for (text, expected) in [
            ("s3://bucket/a/b", "s3://bucket/a/b"),
            ("s3://user:pass@bucket/a?x=1", "s3://bucket/a"),
            ("gs://bucket", "gs://bucket"),
            ("az://container/a", "az://container/a"),
            ("https://bucket.s3.eu-west-1.amazonaws.com/a", "https://bucket.s3.eu-west-1.amazonaws.com/a"),
            ("file:///srv/indexes", "/srv/indexes"),
            ("/srv/indexes", "/srv/indexes"),
        ] {
            let place = Place::parse(text).expect(text);
            assert_eq!(place.to_string(), expected);
            assert_eq!(place.is_folder(), expected.starts_with('/'));
        }
        for text in ["", "ftp://host/x", "https://example.com/x", "http://example.com/x", "s3://", "3", "bucket"] {
            let error = Place::parse(text).expect_err(text).to_string();
            assert!(!error.contains("pass"), "{error}");
        }
        let error = Place::parse("ftp://user:pass@host/x").expect_err("no store").to_string();
        assert!(error.starts_with("ftp://host/x: takes s3://"), "{error}");
    }

    #[test]
    fn http_is_for_this_machine_or_needs_leave() {
        for (address, own) in [
            ("http://127.0.0.1:9000", true),
            ("http://localhost:9000", true),
            ("http://[::1]:9000", true),
            ("http://10.0.0.1:9000", false),
            ("http://127.0.0.1.example.com", false),
            ("http://localhost.example.com", false),
        ] {
            assert_eq!(check_plain(address, false).is_ok(), own, "{address}");
            assert!(check_plain(address, true).expect("leave"), "{address}");
        }
        assert!(!check_plain("https://10.0.0.1", false).expect("encrypted"));
        let place = Place::parse("s3://bucket").expect("an address");
        let vars =
            [("AWS_ENDPOINT_URL", "http://s3.example.com"), ("AWS_ALLOW_HTTP", "true"), ("AWS_ACCESS_KEY_ID", "a")];
        let opened = open(&place, &cloud(&vars), None, false);
        assert!(matches!(opened, Err(Error::Plain { .. })), "{opened:?}");
    }

    #[test]
    fn every_kind_of_store_opens_with_its_own_credentials() {
        let place = |text: &str| Place::parse(text).expect("an address");
        let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
        open(&place("s3://bucket/x"), &cloud(&keys), None, false).expect("S3");
        let none = cloud(&[("AWS_EC2_METADATA_DISABLED", "true")]);
        let error = open(&place("s3://bucket/x"), &none, None, false).expect_err("no credentials").to_string();
        assert!(error.contains("AWS_ACCESS_KEY_ID"), "{error}");
        let account = [("AZURE_STORAGE_ACCOUNT", "name"), ("AZURE_STORAGE_KEY", "a2V5")];
        open(&place("az://container/x"), &cloud(&account), None, false).expect("Azure");
        let connection = "DefaultEndpointsProtocol=https;AccountName=name;AccountKey=a2V5;EndpointSuffix=x";
        let connection = [("AZURE_STORAGE_CONNECTION_STRING", connection)];
        open(&place("az://container/x"), &cloud(&connection), None, false).expect("Azure");
        let error = open(&place("az://container/x"), &cloud(&[]), None, false).expect_err("no account").to_string();
        assert!(error.contains("az://container/x"), "{error}");
        let google = [("GOOGLE_SKIP_SIGNATURE", "true")];
        open(&place("gs://bucket/x"), &cloud(&google), None, false).expect("Google");
    }
}
