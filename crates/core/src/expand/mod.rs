//! Term tables expand a query with the terms that its field uses for its words.

mod kubernetes;

use crate::query::{Query, QueryTerm};
use crate::token::{Tokenizer, is_stop_word, words};

/// Maximum of terms that tables add to a query: each costs as much as a word of the query.
const TERMS_MAX: usize = 32;

/// Words, each with its terms in some field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermTable {
    rows: Vec<(String, Vec<String>)>,
}

impl TermTable {
    /// Names of the built-in tables.
    pub const BUILT_IN: [&str; 1] = ["kubernetes"];

    pub fn built_in(name: &str) -> Option<TermTable> {
        let rows = match name {
            "kubernetes" => kubernetes::ROWS,
            _ => return None,
        };
        let mut table = TermTable::default();
        for (word, terms) in rows {
            table.add(word, terms.iter().map(ToString::to_string));
        }
        Some(table)
    }

    /// Adds terms for a word, or for several words in a row.
    pub fn add(&mut self, word: &str, terms: impl IntoIterator<Item = String>) {
        self.rows.push((word.to_string(), terms.into_iter().collect()));
    }

    /// Adds the rows of another table.
    pub fn extend(&mut self, other: &TermTable) {
        self.rows.extend_from_slice(&other.rows);
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Query {
    /// Adds the terms of the table's words that occur in the query. Whole words are compared by their stems: `token`
    /// matches "tokens" but not the name `tokenRefresh`; `access_token` also matches "access token".
    pub fn expand(&mut self, table: &TermTable, tokenizer: &mut Tokenizer) {
        let typed = whole_words(&self.text, tokenizer);
        let is_typed = |wanted: &[String]| !wanted.is_empty() && typed.windows(wanted.len()).any(|run| run == wanted);
        for (word, terms) in &table.rows {
            let apart = word.replace('_', " ");
            if !is_typed(&whole_words(word, tokenizer)) && !is_typed(&whole_words(&apart, tokenizer)) {
                continue;
            }
            for term in terms {
                if self.expansions.len() == TERMS_MAX {
                    return;
                }
                if self.add_term(term, tokenizer) {
                    self.expansions.push(term.clone());
                }
            }
        }
    }

    /// Adds the missing words of a term; returns whether there were any.
    fn add_term(&mut self, term: &str, tokenizer: &mut Tokenizer) -> bool {
        let before = self.terms.len();
        tokenizer.tokenize(term, |token| {
            if !self.terms.iter().any(|t| t.text == token.term) {
                let stop = !token.compound && is_stop_word(&term[token.start..token.end].to_lowercase());
                self.terms.push(QueryTerm { text: token.term.to_string(), stop, compound: token.compound });
            }
        });
        self.terms.len() > before
    }
}

/// The words of a text, each whole, in word-stem form.
fn whole_words(text: &str, tokenizer: &mut Tokenizer) -> Vec<String> {
    words(text).map(|word| tokenizer.normal(text[word].trim_matches('_')).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::query;

    fn table(rows: &[(&str, &[&str])]) -> TermTable {
        let mut table = TermTable::default();
        for (word, terms) in rows {
            table.add(word, terms.iter().map(ToString::to_string));
        }
        table
    }

    #[test]
    fn terms_are_added_where_a_word_matches_and_nowhere_else() {
        let table = table(&[
            ("token", &["JWT", "bearer token"]),
            ("load-balancer", &["ingress"]),
            ("rate_limit", &["throttle"]),
            ("use", &["usage"]),
            ("...", &["nothing"]),
        ]);
        for (text, expected) in [
            ("refresh the token", "JWT, bearer token"),
            ("refresh Tokens", "JWT, bearer token"),
            ("the load balancer", "ingress"),
            ("balancer load", ""),
            ("the rate limit", "throttle"),
            ("set rate_limit", "throttle"),
            ("limit rates", ""),
            ("tokenRefresh", ""),
            ("refresh_token", ""),
            ("retry a request", ""),
            ("token of a jwt bearer", ""),
        ] {
            let plain = query(text);
            let mut expanded = plain.clone();
            expanded.expand(&table, &mut Tokenizer::default());
            assert_eq!(expanded.expansions.join(", "), expected, "{text}");
            assert!(!expected.is_empty() || expanded == plain, "{text}");
        }
        let mut one = query("refresh the token");
        one.expand(&table, &mut Tokenizer::default());
        let terms: Vec<&str> = one.terms.iter().map(|t| t.text.as_str()).collect();
        assert_eq!(terms.join(" "), "refresh the token jwt bearer");
    }

    #[test]
    fn the_table_of_kubernetes_is_known_by_name_and_is_well_made() {
        let table = TermTable::built_in("kubernetes").expect("a table of that name");
        assert!(TermTable::built_in("docker").is_none() && table.rows.len() >= 40);
        for (i, (word, terms)) in table.rows.iter().enumerate() {
            assert!(!terms.is_empty() && !table.rows[..i].iter().any(|(w, _)| w == word), "{word}");
        }
        let mut asked = query("how does the autoscaler add pods");
        asked.expand(&table, &mut Tokenizer::default());
        assert!(asked.expansions.iter().any(|t| t == "HorizontalPodAutoscaler"), "{:?}", asked.expansions);
    }

    #[test]
    fn a_query_takes_no_more_terms_than_it_can_bear() {
        let mut table = TermTable::default();
        table.add("token", (0..1_000).map(|i| format!("term{i}")));
        let mut asked = query("token");
        asked.expand(&table, &mut Tokenizer::default());
        assert_eq!(asked.expansions.len(), TERMS_MAX);
    }
}
