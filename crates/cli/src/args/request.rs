//! Flags into requests: the one place where a search's flags become what the engine and the output take.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use colgrep_core::knob::{Knob, Knobs, Profile};
use colgrep_engine::answer::pack;
use colgrep_engine::project::open::BUDGET;
use colgrep_engine::request::terms;
use colgrep_engine::settings::env::profile;
use colgrep_engine::settings::variable;
use colgrep_engine::{
    Background, Changes, Detail, Facts, OpenOptions, Pattern, Question, RankBy, RankingOptions, Scope, SearchRequest,
    Shape, Tests, Weakest,
};

use super::{Color, IndexMode, SearchArgs, TestsArg, WalkArgs};
use colgrep_render::matches::LineOptions;
use colgrep_render::{Format, OutputRequest, When};

impl SearchArgs {
    /// The question with everything that the flags say of it.
    ///
    /// # Errors
    /// When a constant of the ranking does not fit, or a table of terms can't be read.
    pub fn request(&self, question: Question, paths: Vec<PathBuf>) -> Result<SearchRequest> {
        let mut request = SearchRequest::default();
        request.question = question;
        request.background = self.background()?;
        request.scope = self.scope(paths);
        request.ranking = self.ranking()?;
        request.shape = self.shape();
        Ok(request)
    }

    fn background(&self) -> Result<Background> {
        let mut background = Background::default();
        background.hints.clone_from(&self.hints);
        background.terms = self.expand.as_deref().map(terms::table).transpose()?.unwrap_or_default();
        background.no_settings_terms = self.no_expand;
        background.near = self.near.as_deref().map(colgrep_engine::Standpoint::read);
        Ok(background)
    }

    fn scope(&self, paths: Vec<PathBuf>) -> Scope {
        let mut scope = Scope::default();
        scope.paths = paths;
        (scope.include, scope.exclude) = (self.include.clone(), self.exclude.clone());
        for glob in &self.glob {
            match glob.strip_prefix('!') {
                Some(not) => scope.exclude.push(not.to_string()),
                None => scope.include.push(glob.clone()),
            }
        }
        for glob in &self.ripgrep.iglob {
            match glob.strip_prefix('!') {
                Some(not) => scope.exclude_any_case.push(not.to_string()),
                None => scope.include_any_case.push(glob.clone()),
            }
        }
        scope.types_not.clone_from(&self.ripgrep.types_not);
        scope.max_depth = self.ripgrep.max_depth;
        scope.exclude_dir.clone_from(&self.exclude_dir);
        scope.types.clone_from(&self.types);
        scope.code_only = either(self.code_only, self.no_code_only);
        scope.tests = self.tests.map(Tests::from);
        scope.changes = match &self.since {
            Some(since) => Some(Changes::Since(since.clone())),
            None => self.changed.then_some(Changes::Uncommitted),
        };
        scope.pattern = (!self.regexp.is_empty()).then(|| self.pattern());
        scope.facts = self.facts();
        scope
    }

