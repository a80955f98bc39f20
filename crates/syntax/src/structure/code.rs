//! A syntax tree of our own parser, as ast-grep-core sees it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::source::{Doc, Edit};
use ast_grep_core::{AstGrep, Pattern, PatternError};
use tree_sitter::{Node, Range, Tree};

use crate::budget::{Budget, Spent};
use crate::language::Language;
use crate::parse::parse_tree;

/// What holes stand for, by the text in their place.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternHoles(pub(super) Rc<HashMap<String, MetaVariable>>);

impl ast_grep_core::Language for PatternHoles {
    fn extract_meta_var(&self, source: &str) -> Option<MetaVariable> {
        self.0.get(source).cloned()
    }

    // Of selectors, which patterns here don't have.
    fn kind_to_id(&self, _: &str) -> u16 {
        0
    }

    fn field_to_id(&self, _: &str) -> Option<u16> {
        None
    }

    fn build_pattern(&self, _: &PatternBuilder<'_>) -> Result<Pattern, PatternError> {
        Err(PatternError::Parse("patterns are made of nodes".to_string()))
    }
}

/// A text with its tree.
#[derive(Clone)]
pub(super) struct CodeTree {
    text: String,
    tree: Tree,
    holes: PatternHoles,
}

impl CodeTree {
    /// Parses `read`, which is `text` prepared for the grammar; `None` if the grammar can't be used.
    ///
    /// # Errors
    /// When the time is used up.
    pub(super) fn parse(
        text: &str,
        read: &str,
        language: &'static Language,
        ranges: &[Range],
        budget: &Budget,
    ) -> Result<Option<CodeTree>, Spent> {
        let Some(compiled) = language.compiled() else { return Ok(None) };
        let tree = parse_tree(read, &compiled.grammar, ranges, budget)?;
        // The prepared text may have a line break more.
        let text = format!("{text}{}", read.get(text.len()..).unwrap_or_default());
        Ok(tree.map(|tree| CodeTree { text, tree, holes: PatternHoles::default() }))
    }

    /// The same with holes in its text.
    pub(super) fn with_holes(self, holes: HashMap<String, MetaVariable>) -> CodeTree {
        CodeTree { holes: PatternHoles(Rc::new(holes)), ..self }
    }

    /// The tree.
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The root, as ast-grep-core takes it.
    pub(super) fn root(self) -> AstGrep<CodeTree> {
        AstGrep::doc(self)
    }
}

impl Doc for CodeTree {
    type Source = String;
    type Lang = PatternHoles;
    type Node<'r> = Node<'r>;

    fn get_lang(&self) -> &PatternHoles {
        &self.holes
    }

    fn get_source(&self) -> &String {
        &self.text
    }

    fn do_edit(&mut self, _: &Edit<String>) -> Result<(), String> {
        Err("texts are only read".to_string())
    }

    fn root_node(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The text as it is in the file, where the grammar may have read another.
    fn get_node_text<'a>(&'a self, node: &Node<'a>) -> Cow<'a, str> {
        String::from_utf8_lossy(self.text.as_bytes().get(node.byte_range()).unwrap_or_default())
    }
}
