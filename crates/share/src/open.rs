//! Opening the object store that an address leads to, with the credentials that the cloud's own tools would find.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use colgrep_engine::settings::cloud::Cloud;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ClientOptions, ObjectStore, ObjectStoreScheme, RetryConfig};
use reqwest::Url;

use crate::address::{StoreAddress, StoreKind};
use crate::credentials::profile;
use crate::error::{Error, Result};
use crate::pace::{Bounds, Pace};

/// How long a store is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreTimeouts {
    /// As long as a slow network may take: the command is about nothing else.
    Ample,
    /// A few seconds, once: somebody waits for something else.
    Short,
}

impl StoreTimeouts {
    /// How long a connection may take, and how long nothing may arrive on one.
    fn timeouts(self) -> (Duration, Duration) {
        let [connect, read] = if self == StoreTimeouts::Ample { [10, 30] } else { [3, 5] };
        (Duration::from_secs(connect), Duration::from_secs(read))
    }

    /// How long another process of the same project is waited for.
    pub(crate) fn for_locks(self) -> Duration {
        Duration::from_secs(if self == StoreTimeouts::Ample { 1_800 } else { 5 })
    }

    /// How slowly a store may answer.
    pub(crate) fn pace(self) -> Pace {
        let short = Bounds { answer: Duration::from_secs(10), window: Duration::from_secs(5), bytes: 250_000 };
        Pace::new((self == StoreTimeouts::Short).then_some(short))
    }

    /// How long it may take to learn which indexes there are.
    pub(crate) fn for_questions(self) -> Option<Duration> {
        (self == StoreTimeouts::Short).then_some(Duration::from_secs(30))
    }

    /// How often a request is tried again, and for how long.
    fn retry(self) -> RetryConfig {
        let (max_retries, seconds) = if self == StoreTimeouts::Ample { (4, 60) } else { (0, 10) };
        RetryConfig { max_retries, retry_timeout: Duration::from_secs(seconds), ..RetryConfig::default() }
    }
}

/// What the stores are opened with.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Variables of the clouds' tools.
    pub cloud: &'a Cloud,
    /// Where their files lie.
    pub home: Option<&'a Path>,
    /// Whether http to other machines is allowed.
    pub plain: bool,
    /// How long to wait.
    pub patience: StoreTimeouts,
}

pub(crate) fn open(place: &StoreAddress, access: &Access<'_>) -> Result<(Arc<dyn ObjectStore>, ObjectPath)> {
    let refused = |error: object_store::Error| Error::Address { address: place.to_string(), why: error.to_string() };
    let url = match place.kind() {
        StoreKind::Folder(folder) => {
            // The store writes absolute paths, and makes folders itself.
            let store = LocalFileSystem::new().with_fsync(true);
            let root = ObjectPath::from_absolute_path(folder).map_err(|e| refused(e.into()))?;
            return Ok((Arc::new(store), root));
        }
        StoreKind::Amazon(url) | StoreKind::Google(url) | StoreKind::Azure(url) => url,
    };
    encrypt()?;
    let (_, root) = ObjectStoreScheme::parse(url).map_err(|e| refused(e.into()))?;
    let store: Arc<dyn ObjectStore> = match place.kind() {
        StoreKind::Azure(_) => Arc::new(azure(url, access)?.build().map_err(refused)?),
        StoreKind::Google(_) => Arc::new(google(url, access)?.build().map_err(refused)?),
        _ => Arc::new(amazon(url, access)?.build().map_err(refused)?),
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

/// Whether an address is one without encryption, which may be used on this machine, or where the user says so. `name` is
/// the setting that it is the value of.
fn check_plain(name: &str, address: &str, plain: bool) -> Result<bool> {
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        let why = "is not an address with http:// or https:// and a host in front".to_string();
        return Err(Error::Address { address: name.to_ascii_uppercase(), why });
    };
    if url.scheme() != "http" {
        return Ok(false);
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_own = host == "localhost" || host.parse::<core::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let address = format!("http://{host}");
    if is_own || plain { Ok(true) } else { Err(Error::Plain { address }) }
}

/// Options of all connections: http only where `plain_is_used`.
fn client(plain_is_used: bool, patience: StoreTimeouts) -> ClientOptions {
    let (connect, read) = patience.timeouts();
    let options = ClientOptions::new().with_connect_timeout(connect).with_timeout_disabled();
    options.with_read_timeout(read).with_allow_http(plain_is_used)
}

/// Names and values of variables, as the builders know them; those that would allow http by themselves are left out.
fn values<'a>(cloud: &'a Cloud, prefix: &str) -> Vec<(String, &'a str)> {
    let all = cloud.of(prefix).map(|(name, value)| (name.to_ascii_lowercase(), value));
    all.filter(|(name, _)| !name.ends_with("_allow_http")).collect()
}

/// Whether any of the addresses among the values is reached without encryption.
fn is_plain<'a>(values: impl Iterator<Item = (&'a str, &'a str)>, plain: bool) -> Result<bool> {
    // Some names with the word are switches.
    let names = ["endpoint", "endpoint_url", "endpoint_url_s3", "endpoint_url_sts", "base_url"];
    let is_switch = |name: &str| name.contains("_use_");
    let addresses = values.filter(|(name, _)| names.iter().any(|end| name.ends_with(end)) && !is_switch(name));
    let checked: Vec<bool> = addresses.map(|(name, value)| check_plain(name, value, plain)).collect::<Result<_>>()?;
    Ok(checked.contains(&true))
}

