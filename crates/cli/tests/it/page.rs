//! The page of `colgrep serve`, in a real browser. Without chromedriver these tests say that they skip.

use std::fs;

use crate::common::Sandbox;
use crate::common::browser::Browser;
use crate::common::serve::Server;
use crate::common::several::several;
use crate::common::shard::{Shard, name};
use colgrep_index::store::project_folder;
use serde_json::{Value, json};

/// WebDriver's numbers of keys.
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const DOWN: &str = "\u{e015}";

const RESULTS: &str = "!document.getElementById('found').hidden && !document.getElementById('found').hasAttribute('aria-busy') && document.querySelectorAll('.hit').length > 0";
const FILE: &str = "document.querySelectorAll('#file .row').length > 0";

/// Two repositories in one sandbox, the fixture among them.
fn two() -> Sandbox {
    let sandbox = Sandbox::of("relay");
    sandbox.write("other/lib/ring.py", "def ring_buffer(size):\n    return [None] * size\n");
    sandbox.write("other/tests/test_ring.py", "def test_ring_buffer():\n    assert ring_buffer(3)\n");
    sandbox
}

/// The path of the result that has the focus.
fn focused(browser: &Browser) -> Value {
    browser.value("document.activeElement.closest('.hit')?.querySelector('.path').textContent ?? null")
}

#[test]
fn a_question_is_asked_and_answered_by_keys_alone() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = two();
    let server = Server::start(&sandbox, &["src", "other"]);
    server.ready();
    browser.open(&server.base);
    browser.until("document.activeElement.id === 'q' && document.querySelectorAll('#repo option').length === 3");
    browser.press("ring buffer");
    browser.until(RESULTS);
    browser.until("location.search === '?q=ring+buffer' && document.title === 'ring buffer · colgrep'");
    browser.until("document.querySelectorAll('.hit mark').length > 0");
    assert!(
        browser.value("document.getElementById('status').textContent").as_str().is_some_and(|s| s.contains("file"))
    );
    browser.press(DOWN);
    let first = focused(&browser);
    assert!(first.as_str().is_some_and(|path| path.contains("ring.")), "{first}");
    browser.press("j");
    let second = focused(&browser);
    assert!(second != first && !second.is_null(), "{second}");
    browser.press("k");
    assert_eq!(focused(&browser), first);
    browser.press("j");
    browser.press(ENTER);
    browser.until(FILE);
    browser.until("document.querySelector('#file .row.best') !== null");
    let line = browser.value("Number(document.querySelector('#file .row.best').dataset.line)");
    assert_eq!(browser.value("Number(new URLSearchParams(location.search).get('line'))"), line);
    browser.press(ESCAPE);
    browser.until(RESULTS);
    browser.until("document.activeElement.matches('.path')");
    assert_eq!(focused(&browser), second, "back where it was");
    browser.press("/");
    assert_eq!(browser.value("document.activeElement.id"), "q");
    browser.press(ESCAPE);
    browser.press("?");
    assert_eq!(browser.value("document.getElementById('keys').open"), true);
    browser.press(ESCAPE);
    browser.until("!document.getElementById('keys').open");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn links_hold_the_state_and_back_goes_back() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = two();
    let server = Server::start(&sandbox, &["src", "other"]);
    server.ready();
    browser.open(&format!("{}/?q=ring+buffer&repo=other&tests=only", server.base));
    browser.until(RESULTS);
    let paths = "[...document.querySelectorAll('.hit .path')].map((link) => link.textContent).join(' ')";
    assert_eq!(browser.value(paths), "othertests/test_ring.py:1");
    assert_eq!(browser.value("[document.getElementById('q').value, document.getElementById('repo').value, document.getElementById('tests').value]"),
        json!(["ring buffer", "other", "only"]));
    // A choice is a step in the history.
    browser.value("(() => { const all = document.getElementById('tests'); all.value = 'exclude'; all.dispatchEvent(new Event('change')); })()");
    browser.until("location.search.includes('tests=exclude')");
    browser.until(&format!("{RESULTS} && {paths} === 'otherlib/ring.py:1'"));
    browser.click(".hit .path");
    browser.until(FILE);
    let address = browser.value("location.href");
    browser.turn("back");
    browser.until(RESULTS);
    browser.turn("back");
    browser.until(&format!("{RESULTS} && {paths} === 'othertests/test_ring.py:1'"));
    browser.turn("forward");
    browser.turn("forward");
    browser.until(FILE);
    assert_eq!(browser.value("location.href"), address);
    browser.turn("refresh");
    browser.until(FILE);
    assert_eq!(browser.value("document.querySelector('#file-name').textContent"), "otherlib/ring.py");
    browser.click(".back");
    browser.until(&format!("{RESULTS} && {paths} === 'otherlib/ring.py:1'"));
    browser.open(&format!("{}/?in=other&file=nowhere.py&q=ring", server.base));
    browser.until("document.querySelector('[role=alert] .note') !== null");
    // For a repository that is not served, results of others are not shown.
    browser.open(&format!("{}/?q=ring&repo=gone", server.base));
    browser.until("document.querySelector('[role=alert] .note')?.textContent.includes('gone is not a file or folder')");
    assert_eq!(browser.value("document.querySelectorAll('.hit').length"), 0);
    browser.open(&format!("{}/?q=zzzqqq+xxyyzz", server.base));
    browser.until("document.querySelector('.blank h1')?.textContent === 'Nothing here answers that'");
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|said| said.contains("422")), "{complaints:?}");
    drop(server);
    browser.value("document.getElementById('search').requestSubmit()");
    browser.value("(() => { document.getElementById('q').value = 'other'; document.getElementById('search').requestSubmit(); })()");
    browser.until("document.querySelector('[role=alert]').textContent.includes('does not answer')");
}

