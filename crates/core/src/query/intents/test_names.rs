//! Names of tests in the output of runners and in the commands that run them.

use crate::identifier_style::is_name_in_query;
use crate::token::is_word_char;

/// Flags of runners that take the name of a test.
const FLAGS: &[&str] = &["--filter", "--gtest_filter", "--run", "--tests", "-Dtest", "-k", "-n", "-run", "-t"];
/// What runners print in capitals next to the name of a test.
const VERDICTS: &[&str] = &["FAIL", "FAILED", "PASS", "PASSED", "RUN", "SKIP", "SKIPPED"];
/// Go's marks before a verdict.
const RULES: &[&str] = &["---", "==="];
/// Runners' marks before a test's title.
const BULLETS: &[char] = &['●', '×', '✗', '✕', '✓', '✔'];
/// Separators between the titles of nested tests.
const BETWEEN_TITLES: &[&str] = &[" › ", " > "];

/// The name of the test in a runner's line or command, after its type: `1) App\QueueTest::testPush`,
/// `--- FAIL: TestPush (0.00s)`, `[xUnit.net 00:00:01.23]  App.QueueTests.Push [FAIL]`, `go test -run ^TestPush$`,
/// `QueueTests/testPush`. `None` for a name that may be a plain word.
pub fn test_named(text: &str) -> Option<String> {
    let line = text.trim().lines().next()?;
    let words: Vec<&str> = line.split_whitespace().collect();
    if let Some(quoted) = line.strip_prefix("Test Case '").and_then(|rest| rest.split('\'').next()) {
        return name(&quoted.trim_matches(['-', '[', ']']).replace(' ', "."));
    }
    match (given(&words).or_else(|| told(&words)), words.as_slice()) {
        (Some(written), _) => name(written),
        (None, [alone]) => name_in_type(alone),
        (None, _) => None,
    }
}

/// The title in a line of a runner that lists tests by title: `● queue › takes what was put`.
pub fn test_titled(text: &str) -> Option<&str> {
    let titles = text.trim().lines().next()?.strip_prefix(BULLETS)?;
    let title = BETWEEN_TITLES.iter().find_map(|between| Some(titles.rsplit_once(between)?.1))?;
    // `12ms`, `(12 ms)`
    let is_of_time = |c: char| c.is_ascii_digit() || matches!(c, '(' | ')' | '.' | ' ');
    let timed = title.trim_end_matches(')').strip_suffix("ms").map(|front| front.trim_end_matches(is_of_time));
    Some(timed.unwrap_or(title).trim()).filter(|title| title.contains(char::is_alphabetic))
}

/// The argument of a runner's flag; for a condition its value.
fn given<'t>(words: &[&'t str]) -> Option<&'t str> {
    let at = words.iter().position(|word| FLAGS.contains(&word.split('=').next().unwrap_or_default()))?;
    let value = words[at].split_once('=').map(|(_, value)| value).or_else(|| words.get(at + 1).copied())?;
    value.rsplit(['~', '=']).next()
}

/// The test after its number or next to a verdict. If the line has other names too, their words together find it.
fn told<'t>(words: &[&'t str]) -> Option<&'t str> {
    let [first, second, ..] = words else { return None };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if first.strip_suffix(')').is_some_and(is_number) {
        return words.get(2).is_none_or(|next| *next == "with").then_some(*second);
    }
    let is_verdict = |word: &&str| VERDICTS.contains(&word.trim_matches(|c: char| !c.is_alphabetic()));
    let at = words.iter().position(is_verdict)?;
    if words[at].starts_with('[') {
        return at.checked_sub(1).map(|before| words[before]);
    }
    let is_in_front = words[at].ends_with(':') || (at == 1 && RULES.contains(first));
    let is_time = |word: &str| word.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit());
    let ends = words.get(at + 2).is_none_or(|next| is_time(next));
    words.get(at + 1).copied().filter(|_| is_in_front && ends)
}

/// A path of names whose last does not look like a plain word, without marks around it or Go's subtests after a slash.
fn name(written: &str) -> Option<String> {
    if let Some(name) = name_in_type(written) {
        return Some(name);
    }
    let written = written.split('/').next()?.trim_matches(|c: char| !is_word_char(c));
    let is_path = written.chars().all(|c| is_word_char(c) || matches!(c, '.' | ':' | '\\' | '#'));
    let last = written.rsplit(|c: char| !is_word_char(c)).next()?;
    (is_path && is_name_in_query(last)).then(|| written.to_string())
}

/// `App.QueueTests.testPush` of `App.QueueTests/testPush`, as Swift writes it.
fn name_in_type(written: &str) -> Option<String> {
    let (before, name) = written.split_once('/')?;
    let owner = before.rsplit('.').next()?;
    let is_name = name.starts_with("test") && is_name_in_query(name);
    (is_name && owner.starts_with(char::is_uppercase) && owner.chars().all(is_word_char))
        .then(|| format!("{before}.{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_are_told_from_what_runners_say() {
        for (text, expected) in [
            ("1) App\\Tests\\QueueTest::testPush", "App\\Tests\\QueueTest::testPush"),
            ("2) App\\QueueTest::testPush with data set #0 (1, 2)\nFailed asserting", "App\\QueueTest::testPush"),
            ("[xUnit.net 00:00:01.23]     App.QueueTests.PushesOne [FAIL]", "App.QueueTests.PushesOne"),
            ("--- FAIL: TestPush (0.00s)", "TestPush"),
            ("--- FAIL: TestPush/some_case#01 (0.00s)", "TestPush"),
            ("=== RUN   TestPush", "TestPush"),
            ("go test -run ^TestPush$ github.com/acme/queue", "TestPush"),
            ("--filter testPush", "testPush"),
            ("dotnet test --filter FullyQualifiedName~QueueTests.PushesOne", "QueueTests.PushesOne"),
            ("--filter=FullyQualifiedName=App.QueueTests.PushesOne", "App.QueueTests.PushesOne"),
            ("ruby -Itest test/queue.rb -n test_push", "test_push"),
            ("Test Case 'QueueTests.testPush' failed (0.0 seconds)", "QueueTests.testPush"),
            ("Test Case '-[AppTests.QueueTests testPush]' failed (0.012 seconds).", "AppTests.QueueTests.testPush"),
            ("swift test --filter AppTests.QueueTests/testPush", "AppTests.QueueTests.testPush"),
            ("QueueTests/testPush", "QueueTests.testPush"),
            // No test, or one whose name may be a plain word.
            ("go test -run Push", ""),
            ("--filter", ""),
            ("1) Failure:\nQueueTest#test_push", ""),
            ("1) QueueTest takes what was put", ""),
            ("FAIL: test_push (tests.test_queue.TestQueue)", ""),
            ("FAILED tests/test_queue.py TestQueue test_push", ""),
            ("how does parseRequest FAIL here", ""),
            ("failed to parse parseRequest", ""),
            ("request/response", ""),
            ("src/testPush", ""),
            ("parseRequest", ""),
            ("", ""),
        ] {
            assert_eq!(test_named(text).unwrap_or_default(), expected, "{text}");
        }
    }

    #[test]
    fn the_title_of_a_test_ends_its_line() {
        for (text, expected) in [
            ("  ● queue › takes what was put", "takes what was put"),
            ("× queue > is empty > takes what was put 12ms", "takes what was put"),
            ("✓ queue › takes what was put (12 ms)", "takes what was put"),
            ("queue › takes what was put", ""),
            ("● takes what was put", ""),
            ("a > b", ""),
        ] {
            assert_eq!(test_titled(text).unwrap_or_default(), expected, "{text}");
        }
    }
}
