//! What attributes say about the item below them.

/// Last names of Rust attributes that make a function a test; others end with `_test`.
const RUST_TESTS: [&str; 4] = ["quickcheck", "rstest", "test", "test_case"];

/// Rust: whether an attribute makes a function a test (`#[tokio::test]`), or compiles the item below for tests only.
pub(super) fn rust_test(attribute: &str) -> bool {
    let inside = attribute.trim().strip_prefix("#[").and_then(|rest| rest.strip_suffix(']'));
    let Some(inside) = inside else { return false };
    let (path, arguments) = inside.split_once('(').unwrap_or((inside, ""));
    let name = path.trim().rsplit("::").next().unwrap_or_default();
    if name == "cfg" {
        return is_for_tests(arguments.trim_end().strip_suffix(')').unwrap_or_default());
    }
    RUST_TESTS.contains(&name) || name.ends_with("_test")
}

/// `test`, or `all(test, …)`.
fn is_for_tests(condition: &str) -> bool {
    let condition = condition.trim();
    let all = condition.strip_prefix("all(").and_then(|rest| rest.strip_suffix(')'));
    let mut depth = 0;
    let parts_conditions = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    condition == "test" || all.is_some_and(|all| all.split(parts_conditions).any(|one| one.trim() == "test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_rust_tell_tests() {
        for (attribute, expected) in [
            ("#[test]", true),
            ("#[tokio::test(flavor = \"multi_thread\")]", true),
            ("#[rstest]", true),
            ("#[test_case(1, 2; \"x\")]", true),
            ("#[wasm_bindgen_test]", true),
            ("#[cfg(test)]", true),
            ("#[cfg(all(test, not(loom)))]", true),
            ("#[cfg(all(unix, test))]", true),
            ("#[cfg(all(not(any(miri, test, loom)), unix))]", false),
            ("#[cfg(not(test))]", false),
            ("#[cfg(any(test, feature = \"test-util\"))]", false),
            ("#[cfg(feature = \"test\")]", false),
            ("#[inline]", false),
            ("#![cfg(test)]", false),
        ] {
            assert_eq!(rust_test(attribute), expected, "{attribute}");
        }
    }
}