#[test]
fn nothing_of_a_repository_is_markup() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = Sandbox::new();
    let hostile = "<img src=x onerror=window.bad=1>\"'&.py";
    sandbox.write(
        hostile,
        "class Widget:\n    '''</pre></script><script>window.bad=2</script><svg onload=window.bad=3>'''\n    def widget_of(self): pass # <b>\n",
    );
    let server = Server::start(&sandbox, &[]);
    server.ready();
    browser.open(&format!("{}/?q=%3Cimg+src%3Dx+onerror%3Dwindow.bad%3D4%3E+widget", server.base));
    browser.until(RESULTS);
    assert_eq!(browser.value("document.querySelector('.hit .path').textContent"), format!("{hostile}:1"));
    browser.click(".hit .path");
    browser.until(FILE);
    assert_eq!(
        browser.value("document.querySelectorAll('#file .row')[1].querySelector('span').textContent"),
        "    '''</pre></script><script>window.bad=2</script><svg onload=window.bad=3>'''"
    );
    assert_eq!(browser.value("document.querySelectorAll('main img, main script, main svg, main b').length - document.querySelectorAll('.unit b').length"), 0);
    assert_eq!(browser.value("window.bad ?? null"), Value::Null);
    // What would be a script is refused, even if it came in.
    browser.value("(() => { const s = document.createElement('div'); try { s.innerHTML = '<img src=x onerror=window.bad=5>'; } catch {} document.body.append(s); })()");
    assert_eq!(browser.value("window.bad ?? null"), Value::Null);
}