/// The builder with each of the values whose name is one of its keys (`K`).
fn configured<B, K: FromStr, N: AsRef<str>>(builder: B, values: Vec<(N, &str)>, with: impl Fn(B, K, &str) -> B) -> B {
    values.into_iter().fold(builder, |builder, (name, value)| match name.as_ref().parse() {
        Ok(key) => with(builder, key, value),
        Err(_) => builder,
    })
}

fn amazon(url: &Url, access: &Access<'_>) -> Result<AmazonS3Builder> {
    let Access { cloud, home, plain, patience } = *access;
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
            return Err(Error::Address { address: url.to_string(), why });
        }
    }
    let is_plain = is_plain(used.iter().copied(), plain)?;
    let builder = AmazonS3Builder::new().with_url(url.as_str()).with_retry(patience.retry());
    let builder = configured(builder, used, |builder, key, value| builder.with_config(key, value));
    Ok(builder.with_client_options(client(is_plain, patience)))
}

fn google(url: &Url, access: &Access<'_>) -> Result<GoogleCloudStorageBuilder> {
    let Access { cloud, plain, patience, .. } = *access;
    let variables = values(cloud, "GOOGLE_");
    let is_plain = is_plain(variables.iter().map(|(name, value)| (name.as_str(), *value)), plain)?;
    let builder = GoogleCloudStorageBuilder::new().with_url(url.as_str()).with_retry(patience.retry());
    let builder = configured(builder, variables, |builder, key, value| builder.with_config(key, value));
    Ok(builder.with_client_options(client(is_plain, patience)))
}

fn azure(url: &Url, access: &Access<'_>) -> Result<MicrosoftAzureBuilder> {
    let Access { cloud, plain, patience, .. } = *access;
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
    let builder = MicrosoftAzureBuilder::new().with_url(url.as_str()).with_retry(patience.retry());
    let builder = configured(builder, variables, |builder, key, value| builder.with_config(key, value));
    Ok(builder.with_client_options(client(is_plain, patience)))
}

#[cfg(test)]
mod tests {
    use colgrep_engine::Env;

    use super::*;

    fn cloud(vars: &[(&str, &str)]) -> Cloud {
        Env::read(vars.iter().map(|(n, v)| (n.into(), v.into()))).expect("an environment").cloud().clone()
    }

    fn opened(address: &str, vars: &[(&str, &str)]) -> Result<()> {
        let (place, cloud) = (StoreAddress::parse(address, None).expect("an address"), cloud(vars));
        open(&place, &Access { cloud: &cloud, home: None, plain: false, patience: StoreTimeouts::Ample }).map(drop)
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
            assert_eq!(check_plain("x", address, false).is_ok(), own, "{address}");
            assert!(check_plain("x", address, true).expect("leave"), "{address}");
        }
        assert!(!check_plain("x", "https://10.0.0.1", false).expect("encrypted"));
        let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_ALLOW_HTTP", "true")];
        let of = |vars: &[(&str, &str)]| opened("s3://bucket", &[&keys[..], vars].concat());
        assert!(matches!(of(&[("AWS_ENDPOINT_URL", "http://s3.example.com")]), Err(Error::Plain { .. })));
        for odd in ["127.0.0.1:9", "localhost:9000", "http://", "ftp://x/", "SEKRET"] {
            let error = of(&[("AWS_ENDPOINT_URL", odd)]).expect_err(odd).to_string();
            assert!(error.contains("AWS_ENDPOINT_URL") && !error.contains("SEKRET"), "{error}");
        }
        of(&[("AWS_USE_DUALSTACK_ENDPOINT", "false"), ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")])
            .expect("switches");
    }

    #[test]
    fn every_kind_of_store_opens_with_its_own_credentials() {
        opened("s3://bucket/x", &[("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")]).expect("S3");
        let error = opened("s3://bucket/x", &[("AWS_EC2_METADATA_DISABLED", "true")]).expect_err("no credentials");
        assert!(error.to_string().contains("AWS_ACCESS_KEY_ID"), "{error}");
        opened("az://container/x", &[("AZURE_STORAGE_ACCOUNT", "name"), ("AZURE_STORAGE_KEY", "a2V5")]).expect("Azure");
        let connection = "DefaultEndpointsProtocol=https;AccountName=name;AccountKey=a2V5;EndpointSuffix=x";
        opened("az://container/x", &[("AZURE_STORAGE_CONNECTION_STRING", connection)]).expect("Azure");
        let error = opened("az://container/x", &[]).expect_err("no account").to_string();
        assert!(error.contains("az://container/x"), "{error}");
        opened("gs://bucket/x", &[("GOOGLE_SKIP_SIGNATURE", "true")]).expect("Google");
    }
}
