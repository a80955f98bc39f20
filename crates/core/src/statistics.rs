//! Statistics of a corpus: the counts that ranking reads. They are integers and add up over the parts of a corpus in
//! any order.

use serde::{Deserialize, Serialize};

use crate::bm25::{FIELD_COUNT, idf};
use crate::query::Query;

/// The counts of one corpus, or of a part of it, for one query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    pub units: u64,
    /// For each field, in the order of [`Field::ALL`](crate::bm25::Field::ALL), the sum of its lengths over all units, in
    /// tokens.
    pub lengths: [u64; FIELD_COUNT],
    pub files: u64,
    /// For each of [`Query::terms`], in their order.
    pub terms: Vec<TermCount>,
    /// Definitions with each of [`Query::plain_words`] as their name.
    pub words: Vec<u64>,
    /// Files with each of [`Query::topic_terms`] in their path.
    pub topics: Vec<u64>,
}

/// The number of units with a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermCount {
    /// Units with the term in any field of the lexical ranking.
    pub units: u64,
    /// Units with the term, for each field.
    pub in_field: [u64; FIELD_COUNT],
}

impl TermCount {
    /// Adds the counts of another part.
    pub fn add(&mut self, other: &TermCount) {
        self.units += other.units;
        add_each(&mut self.in_field, &other.in_field);
    }

    /// About how many units have the term: the highest count of any field. Reads no lists.
    pub fn most(&self) -> u64 {
        self.in_field.iter().copied().max().unwrap_or_default()
    }
}

/// Number and weight of a query's words, without stop words and compounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WordMass {
    pub words: u32,
    /// Sum of their idf.
    pub all: f32,
    /// Sum of the idf of words that occur in some unit.
    pub known: f32,
}

impl Statistics {
    /// Adds the counts of another part of the corpus, made for the same query.
    pub fn add(&mut self, other: &Statistics) {
        self.units += other.units;
        self.files += other.files;
        add_each(&mut self.lengths, &other.lengths);
        self.terms.resize(self.terms.len().max(other.terms.len()), TermCount::default());
        self.terms.iter_mut().zip(&other.terms).for_each(|(sum, more)| sum.add(more));
        for (sums, more) in [(&mut self.words, &other.words), (&mut self.topics, &other.topics)] {
            sums.resize(sums.len().max(more.len()), 0);
            add_each(sums, more);
        }
    }

    /// The average length of each field over all units, in tokens.
    pub fn averages(&self) -> [f32; FIELD_COUNT] {
        self.lengths.map(|sum| sum as f32 / self.units.max(1) as f32)
    }

    /// Inverse document frequency of one of the query's terms over units.
    pub fn idf(&self, term: usize) -> f32 {
        idf(self.units, self.terms.get(term).map_or(0, |count| count.units))
    }

    /// The same by [`TermCount::most`], which counts fields that have no weight in the ranking too.
    pub fn idf_of_most(&self, term: usize) -> f32 {
        idf(self.units, self.terms.get(term).map_or(0, TermCount::most))
    }

    /// Inverse document frequency of one of the query's topic terms over files.
    pub fn topic_idf(&self, topic: usize) -> f32 {
        idf(self.files, self.topics.get(topic).copied().unwrap_or_default())
    }

    /// The weight of the query's words.
    pub fn mass(&self, query: &Query) -> WordMass {
        let mut mass = WordMass::default();
        for (at, _) in query.terms.iter().enumerate().filter(|(_, term)| !term.stop && !term.compound) {
            let weight = self.idf(at);
            mass.words += 1;
            mass.all += weight;
            mass.known += if self.terms.get(at).is_some_and(|count| count.units > 0) { weight } else { 0.0 };
        }
        mass
    }
}

fn add_each(sums: &mut [u64], more: &[u64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::language::LanguageFacts;
    use crate::token::Tokenizer;

    fn statistics(seed: u64, terms: usize) -> Statistics {
        let count = |at: usize| (seed >> (at % 13)) & 0xff;
        let term = |at: usize| TermCount { units: count(at), in_field: std::array::from_fn(|field| count(at + field)) };
        Statistics {
            units: 1_000 + count(3),
            lengths: std::array::from_fn(|field| 1_000 * count(field)),
            files: 1 + count(5),
            terms: (0..terms).map(term).collect(),
            words: vec![count(1), count(2)],
            topics: vec![count(7)],
        }
    }

    proptest! {
        #[test]
        fn parts_add_up_in_any_order(seeds in proptest::collection::vec(any::<u64>(), 1..9)) {
            let sum = |seeds: &mut dyn Iterator<Item = &u64>| seeds.fold(Statistics::default(), |mut sum, seed| {
                sum.add(&statistics(*seed, 3));
                sum
            });
            let all = sum(&mut seeds.iter());
            prop_assert_eq!(&all, &sum(&mut seeds.iter().rev()));
            let (first, rest) = seeds.split_at(seeds.len() / 2);
            let mut halves = sum(&mut first.iter());
            halves.add(&sum(&mut rest.iter()));
            prop_assert_eq!(&all, &halves);
            prop_assert_eq!(all.units, seeds.iter().map(|seed| statistics(*seed, 3).units).sum::<u64>());
        }
    }

    #[test]
    fn words_weigh_and_stop_words_and_compounds_do_not() {
        let query = Query::new("the openSocket call", "/x", &LanguageFacts::sample(), &mut Tokenizer::default());
        let term = |units| TermCount { units, in_field: [units; FIELD_COUNT] };
        // the, opensocket (compound), open, socket, call
        let known = [9, 1, 5, 0, 3].map(term).to_vec();
        let statistics = Statistics { units: 10, terms: known, ..Statistics::default() };
        let mass = statistics.mass(&query);
        assert_eq!((query.terms.len(), mass.words), (5, 3));
        assert_eq!(mass.all, idf(10, 5) + idf(10, 0) + idf(10, 3));
        assert_eq!(mass.known, idf(10, 5) + idf(10, 3));
    }
}
