//! Prints a file's units, or its syntax tree: `cargo run -p colgrep-syntax --example units -- FILE [--tree] [--query FILE.scm] [--language NAME]`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::path::PathBuf;

use colgrep_syntax::{language, parse};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (mut file, mut tree, mut query, mut name) = (None, false, None, None);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--tree" => tree = true,
            "--query" => query = Some(args.next().ok_or("--query needs a file")?),
            "--language" => name = Some(args.next().ok_or("--language needs a name")?),
            _ => file = Some(PathBuf::from(arg)),
        }
    }
    let file = file.ok_or("usage: units FILE [--tree] [--query FILE.scm] [--language NAME]")?;
    let bytes = std::fs::read(&file)?;
    let text = String::from_utf8_lossy(&bytes);
    let row = match &name {
        Some(name) => language::by_name(name).ok_or("no such language")?,
        None => language::detect(&file, &bytes),
    };
    if tree {
        let grammar = row.grammar.ok_or("no grammar")?();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&grammar)?;
        let prepared = row.prepare.and_then(|prepare| prepare(&text)).unwrap_or_else(|| text.to_string());
        let tree = parser.parse(prepared.as_bytes(), None).ok_or("not parsed")?;
        print_tree(tree.root_node(), &prepared, 0, None);
        return Ok(());
    }
    let parsed = match query {
        Some(path) => parse::parse_with(&text, row, &row.compile(&std::fs::read_to_string(path)?)?),
        None => {
            if row.grammar.is_some() {
                row.compile(row.query)?;
            }
            parse::parse(&text, row)
        }
    };
    eprintln!("language {}", row.name);
    print!("{parsed}");
    Ok(())
}

fn print_tree(node: tree_sitter::Node<'_>, text: &str, depth: usize, field: Option<&str>) {
    let field = field.map(|f| format!("{f}: ")).unwrap_or_default();
    let shown = if node.child_count() == 0 { format!("  {:?}", &text[node.byte_range()]) } else { String::new() };
    let kind = if node.is_named() { node.kind().to_string() } else { format!("{:?}", node.kind()) };
    println!("{}{field}{kind} [{}]{shown}", "  ".repeat(depth), node.start_position().row + 1);
    for i in 0..node.child_count() {
        if let Some(child) = node.child(i) {
            print_tree(child, text, depth + 1, node.field_name_for_child(i));
        }
    }
}
