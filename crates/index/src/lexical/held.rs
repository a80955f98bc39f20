//! How much of a query's weight some units hold.

use colgrep_core::UnitId;
use colgrep_core::bm25::idf;
use colgrep_core::query::Query;
use colgrep_core::strength::Held;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Term};

use super::read::Lexical;
use crate::error::Result;

impl Lexical {
    /// What the units of each group hold of the query's words.
    ///
    /// # Errors
    /// When the index can't be read.
    pub(crate) fn held(&self, query: &Query, groups: &[Vec<UnitId>]) -> Result<Vec<Held>> {
        let mut units: Vec<(UnitId, usize)> =
            groups.iter().enumerate().flat_map(|(group, units)| units.iter().map(move |unit| (*unit, group))).collect();
        units.sort_unstable();
        let total = self.statistics().0;
        let mut of_groups = vec![Held::default(); groups.len()];
        let mut of_units = vec![0.0f32; units.len()];
        let mut all = 0.0f32;
        for term in query.terms.iter().filter(|term| !term.stop) {
            let weight = if term.compound { 0.0 } else { idf(total, self.units_with(&term.text)?) };
            let holds = self.holders_of(&term.text, &units)?;
            let mut in_group = vec![false; groups.len()];
            for ((sum, (_, group)), _) in of_units.iter_mut().zip(&units).zip(&holds).filter(|(_, holds)| **holds) {
                *sum += weight;
                in_group[*group] = true;
            }
            all += weight;
            for (held, holds) in of_groups.iter_mut().zip(in_group) {
                held.file += if holds { weight } else { 0.0 };
            }
        }
        for (sum, (_, group)) in of_units.into_iter().zip(&units) {
            of_groups[*group].unit = of_groups[*group].unit.max(sum);
        }
        let share = |weight: f32| if all > 0.0 { weight / all } else { 0.0 };
        of_groups.iter_mut().for_each(|held| (held.file, held.unit) = (share(held.file), share(held.unit)));
        Ok(of_groups)
    }

    /// Which of the units, by key, hold a term.
    fn holders_of(&self, term: &str, units: &[(UnitId, usize)]) -> Result<Vec<bool>> {
        let mut holds = vec![false; units.len()];
        for field in self.fields.unit {
            let term = Term::from_field_text(field, term);
            let mut from = 0;
            for of_segment in units.chunk_by(|a, b| a.0.segment() == b.0.segment()) {
                let own = &mut holds[from..from + of_segment.len()];
                from += of_segment.len();
                let Some(segment) = self.segments.get(of_segment[0].0.segment() as usize) else { continue };
                let Some(mut list) = segment.postings(&term, IndexRecordOption::Basic)? else { continue };
                for (holds, (unit, _)) in own.iter_mut().zip(of_segment) {
                    if list.doc() < unit.doc() {
                        list.seek(unit.doc());
                    }
                    *holds |= list.doc() == unit.doc();
                }
            }
        }
        Ok(holds)
    }
}
