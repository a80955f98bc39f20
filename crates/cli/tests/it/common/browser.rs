//! Headless Chromium, driven by WebDriver.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::{Process, agent};

/// How long something on the page is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser; it ends when it is dropped.
pub struct Browser {
    _driver: Process,
    session: String,
    agent: ureq::Agent,
    _profile: TempDir,
}

impl Browser {
    /// Starts one. Says so where there is no chromedriver, and fails where `TEST_BROWSER` says that there is one.
    #[expect(clippy::disallowed_methods, reason = "what the machine has is said by its environment")]
    pub fn start() -> Option<Browser> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
        let mut driver = match Process::start(&mut command) {
            Ok(driver) => driver,
            Err(error) => {
                assert!(std::env::var_os("TEST_BROWSER").is_none(), "no chromedriver: {error}");
                eprintln!("skipped: there is no chromedriver ({error})");
                return None;
            }
        };
        let port = driver.says("successfully on port ").trim_end_matches('.').to_string();
        let profile = tempfile::tempdir().expect("a folder");
        let session = format!("http://127.0.0.1:{port}/session");
        let mut browser = Browser { _driver: driver, session, agent: agent(), _profile: profile };
        let user = format!("--user-data-dir={}", browser._profile.path().display());
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--force-device-scale-factor=1",
            "--lang=en",
            &user,
        ];
        let options = json!({"args": flags});
        let wanted = json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let made = browser.ask("", Some(json!({"capabilities": {"alwaysMatch": wanted}})));
        let id = made["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {made}")).to_string();
        browser.session = format!("{}/{id}", browser.session);
        browser.size(1200, 900);
        Some(browser)
    }

    fn ask(&self, path: &str, body: Option<Value>) -> Value {
        let address = format!("{}{path}", self.session);
        let answer = match body {
            Some(body) => self.agent.post(address).content_type("application/json").send(body.to_string()),
            None => self.agent.get(address).call(),
        };
        let mut answer = answer.expect("an answer of the driver");
        let text = answer.body_mut().with_config().limit(64 << 20).read_to_string().expect("a text");
        let mut answer: Value = serde_json::from_str(&text).expect("JSON");
        assert!(answer["value"]["error"].is_null(), "{path}: {text}");
        answer["value"].take()
    }

    pub fn open(&self, address: &str) {
        self.ask("/url", Some(json!({"url": address})));
    }

    /// Back or forward in the history, or a reload.
    pub fn turn(&self, way: &str) {
        self.ask(&format!("/{way}"), Some(json!({})));
    }

    pub fn value(&self, expression: &str) -> Value {
        self.ask("/execute/sync", Some(json!({"script": format!("return {expression}"), "args": []})))
    }

    /// Waits until an expression is true.
    pub fn until(&self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        while self.value(expression) != true {
            let page = || self.value("document.body.innerText");
            assert!(Instant::now() < end, "never: {expression}\nat {}: {}", self.value("location.href"), page());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses keys, one by one; those without a letter by WebDriver's numbers.
    pub fn press(&self, keys: &str) {
        let strokes = keys.chars().flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})));
        let actions = json!({"type": "key", "id": "keys", "actions": strokes.collect::<Vec<_>>()});
        self.ask("/actions", Some(json!({"actions": [actions]})));
    }

    /// Clicks the first element of a selector.
    pub fn click(&self, selector: &str) {
        let found = self.ask("/element", Some(json!({"using": "css selector", "value": selector})));
        let id = found.as_object().and_then(|one| one.values().next()).and_then(Value::as_str).expect("an element");
        self.ask(&format!("/element/{id}/click"), Some(json!({})));
    }

    /// The size of the page in pixels, whatever the window's least size.
    pub fn size(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tools("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Says what the system prefers: light or dark.
    pub fn prefers(&self, scheme: &str) {
        let feature = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.tools("Emulation.setEmulatedMedia", feature);
    }

    fn tools(&self, command: &str, parameters: Value) {
        self.ask("/goog/cdp/execute", Some(json!({"cmd": command, "params": parameters})));
    }

    /// What the page complained of: errors, refused scripts and styles.
    pub fn complaints(&self) -> Vec<String> {
        let rows = self.ask("/se/log", Some(json!({"type": "browser"})));
        rows.as_array().into_iter().flatten().map(|row| row["message"].to_string()).collect()
    }

    /// What axe-core finds against the accessibility of the page; empty without `TEST_AXE`, the path of its script.
    #[expect(clippy::disallowed_methods, reason = "what the machine has is said by its environment")]
    pub fn violations(&self) -> String {
        let Some(path) = std::env::var_os("TEST_AXE") else { return String::new() };
        let script = std::fs::read_to_string(path).expect("a script");
        let found = "found.violations.map((one) => `${one.id}: ${one.nodes[0].html}`).join('\\n')";
        self.value(&format!(
            "(() => {{ window.axeSays = undefined;\n{script}\naxe.run().then((found) => {{ window.axeSays = {found}; }}); }})()"
        ));
        self.until("window.axeSays !== undefined");
        self.value("window.axeSays").as_str().unwrap_or_default().to_string()
    }

    /// Keeps a picture of the page among the build's temporary files.
    pub fn picture(&self, name: &str) -> PathBuf {
        let data = self.ask("/screenshot", None);
        let bytes = decoded(data.as_str().expect("a picture"));
        assert!(bytes.starts_with(b"\x89PNG"), "a picture");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        std::fs::write(&path, bytes).expect("a file");
        path
    }
}

/// Base64, without a crate for it.
fn decoded(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(u32::from(c - b'A')),
        b'a'..=b'z' => Some(u32::from(c - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(c - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let all: Vec<u32> = text.bytes().filter_map(value).collect();
    let bytes = |four: &[u32]| {
        let joined = four.iter().enumerate().fold(0, |sum, (at, six)| sum | six << (18 - 6 * at));
        joined.to_be_bytes()[1..four.len()].to_vec()
    };
    all.chunks(4).flat_map(bytes).collect()
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.agent.delete(&self.session).call();
    }
}
