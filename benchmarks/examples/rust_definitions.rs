//! Prints the definitions that syn finds in Rust files, as an oracle of `oracles/compare.py`: reads a path from each line
//! of standard input and prints `[path, [[name, line, is local], …]]` for each file that syn reads.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::io::stdin().lines() {
        let path = path?;
        let Ok(file) = syn::parse_file(&std::fs::read_to_string(&path)?) else { continue };
        let mut found = Definitions::default();
        found.visit_file(&file);
        println!("{}", serde_json::json!([path, found.rows]));
    }
    Ok(())
}

/// Words of items, which a name follows.
const ITEM_WORDS: [&str; 9] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];

#[derive(Default)]
struct Definitions {
    /// Name, line, and whether it is a local of a function or part of a macro.
    rows: Vec<(String, usize, bool)>,
    /// Functions around the current item.
    depth: usize,
}

impl Definitions {
    fn add(&mut self, name: &Ident) {
        self.rows.push((name.to_string(), name.span().start().line, self.depth > 0));
    }

    /// Visits the content of a function.
    fn inside(&mut self, visit: impl FnOnce(&mut Definitions)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    /// Adds the names in a macro's tokens that follow a word of an item.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut is_name = false;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if is_name {
                        self.add(&word);
                    }
                    is_name = ITEM_WORDS.iter().any(|item| word == item);
                }
                TokenTree::Group(group) => {
                    is_name = false;
                    self.add_tokens(group.stream());
                }
                _ => is_name = false,
            }
        }
    }
}

impl<'ast> Visit<'ast> for Definitions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig.ident);
        self.inside(|found| visit::visit_item_fn(found, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig.ident);
        self.inside(|found| visit::visit_impl_item_fn(found, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.add(&item.sig.ident);
        self.inside(|found| visit::visit_trait_item_fn(found, item));
    }

    fn visit_foreign_item_fn(&mut self, item: &'ast syn::ForeignItemFn) {
        self.add(&item.sig.ident);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.add(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident);
        item.variants.iter().for_each(|variant| self.add(&variant.ident));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add(&item.ident);
    }

    fn visit_impl_item_type(&mut self, item: &'ast syn::ImplItemType) {
        self.add(&item.ident);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.add(&item.ident);
        self.inside(|found| visit::visit_item_static(found, item));
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        if item.ident != "_" {
            self.add(&item.ident);
        }
        self.inside(|found| visit::visit_item_const(found, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.add(&item.ident);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // The unit of an `impl` has the name of its type, which is defined elsewhere.
        self.inside(|found| TypeWords(found).visit_type(&item.self_ty));
        visit::visit_item_impl(self, item);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident {
            self.add(name);
        }
        self.inside(|found| found.add_tokens(item.mac.tokens.clone()));
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.inside(|found| found.add_tokens(item.tokens.clone()));
    }
}

/// Adds the words of a type.
struct TypeWords<'d>(&'d mut Definitions);

impl<'ast> Visit<'ast> for TypeWords<'_> {
    fn visit_ident(&mut self, word: &'ast Ident) {
        self.0.add(word);
    }
}
