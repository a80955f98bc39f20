//! Prints what each field of an index takes on disk: `cargo run -p colgrep-index --example space -- FOLDER/lexical`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: space FOLDER/lexical")?;
    let index = tantivy::Index::open_in_dir(folder)?;
    let usage = index.reader()?.searcher().space_usage()?;
    for segment in usage.segments() {
        println!("segment of {} documents, {:?}", segment.num_docs(), segment.total());
        for (what, fields) in [
            ("terms", segment.termdict()),
            ("postings", segment.postings()),
            ("positions", segment.positions()),
            ("fast", segment.fast_fields()),
            ("lengths", segment.fieldnorms()),
        ] {
            for field in fields.fields() {
                println!("  {what:10} {field:?}");
            }
        }
        println!("  store {:?}", segment.store().total());
    }
    Ok(())
}
