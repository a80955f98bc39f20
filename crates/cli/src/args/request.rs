//! What flags leave open, filled in from the settings.

use clap::ValueEnum;
use colgrep_engine::model::{Choice, RankBy};
use colgrep_engine::settings::Settings;
use colgrep_index::mode::VectorMode;

use super::{Color, FusionArg, SearchArgs, Tests, WalkArgs};

fn choice<T: ValueEnum>(text: Option<&str>) -> Option<T> {
    text.and_then(|t| T::from_str(t, true).ok())
}

impl SearchArgs {
    /// Fills in what the flags leave open.
    pub fn fill(&mut self, settings: &Settings) {
        self.results = self.results.or(settings.number("results"));
        self.per_file = self.per_file.or(settings.number("per_file"));
        self.lines = self.lines.or(settings.number("lines"));
        self.tests = self.tests.or(choice::<Tests>(settings.text("tests")));
        self.color = self.color.or(choice::<Color>(settings.text("color")));
        self.fusion = self.fusion.or(choice::<FusionArg>(settings.text("fusion")));
        self.hyperlink_format = self.hyperlink_format.take().or(settings.text("hyperlink_format").map(str::to_string));
        self.model = self.model.take().or(settings.model().map(str::to_string));
        self.code_only |= settings.is_on("code_only") && !self.no_code_only;
        match choice::<Color>(settings.text("heading")) {
            Some(Color::Always) if !self.no_heading => self.heading = true,
            Some(Color::Never) if !self.heading => self.no_heading = true,
            _ => {}
        }
        self.walk.fill(settings);
    }

    /// The model that flags choose, after settings filled in what they leave open.
    pub fn model_choice(&self, repository: Option<&std::path::Path>) -> Choice {
        Choice {
            name: self.model.clone(),
            repository: repository.map(std::path::Path::to_path_buf),
            vectors: self.walk.vector_mode(),
        }
    }

    /// Which rankings are asked for. Counting, and naming what does not match, is about words: by meaning everything is
    /// near by some measure.
    pub fn rank_by(&self) -> RankBy {
        match (self.keyword_only || self.count || self.files_without_match, self.semantic_only) {
            (true, _) => RankBy::Words,
            (false, true) => RankBy::Meaning,
            (false, false) => RankBy::Both,
        }
    }
}

impl WalkArgs {
    /// Fills in what the flags of the walk leave open.
    pub fn fill(&mut self, settings: &Settings) {
        self.hidden |= settings.is_on("hidden") && !self.no_hidden;
        let mode = || settings.index_mode().unwrap_or(settings.kept()).into();
        self.index_mode = Some(self.index_mode.unwrap_or_else(mode));
        self.max_filesize = self.max_filesize.or(settings.filesize_max());
    }

    /// What the index is to keep.
    pub fn vector_mode(&self) -> VectorMode {
        self.index_mode.unwrap_or_default().into()
    }
}