/// The contrast of the text of each selected element with its background (WCAG 2.2, relative luminance).
const CONTRAST: &str = "(() => {
    const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const parts = (colour) => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1); return [...paint.getImageData(0, 0, 1, 1).data]; };
    const luminance = (rgb) => { const [r, g, b] = rgb.map((part) => { const s = part / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (element) => { for (let at = element; at; at = at.parentElement) { const found = parts(getComputedStyle(at).backgroundColor); if (found[3] === 255) return found; } return [255, 255, 255, 255]; };
    const low = [];
    for (const element of document.querySelectorAll('main span, main a, main b, main mark, main p, .top label, .top select, .top a, .top kbd, #status')) {
        if (!element.textContent.trim() || !element.offsetParent) continue;
        const [front, back] = [luminance(parts(getComputedStyle(element).color).slice(0, 3)), luminance(behind(element).slice(0, 3))];
        const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
        if (contrast < 4.5) low.push(`${element.className || element.tagName} ${contrast.toFixed(2)}`);
    }
    return [...new Set(low)].join(', ');
})()";

#[test]
fn everybody_can_read_and_reach_it() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = two();
    let server = Server::start(&sandbox, &["src", "other"]);
    server.ready();
    for scheme in ["light", "dark"] {
        browser.prefers(scheme);
        for address in [
            "/",
            "/?q=ring+buffer",
            "/?q=the+oldest+message+gives+way",
            "/?q=oldest+message&in=src&file=queue%2Fring.rs&line=10",
            "/?q=oldest+message&in=src&file=nowhere.rs",
        ] {
            browser.size(1200, 900);
            browser.open(&format!("{}{address}", server.base));
            browser.until("!document.getElementById('start').hidden && document.querySelector('.samples') !== null || document.querySelectorAll('.row, .note').length > 0");
            assert_eq!(browser.value(CONTRAST), "", "{scheme} {address}");
            // Every control has a name, every picture is described or hidden.
            let nameless = "[...document.querySelectorAll('button, input, select')].filter((e) => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).length";
            assert_eq!(browser.value(nameless), 0, "{address}");
            // The last is the first at a zoom of 400 %.
            for (width, height) in [(1200, 900), (768, 1024), (360, 740), (300, 225)] {
                browser.size(width, height);
                assert_eq!(browser.violations(), "", "{scheme} {address} at {width}");
                assert_eq!(
                    browser.value("document.documentElement.scrollWidth <= innerWidth"),
                    true,
                    "{address} at {width}"
                );
            }
            // The browser reports that a file is missing.
            assert_eq!(browser.complaints().is_empty(), !address.ends_with("nowhere.rs"), "{address}");
        }
    }
    let headings = "[...document.querySelectorAll('h1')].filter((one) => one.getClientRects().length > 0).length";
    assert_eq!(browser.value(headings), 1);
    browser.open(&format!("{}/?q=ring+buffer", server.base));
    browser.until(RESULTS);
    assert_eq!(browser.value(headings), 1);
    browser.open(&format!("{}/?q=ring+buffer&in=src&file=queue%2Fring.rs&line=10", server.base));
    browser.until(FILE);
    assert_eq!(browser.value("document.querySelector('[role=status]').getAttribute('aria-live')"), "polite");
    // The switch is stronger than the system, also after a reload.
    let ground = "getComputedStyle(document.body).backgroundColor";
    browser.size(1200, 900);
    let dark = browser.value(ground);
    browser.click("#theme");
    let light = browser.value(ground);
    assert_ne!(dark, light);
    browser.turn("refresh");
    browser.until(FILE);
    assert_eq!(browser.value(ground), light);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn further_places_lines_and_results_are_reached_by_keys() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = two();
    for i in 0..14 {
        let text = format!("def push_{i}(queue):\n    return queue\n\n\ndef pop_{i}(queue):\n    return queue\n");
        sandbox.write(&format!("other/lib/q{i}.py"), &text);
    }
    let server = Server::start(&sandbox, &["src", "other"]);
    server.ready();
    browser.open(&format!("{}/?q=queue&all=1", server.base));
    browser.until(RESULTS);
    browser.until("document.getElementById('status').textContent.includes(' of ')");
    browser.until("[...document.getElementById('lang').options].some((one) => one.textContent.startsWith('python ('))");
    // What has come gets the focus, not the page.
    browser.value("document.querySelector('#end button').focus()");
    browser.press(ENTER);
    browser.until("document.querySelectorAll('.hit').length > 10");
    let at = "[...document.querySelectorAll('.hit .path')].indexOf(document.activeElement)";
    browser.until(&format!("{at} === 10"));
    // The driver takes what the sticky head covers for visible.
    browser.value("document.querySelector('.more').scrollIntoView({ block: 'center' })");
    browser.click(".more");
    browser.until(
        "document.querySelectorAll('.places .row').length > 0 && document.activeElement.closest('.places') !== null",
    );
    browser.press(ENTER);
    browser.until(FILE);
    browser.until("document.querySelectorAll('#file .row mark').length > 0");
    browser.open(&format!("{}/?q=message&in=src&file=queue%2Fring.rs#L13-L15", server.base));
    browser.until(FILE);
    assert_eq!(
        browser.value("[...document.querySelectorAll('.row.best')].map((one) => one.dataset.line).join()"),
        "13,14,15"
    );
    browser.press("n");
    browser.until("location.hash === '' && document.querySelectorAll('.row.best mark').length > 0");
    browser.open(&format!("{}/?q=fn+p%5Cw%2B&re=1&path=queue", server.base));
    browser.until(RESULTS);
    assert_eq!(browser.value("document.querySelector('.hit .path').textContent"), "srcqueue/ring.rs:14");
    assert_eq!(browser.value("document.querySelector('.hit mark').textContent"), "fn");
    // What is typed there counts without a key.
    browser.value("(() => { const one = document.getElementById('path'); one.value = 'http'; one.dispatchEvent(new Event('input')); })()");
    browser.until(&format!("{RESULTS} && location.search.includes('path=http')"));
    browser.until("document.querySelector('.hit .path').textContent.startsWith('srchttp/')");
    // An incomplete glob keeps the results.
    let types = |path: &str| {
        browser.value(&format!("(() => {{ const one = document.getElementById('path'); one.focus(); one.value = '{path}'; one.dispatchEvent(new Event('input')); }})()"));
        browser.until(&format!("new URLSearchParams(location.search).get('path') === '{path}' && document.getElementById('found').ariaBusy !== 'true'"));
        browser.until("document.querySelector('.hit .path')?.textContent.startsWith('srchttp/')");
    };
    ["htt", "{http,none}/p*.rs", "{none,{http,x},y}/p*.rs", "http/,!*", "http/ queue/ !queu", "\"http/\""]
        .into_iter()
        .for_each(types);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    types("{http");
    browser.until("document.getElementById('status').textContent.includes('not a valid glob')");
}

