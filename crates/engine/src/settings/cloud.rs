//! Variables of cloud tools: addresses and credentials. They are passed to the object store and stored nowhere.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;

/// What the names of such variables begin with: Amazon's, Google's and Microsoft's.
const PREFIXES: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];

/// Variables of cloud tools, by name.
#[derive(Clone, Default)]
pub struct Cloud {
    values: BTreeMap<String, String>,
}

impl fmt::Debug for Cloud {
    /// Names alone: values are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl Cloud {
    /// Keeps a variable of a cloud store, unless it is empty. Returns whether it is such a variable.
    pub(crate) fn takes(&mut self, name: &str, value: &OsStr) -> bool {
        let is_one = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if let Some(value) = value.to_str().filter(|value| is_one && !value.is_empty()) {
            self.values.insert(name.to_string(), value.to_string());
        }
        is_one
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// All variables whose names begin with `prefix`, such as `AWS_`.
    pub fn of(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        let own = self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        own.filter(move |(name, _)| name.starts_with(prefix))
    }
}

/// Whether the address of a store seems to include credentials: a user or a password before an `@` (unless that is a
/// container of Azure's), or anything after `?` or `#`. Addresses are shown and kept; credentials belong in the
/// environment.
pub fn holds_credentials(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let has_container = matches!(scheme, "abfs" | "abfss");
    let has_user = authority.contains('@') && !has_container;
    let has_password = rest.rsplit_once('@').is_some_and(|(before, _)| before.contains(':'));
    has_user || has_password || (scheme != "file" && rest.contains(['?', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_and_not_shown() {
        let mut cloud = Cloud::default();
        assert!(cloud.takes("AWS_SECRET_ACCESS_KEY", OsStr::new("hush")) && cloud.takes("AZURE_X", OsStr::new("")));
        assert!(!cloud.takes("PATH", OsStr::new("/bin")));
        assert_eq!((cloud.get("AWS_SECRET_ACCESS_KEY"), cloud.get("AZURE_X")), (Some("hush"), None));
        assert_eq!(cloud.of("AWS_").count(), 1);
        assert!(!format!("{cloud:?}").contains("hush"));
    }
}