    /// What is asked of the units' code.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        (facts.calls, facts.called_by) = (self.calls.clone(), self.called_by.clone());
        facts.kinds.clone_from(&self.kinds);
        facts.ignore_case = self.ignore_case;
        facts
    }

    fn pattern(&self) -> Pattern {
        let mut pattern = Pattern::default();
        pattern.expressions.clone_from(&self.regexp);
        (pattern.fixed, pattern.word, pattern.line) = (self.fixed_strings, self.word_regexp, self.line_regexp);
        (pattern.ignore_case, pattern.smart_case) = (self.ignore_case, self.smart_case);
        pattern.multiline = self.ripgrep.multiline;
        pattern
    }

    fn ranking(&self) -> Result<RankingOptions> {
        let mut ranking = RankingOptions::default();
        ranking.by = match (self.keyword_only, self.semantic_only) {
            (true, _) => RankBy::Words,
            (false, true) => RankBy::Meaning,
            (false, false) => RankBy::Both,
        };
        ranking.fusion = self.fusion.map(Into::into);
        ranking.profile = self.profile.as_deref().map(profile).transpose()?;
        ranking.alpha = self.alpha.as_deref().map(alpha).transpose()?;
        Ok(ranking)
    }

    fn shape(&self) -> Shape {
        let mut shape = Shape::default();
        (shape.files, shape.units_per_file) = (self.results, self.per_file);
        (shape.single_units, shape.every_match, shape.explain) = (self.units, self.count, self.explain);
        shape.call_lines = self.lines.is_some();
        // Every unit with a word counts, however weak.
        shape.weakest = match (self.all || self.files_without_match, self.min_strength) {
            (true, _) => Weakest::Strength(0.0),
            (false, Some(least)) => Weakest::Strength(least),
            // Programs judge for themselves.
            (false, None) if matches!(self.format(), Format::Json | Format::JsonLines) => Weakest::Any,
            (false, None) => Weakest::Floor,
        };
        if self.pack.is_some() {
            shape.files = self.results.or(Some(pack::FILES_MAX));
            (shape.units_per_file, shape.detail) = (Some(pack::UNITS_PER_FILE), Detail::Parts);
            return shape;
        }
        shape.detail = match self.format() {
            _ if self.names_only() => Detail::Names,
            Format::Json | Format::JsonLines => Detail::Relations,
            Format::Text | Format::Vimgrep => Detail::Lines,
        };
        shape
    }

    fn names_only(&self) -> bool {
        self.files_only || self.count
    }

    fn format(&self) -> Format {
        match (self.json, self.jsonl || self.queries_from.is_some(), self.vimgrep) {
            (true, ..) => Format::Json,
            (_, true, _) => Format::JsonLines,
            (_, _, true) => Format::Vimgrep,
            _ => Format::Text,
        }
    }

    /// What is printed of an answer.
    pub fn output(&self) -> OutputRequest {
        OutputRequest {
            format: self.format(),
            names_only: self.names_only(),
            count: self.count,
            null: self.null,
            content: self.content,
            lines: self.lines,
            before: self.before_context,
            behind: self.after_context,
            around: self.context,
            max_tokens: self.max_tokens,
            pack: self.pack,
            quiet: self.walk.quiet,
            silent: self.silent,
            heading: either(self.heading, self.no_heading).or(self.ripgrep.pretty.then_some(true)),
            color: self.color.map(When::from).or(self.ripgrep.pretty.then_some(When::Always)),
            many_lines: self.per_file.is_some_and(|n| n > 1)
                || self.content
                || self.explain
                || [self.before_context, self.after_context, self.context].iter().any(|n| n.is_some_and(|n| n > 0)),
            all: self.results.is_some(),
            no_number: self.ripgrep.no_line_number,
            no_name: self.ripgrep.no_filename,
            column: self.ripgrep.column,
            line_bytes_max: self.ripgrep.max_columns.filter(|bytes| *bytes > 0),
            links: self.hyperlink_format.clone(),
        }
    }

    /// What a plain grep prints of lines.
    pub fn lines(&self) -> LineOptions {
        LineOptions {
            invert: self.invert_match,
            only_matching: self.only_matching,
            max_count: self.max_count,
            files_without_match: self.files_without_match,
            text_only: false,
            no_messages: self.no_messages,
            files: self.results,
        }
    }

    /// How projects are opened.
    pub fn open_options(&self) -> OpenOptions {
        let mut options = self.walk.open_options(self.model.clone());
        options.update = !self.no_update;
        (options.hurried, options.behind) = ((!self.wait).then_some(BUDGET), true);
        options.no_ignore |= self.ripgrep.unrestricted > 0;
        if self.ripgrep.unrestricted > 1 {
            options.hidden = Some(true);
        }
        options
    }
}

impl WalkArgs {
    /// How projects are opened.
    pub fn open_options(&self, model: Option<String>) -> OpenOptions {
        let mut options = OpenOptions::default();
        options.hidden = either(self.hidden, self.no_hidden);
        options.secrets = either(self.secrets, self.no_secrets);
        options.no_ignore = self.no_ignore;
        options.filesize_max = self.max_filesize;
        options.vectors = self.index_mode.map(IndexMode::into);
        options.model = model;
        options.any_root = self.yes;
        options
    }
}

/// Reads what `--alpha` takes.
fn alpha(text: &str) -> Result<f64> {
    let mut knobs = Knobs::of(Profile::Default);
    variable::set(&mut knobs, Knob::Alpha, text).map_err(|e| anyhow!("--alpha: {e}"))?;
    Ok(knobs.number(Knob::Alpha))
}

/// A flag and the one that takes it back.
fn either(on: bool, off: bool) -> Option<bool> {
    if on || off { Some(on) } else { None }
}

impl From<TestsArg> for Tests {
    fn from(arg: TestsArg) -> Tests {
        match arg {
            TestsArg::Auto => Tests::Auto,
            TestsArg::Only => Tests::Only,
            TestsArg::Exclude => Tests::Exclude,
        }
    }
}

impl From<Color> for When {
    fn from(arg: Color) -> When {
        match arg {
            Color::Auto => When::Auto,
            Color::Always => When::Always,
            Color::Never => When::Never,
        }
    }
}