#[test]
fn more_files_than_are_shown_are_told_and_counted_in_sight() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = Sandbox::new();
    for i in 0..60 {
        sandbox.write(&format!("lib/q{i}.py"), &format!("def queue_{i}():\n    return {i}\n"));
    }
    let server = Server::start(&sandbox, &[]);
    server.ready();
    browser.size(390, 800);
    for (asked, is_told) in [("q=queue&all=1&n=50", true), ("q=queue_7", false)] {
        browser.open(&format!("{}/?{asked}", server.base));
        browser.until(RESULTS);
        browser.until(&format!(
            "document.getElementById('end').textContent.includes('The first 50 files are shown; narrow') === {is_told}"
        ));
        browser.until("(() => { const at = document.getElementById('status').getBoundingClientRect(); return at.width > 0 && at.left >= 0 && at.right <= innerWidth; })()");
    }
}

#[test]
fn the_token_is_asked_for_once() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = two();
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::of(command.env("COLGREP_TOKEN", "a-token-of-some-length"));
    browser.open(&format!("{}/?q=ring+buffer", server.base));
    browser.until("document.getElementById('token').open");
    browser.press("a wrong token, but long\u{e007}");
    browser.until("document.getElementById('token').open && document.getElementById('token-value').value === ''");
    browser.press("a-token-of-some-length\u{e007}");
    browser.until(RESULTS);
    browser.turn("refresh");
    browser.until(RESULTS);
    assert_eq!(browser.value("location.href.includes('token') || document.cookie !== ''"), false);
}

#[test]
fn pictures_show_what_people_see() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = two();
    let server = Server::start(&sandbox, &["src", "other"]);
    server.ready();
    let size = |name: &str| {
        let bytes = std::fs::read(browser.picture(name)).expect("a picture");
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        (number(16), number(20))
    };
    for scheme in ["light", "dark"] {
        browser.prefers(scheme);
        browser.size(1200, 800);
        browser.open(&format!("{}/?q=ring+buffer", server.base));
        browser.until(RESULTS);
        assert_eq!(size(&format!("results-{scheme}")), (1200, 800));
        browser.open(&format!("{}/?q=ring+buffer&in=src&file=queue%2Fring.rs&line=10", server.base));
        browser.until(FILE);
        assert_eq!(size(&format!("file-{scheme}")), (1200, 800));
        browser.size(390, 800);
        browser.open(&format!("{}/?q=ring+buffer", server.base));
        browser.until(RESULTS);
        assert_eq!(size(&format!("phone-{scheme}")), (390, 800));
    }
}

#[test]
fn over_shards_the_page_filters_and_opens_files_too() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = several(&["api", "web"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    name(&sandbox, &[&[&shard.address]]);
    let server = Server::start(&sandbox, &["--shards", "shards.json"]);
    server.ready();
    browser.open(&format!("{}/?q=request&all=1", server.base));
    browser.until(RESULTS);
    let options = |select: &str| {
        browser.value(&format!(
            "[...document.getElementById('{select}').options].map((one) => one.value).filter((value) => value).join(' ')"
        ))
    };
    assert_eq!((options("repo"), options("lang")), (json!("api web"), json!("javascript markdown rust")));
    browser.value("(() => { const one = document.getElementById('lang'); one.value = 'javascript'; one.dispatchEvent(new Event('change')); })()");
    let paths = "[...document.querySelectorAll('.hit .path')].map((link) => link.textContent).join(' ')";
    browser
        .until(&format!("{RESULTS} && location.search.includes('lang=javascript') && {paths} === 'websrc/app.js:1'"));
    browser.until("[...document.getElementById('repo').options].map((one) => one.textContent).join(' ') === 'all api (0) web (1)'");
    browser.click(".hit .path");
    browser.until(FILE);
    assert_eq!(browser.value("document.querySelector('#file-name').textContent"), "websrc/app.js");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn filters_follow_an_index_that_is_being_built() {
    let Some(browser) = Browser::start() else { return };
    let sandbox = several(&["api"]);
    let folder = project_folder(&sandbox.data(), &sandbox.root().join("api"));
    fs::create_dir_all(&folder).expect("a folder");
    // Another process is building it.
    let lock = fs::File::create(folder.join("lock")).expect("a file");
    lock.lock().expect("the lock");
    let server = Server::start(&sandbox, &["api"]);
    browser.open(&server.base);
    browser.until("document.activeElement.id === 'q'");
    assert_eq!(browser.value("document.getElementById('lang').options.length"), 1, "nothing is known yet");
    lock.unlock().expect("no lock");
    browser.until("[...document.getElementById('lang').options].some((one) => one.value === 'rust')");
    assert_eq!(browser.value("document.activeElement.id"), "q", "whoever types goes on");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
