//! BM25F: one score from term frequencies in several fields.
//!
//! S. Robertson, H. Zaragoza, M. Taylor, "Simple BM25 extension to multiple weighted fields" (CIKM 2004).

use serde::{Deserialize, Serialize};

use crate::knob::Knobs;
use crate::path::PathClass;
use crate::query::{Query, QueryTerm};
use crate::token::parts;
use crate::unit::{UnitKind, UnitRole};

crate::named! {
    /// The searched fields of a unit. The position is the index in arrays with a value per field.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Field {
        /// The unit's own name.
        Name = "name",
        /// The names of the enclosing units.
        Parent = "parent",
        Doc = "doc",
        /// Its lines.
        Body = "body",
        /// The file's stem.
        Stem = "stem",
        /// The file's folders.
        Folder = "folder",
        /// Keywords of a section of prose.
        Keyword = "keyword",
        Entity = "entity",
    }
}

/// Number of fields: the length of arrays with a value per field.
pub const FIELD_COUNT: usize = Field::ALL.len();

impl Field {
    /// Whether the field is a list of bounded length, which is not length-normalised: few units have one, so each would
    /// be long compared with the average of all.
    pub const fn is_list(self) -> bool {
        matches!(self, Field::Keyword | Field::Entity)
    }
}

/// The formula's constants for one search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bm25 {
    /// Saturation.
    pub k1: f32,
    /// Length normalisation.
    pub b: f32,
    /// Weight per field, in the order of [`Field::ALL`].
    pub weights: [f32; FIELD_COUNT],
    stop: f32,
    compound: f32,
    constant: f32,
    declaration: f32,
    test: f32,
}

impl Bm25 {
    pub fn new(knobs: &Knobs) -> Bm25 {
        Bm25 {
            k1: knobs.k1,
            b: knobs.b,
            weights: [
                knobs.name_weight,
                knobs.parent_weight,
                knobs.doc_weight,
                knobs.body_weight,
                knobs.stem_weight,
                knobs.folder_weight,
                knobs.keyword_weight,
                knobs.keyword_weight,
            ],
            stop: knobs.stop_weight,
            compound: knobs.compound_weight,
            constant: knobs.constant_factor,
            declaration: knobs.declaration_factor,
            test: knobs.test_unit_factor,
        }
    }

    /// The parameters for a query. Tests count in full if it asks for them or contains a written name, which may be a
    /// test's.
    pub fn of_query(knobs: &Knobs, query: &Query) -> Bm25 {
        let is_written = query.identifiers.iter().any(|identifier| parts(&identifier.name).nth(1).is_some());
        let bm25 = Bm25::new(knobs);
        if is_written || query.asks_for.contains(&PathClass::TEST) { Bm25 { test: 1.0, ..bm25 } } else { bm25 }
    }

    /// Divisor of a term's frequency in a field: `1 − b + b · length/average`, and 1 for lists ([`Field::is_list`]).
    /// Lengths are in tokens; `average` is over all units.
    pub fn length_normal(&self, field: usize, length: f32, average: f32) -> f32 {
        if Field::ALL[field].is_list() {
            return 1.0;
        }
        (1.0 - self.b + self.b * length / average.max(1e-6)).max(1e-6)
    }

    /// Weighted, length-normalised frequency of a term in one field: `tf · w / normal`, with
    /// [`Bm25::length_normal`].
    pub fn field_frequency(&self, field: usize, tf: f32, normal: f32) -> f32 {
        tf * self.weights[field] / normal
    }

    /// A term's part of the score, from its summed field frequency: `idf · f · (k1 + 1) / (k1 + f)`.
    pub fn term_score(&self, term: &QueryTerm, idf: f32, frequency: f32) -> f32 {
        self.term_factor(term) * idf * frequency * (self.k1 + 1.0) / (self.k1 + frequency)
    }

    /// Upper bound of [`Bm25::term_score`], its limit for growing frequencies.
    pub fn term_score_max(&self, term: &QueryTerm, idf: f32) -> f32 {
        self.term_factor(term) * idf * (self.k1 + 1.0)
    }

    fn term_factor(&self, term: &QueryTerm) -> f32 {
        let (stop, compound) =
            (if term.stop { self.stop } else { 1.0 }, if term.compound { self.compound } else { 1.0 });
        stop * compound
    }

    /// Factor on a unit's score for its kind and role, at most 1.
    pub fn unit_factor(&self, kind: UnitKind, role: UnitRole) -> f32 {
        match (role, kind) {
            (UnitRole::Test, _) => self.test,
            (UnitRole::Declaration, _) => self.declaration,
            (_, UnitKind::Constant) => self.constant,
            _ => 1.0,
        }
    }
}

/// Inverse document frequency, `ln(1 + (N − df + 0.5) / (df + 0.5))`: Lucene's form, never negative.
pub fn idf(n: u64, df: u64) -> f32 {
    let (n, df) = (n as f64, df.min(n) as f64);
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::Profile;

    #[test]
    fn idf_falls_with_frequency_and_stays_positive() {
        let values: Vec<f32> = [0, 1, 10, 50, 100].map(|df| idf(100, df)).to_vec();
        assert!(values.windows(2).all(|w| w[0] > w[1]) && values[4] > 0.0, "{values:?}");
        assert!((idf(10, 1) - (1.0f32 + 9.5 / 1.5).ln()).abs() < 1e-6);
    }

    #[test]
    fn frequencies_saturate_and_lengths_count() {
        let bm25 = Bm25::new(&Knobs::of(Profile::Default));
        let term = QueryTerm { text: "a".into(), stop: false, compound: false };
        let at = |f| bm25.term_score(&term, 1.0, f);
        assert_eq!(at(0.0), 0.0);
        assert!(at(2.0) < 2.0 * at(1.0) && at(1000.0) < bm25.k1 + 1.0);
        assert!((at(1.6) - 1.3).abs() < 1e-6, "half of k1 + 1 at f = k1");
        let body = 3;
        let frequency = |length| bm25.field_frequency(body, 1.0, bm25.length_normal(body, length, 100.0));
        assert!(frequency(200.0) < frequency(50.0));
        assert_eq!(frequency(100.0), 1.0);
        assert!(at(1e6) < bm25.term_score_max(&term, 1.0) && at(1e6) > 0.99 * bm25.term_score_max(&term, 1.0));
    }
}
