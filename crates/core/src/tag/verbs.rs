//! Purposes: classes of verbs in the names of functions.

/// Each class with its verbs. A verb belongs to one class; its other forms (`parser`, `parsing`) match by their stem.
pub(super) const CLASSES: [(&str, &str); 14] = [
    ("memory-management", "alloc allocate malloc calloc realloc free dealloc deallocate reserve release retain shrink"),
    ("parsing", "parse lex tokenize scan decode unescape interpret extract"),
    ("serialization", "encode serialize deserialize marshal unmarshal pack unpack stringify escape"),
    ("input", "read load open fetch receive recv import download ingest consume"),
    ("output", "write save print emit send export flush dump publish upload render draw log"),
    ("validation", "validate check verify assert ensure sanitize expect"),
    ("conversion", "convert transform map cast translate normalize coerce adapt"),
    ("creation", "create build make construct init initialize generate spawn clone"),
    ("lookup", "find search get lookup query select resolve locate match list"),
    ("modification", "set update insert add remove delete replace push pop append edit patch merge clear"),
    ("concurrency", "lock unlock wait notify join await schedule dispatch sync acquire yield"),
    ("networking", "connect disconnect bind listen accept request respond route proxy"),
    ("error-handling", "catch raise throw retry recover rescue handle fail abort panic"),
    ("security", "encrypt decrypt sign hash authenticate authorize login logout"),
];
