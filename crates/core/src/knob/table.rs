//! The table of knobs, in pipeline order. A row begins with the knob's variant of [`Knob`], its plain name, from which
//! the engine derives the environment variable, and its type.
//!
//! A new knob needs a row here and an entry in the list of what reads it (`STAGE.knobs`, or `KNOBS` in `fuse.rs`).

use super::declaration::{Declaration, KnobValue, knobs};

const FIELDS: &str = "prototype sweep";
const DEFINITIONS: &str = "prototype";
const STEMS: &str = "prototype";
const PENALTIES: &str = "semble; default: prototype";
const STEM_BOOST: &str = "semble; default: prototype";
const TUNED: &str = "docs/research/fusion.md";
const PROXIMITY: &str = "Tao, Zhai (SIGIR 2007); prototype";
const FOLDERS: &str = "prototype";
const EXPANSION: &str = "document retrieval with domain terms";
const PROSE: &str = "docs/research/documents.md";
const TAGS: &str = "reranking by enrichment tags";
const ENRICHMENT: &str = "docs/ranking.md: keywords of prose";
const LONG: &str = "docs/research/long.md";
const NEAR: &str = "docs/research/near.md";
const QUERY: &str = "docs/ranking.md: the query";
const POINTED: &str = "docs/ranking.md: what a query points at";

knobs! {
    // The query.
    Fillers fillers: bool {
        doc: "1: drop noise words (please, thanks, e.g., issue, …) unless nothing else is left; 0: count them like others.",
        off: None, default: 1.0, classic: 0.0, range: (0.0, 1.0), grid: &[0.0, 1.0], source: QUERY,
    }

    Respelling respelling: bool {
        doc: "1: replace a name that the index lacks by the form it has (`closesocket` by `close_socket`, \"slow loris\" by `slowloris`); 0: keep it.",
        off: None, default: 1.0, classic: 0.0, range: (0.0, 1.0), grid: &[0.0, 1.0], source: QUERY,
    }

    LongQueries long_queries: bool {
        doc: "1: parse a text with a line break or 200 characters by its parts; 0: treat it like other queries.",
        off: None, default: 1.0, classic: 0.0, range: (0.0, 1.0), grid: &[0.0, 1.0], source: LONG,
    }
    LongParts long_parts: usize {
        doc: "Parts of a long query that the model reads (title and paragraphs); 0: the beginning of the whole.",
        off: Some(0.0), default: 4.0, classic: 0.0, range: (0.0, 16.0), grid: &[0.0, 2.0, 4.0, 8.0], source: LONG,
    }

    // Retrieval.
    PoolUnits pool_units: usize {
        doc: "Units that each retriever brings into the pool.",
        off: None, default: 600.0, classic: 100.0, range: (10.0, 10000.0), grid: &[100.0, 300.0, 600.0, 1000.0],
        source: "default: prototype; classic: ColGREP, pull request 99",
    }
    PoolNamedFiles pool_named_files: usize {
        doc: "Files that enter the pool by their name or a definition in them, whatever their units' rank.",
        off: Some(0.0), default: 100.0, classic: 0.0, range: (0.0, 10000.0), grid: &[0.0, 30.0, 100.0, 300.0],
        source: "prototype: recall of the first 30 files .983 without them",
    }
    ExactUnits exact_units: usize {
        doc: "Nearest units that are encoded again for their full semantic score, with the built-in model; 0: none, and none of those that `order` compares.",
        off: None, default: 128.0, classic: 256.0, range: (0.0, 10000.0), grid: &[0.0, 30.0, 50.0, 100.0, 200.0, 400.0],
        source: "docs/research/fusion.md",
    }

    // BM25F (`bm25`).
    K1 k1: f32 {
        doc: "BM25 term frequency saturation: higher lets repeats count longer.",
        off: None, default: 1.6, classic: 1.2, range: (0.0, 10.0), grid: &[0.8, 1.2, 1.6, 2.0], source: FIELDS,
    }
    B b: f32 {
        doc: "BM25 length normalisation: 0 none, 1 full.",
        off: None, default: 0.6, classic: 0.75, range: (0.0, 1.0), grid: &[0.3, 0.45, 0.6, 0.75],
        source: "default: prototype sweep; classic: SQLite FTS5's bm25()",
    }
    NameWeight name_weight: f32 {
        doc: "BM25F weight of a unit's name.",
        off: Some(0.0), default: 3.0, classic: 1.0, range: (0.0, 100.0), grid: &[0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0],
        source: FIELDS,
    }
    ParentWeight parent_weight: f32 {
        doc: "BM25F weight of the names that enclose a unit.",
        off: Some(0.0), default: 3.0, classic: 1.0, range: (0.0, 100.0), grid: &[0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0],
        source: FIELDS,
    }
    DocWeight doc_weight: f32 {
        doc: "BM25F weight of a unit's documentation.",
        off: Some(0.0), default: 3.0, classic: 1.0, range: (0.0, 100.0), grid: &[0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0],
        source: FIELDS,
    }
    BodyWeight body_weight: f32 {
        doc: "BM25F weight of a unit's lines.",
        off: Some(0.0), default: 1.0, classic: 1.0, range: (0.0, 100.0), grid: &[0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0],
        source: FIELDS,
    }
    StemWeight stem_weight: f32 {
        doc: "BM25F weight of the file's stem.",
        off: Some(0.0), default: 2.0, classic: 1.0, range: (0.0, 100.0), grid: &[0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0],
        source: FIELDS,
    }
    FolderWeight folder_weight: f32 {
        doc: "BM25F weight of the file's folders.",
        off: Some(0.0), default: 1.0, classic: 1.0, range: (0.0, 100.0), grid: &[0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0],
        source: FIELDS,
    }
    KeywordWeight keyword_weight: f32 {
        doc: "BM25F weight of the keywords of a section of prose, and of its entities.",
        off: Some(0.0), default: 0.0, classic: 0.0, range: (0.0, 100.0), grid: &[0.0, 0.5, 1.0, 2.0, 3.0],
        source: ENRICHMENT,
    }
    StopWeight stop_weight: f32 {
        doc: "Factor on the idf of stop words in the query.",
        off: Some(1.0), default: 0.5, classic: 1.0, range: (0.0, 1.0), grid: &[0.0, 0.25, 0.5, 1.0], source: FIELDS,
    }
    CompoundWeight compound_weight: f32 {
        doc: "Factor on the idf of whole names of several parts in the query.",
        off: Some(1.0), default: 2.0, classic: 1.0, range: (0.0, 10.0), grid: &[0.5, 1.0, 2.0, 3.0], source: FIELDS,
    }
    ConstantFactor constant_factor: f32 {
        doc: "Factor on the score of constants and fields.",
        off: Some(1.0), default: 0.7, classic: 1.0, range: (0.0, 1.0), grid: &[0.5, 0.7, 0.85, 1.0], source: FIELDS,
    }
    DeclarationFactor declaration_factor: f32 {
        doc: "Factor on the score of bare declarations (C prototypes).",
        off: Some(1.0), default: 0.7, classic: 1.0, range: (0.0, 1.0), grid: &[0.5, 0.7, 0.85, 1.0], source: FIELDS,
    }
    TestUnitFactor test_unit_factor: f32 {
        doc: "Factor on the score of units in a language's own test syntax.",
        off: Some(1.0), default: 0.5, classic: 1.0, range: (0.0, 1.0), grid: &[0.3, 0.5, 0.7, 1.0], source: FIELDS,
    }

    // Fusion (`fuse`).
    Alpha alpha: f32 {
        doc: "Weight of meaning for a query whose words are trusted, more for others. 0: words alone, 1: meaning alone.",
        off: None, default: 0.4, classic: 0.6, range: (0.0, 1.0), grid: &[0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6],
        source: "default: tuned on both sets (docs/research/fusion.md); classic: ColGREP, pull request 99",
    }
    TrustLow trust_low: f32 {
        doc: "Lexical strength (best unit's BM25 over the most that all words could give) up to which words are not trusted.",
        off: None, default: 0.15, classic: 0.0, range: (0.0, 1.0), grid: &[0.0, 0.1, 0.15, 0.2, 0.3], source: TUNED,
    }
    TrustHigh trust_high: f32 {
        doc: "Lexical strength from which words are fully trusted.",
        off: None, default: 0.6, classic: 0.0, range: (0.0, 2.0), grid: &[0.3, 0.4, 0.5, 0.6, 0.8], source: TUNED,
    }
    CodeShare code_share: f32 {
        doc: "Largest share of code definitions among the candidates of a documentation, whose sections answer, not its files; below 0: no documentations.",
        off: Some(-1.0), default: 0.15, classic: -1.0, range: (-1.0, 1.0), grid: &[-1.0, 0.1, 0.15, 0.2], source: PROSE,
    }
    ProseTrust prose_trust: f32 {
        doc: "How far the words of a query are trusted in a documentation.",
        off: None, default: 0.75, classic: 1.0, range: (0.0, 1.0), grid: &[0.45, 0.55, 0.65, 0.75, 0.85], source: PROSE,
    }
    SemanticDepth semantic_depth: usize {
        doc: "Rank in the semantic ranking whose score counts as 0 in the min-max fusion.",
        off: None, default: 600.0, classic: 10000.0, range: (2.0, 10000.0), grid: &[50.0, 100.0, 200.0, 400.0, 600.0],
        source: TUNED,
    }
    RrfK rrf_k: f32 {
        doc: "k of reciprocal rank fusion, weight · k / (k + rank): higher makes ranks count more alike.",
        off: None, default: 60.0, classic: 60.0, range: (1.0, 1000.0), grid: &[10.0, 30.0, 60.0, 100.0],
        source: "Cormack, Clarke, Büttcher, Reciprocal Rank Fusion (SIGIR 2009)",
    }
    ExpandAlpha expand_alpha: f32 {
        doc: "Upper bound of COLGREP_ALPHA where a term table gave the query terms.",
        off: None, default: 0.0909, classic: 0.0909, range: (0.0, 1.0), grid: &[0.05, 0.0909, 0.25], source: EXPANSION,
    }
    LongAlpha long_alpha: f32 {
        doc: "Upper bound of COLGREP_ALPHA for a long query and its title.",
        off: Some(1.0), default: 0.25, classic: 1.0, range: (0.0, 1.0), grid: &[0.15, 0.25, 0.4, 1.0], source: LONG,
    }
    ExpandK expand_k: f32 {
        doc: "Replaces COLGREP_RRF_K where a term table gave the query terms.",
        off: None, default: 10.0, classic: 10.0, range: (1.0, 1000.0), grid: &[10.0, 30.0, 60.0], source: EXPANSION,
    }

    // Stage `multi_unit`.
    UnitSumShare unit_sum_share: f32 {
        doc: "Share of a file's base score that comes from the sum of its best units instead of the best one.",
        off: Some(0.0), default: 0.667, classic: 0.0, range: (0.0, 1.0), grid: &[0.0, 0.33, 0.5, 0.667, 0.8],
        source: "prototype: 0.5 best + 1.0 sum, harmonic top 6 (+.04 over the best unit alone)",
    }
    UnitSumDepth unit_sum_depth: usize {
        doc: "Units a file whose scores are summed, the i-th divided by i.",
        off: None, default: 6.0, classic: 1.0, range: (1.0, 100.0), grid: &[1.0, 3.0, 6.0, 10.0],
        source: "prototype: 6 of 3, 6, 10",
    }

    // Stage `hints`.
    HintSubsystem hint_subsystem: f32 {
        doc: "Factor for a unit that matches a hint of its subsystem: its folders, its file's stem, what encloses it.",
        off: Some(1.0), default: 1.3, classic: 1.0, range: (0.0, 10.0), grid: &[1.0, 1.3, 1.5], source: TAGS,
    }
    HintPurpose hint_purpose: f32 {
        doc: "Factor for a unit that matches a hint of its purpose: the class of a verb in its name.",
        off: Some(1.0), default: 1.15, classic: 1.0, range: (0.0, 10.0), grid: &[1.0, 1.15, 1.5], source: TAGS,
    }
    HintType hint_type: f32 {
        doc: "Factor for a unit that matches a hint of its types: of parameters, result, bases.",
        off: Some(1.0), default: 1.15, classic: 1.0, range: (0.0, 10.0), grid: &[1.0, 1.15, 1.5], source: TAGS,
    }
    HintConcept hint_concept: f32 {
        doc: "Factor for a unit that matches a hint of its concept: its documentation and folders.",
        off: Some(1.0), default: 1.2, classic: 1.0, range: (0.0, 10.0), grid: &[1.0, 1.2, 1.5], source: TAGS,
    }
    HintFeature hint_feature: f32 {
        doc: "Factor for a unit that matches a hint of its feature: a feature, an #ifdef, a build tag.",
        off: Some(1.0), default: 1.1, classic: 1.0, range: (0.0, 10.0), grid: &[1.0, 1.1, 1.5], source: TAGS,
    }
    HintTag hint_tag: f32 {
        doc: "Factor for a unit that matches a hint of its tags (table `tags` of the settings).",
        off: Some(1.0), default: 1.2, classic: 1.0, range: (0.0, 10.0), grid: &[1.0, 1.2, 1.5], source: TAGS,
    }
    HintKeyword hint_keyword: f32 {
        doc: "Added to a factor of 1 for each keyword hint that a unit matches, at most three.",
        off: Some(0.0), default: 0.1, classic: 0.0, range: (0.0, 10.0), grid: &[0.0, 0.1, 0.2], source: TAGS,
    }

    // Stages `path_penalty` and `path_penalty_last`.
    StrongPenalty strong_penalty: f32 {
        doc: "Factor for tests, benchmarks, examples, compatibility layers, vendored and generated files.",
        off: Some(1.0), default: 0.55, classic: 0.3, range: (0.0, 1.0), grid: &[0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0],
        source: PENALTIES,
    }
    ModeratePenalty moderate_penalty: f32 {
        doc: "Factor for files that only gather what others define.",
        off: Some(1.0), default: 0.75, classic: 0.5, range: (0.0, 1.0), grid: &[0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0],
        source: PENALTIES,
    }
    MildPenalty mild_penalty: f32 {
        doc: "Factor for type declarations without code.",
        off: Some(1.0), default: 0.85, classic: 0.7, range: (0.0, 1.0), grid: &[0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0],
        source: PENALTIES,
    }
    TextPenalty text_penalty: f32 {
        doc: "Factor for prose, configuration and data, unless the query asks for documentation.",
        off: Some(1.0), default: 0.6, classic: 1.0, range: (0.0, 1.0), grid: &[0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0],
        source: PENALTIES,
    }
    CataloguePenalty catalogue_penalty: f32 {
        doc: "Factor on translation catalogues and change logs for a long query whose title does not ask for them.",
        off: Some(1.0), default: 0.5, classic: 1.0, range: (0.0, 1.0), grid: &[0.3, 0.5, 0.75, 1.0], source: LONG,
    }
    PenaltyEachClass penalty_each_class: bool {
        doc: "1: each strong class of a file gives its factor (compat/foo_test.py: two); 0: one factor for all.",
        off: None, default: 0.0, classic: 1.0, range: (0.0, 1.0), grid: &[0.0, 1.0], source: PENALTIES,
    }
    PenaltyLast penalty_last: bool {
        doc: "1: penalties come after the boosts, so that no boost undoes them; 0: before.",
        off: None, default: 1.0, classic: 0.0, range: (0.0, 1.0), grid: &[0.0, 1.0],
        source: "fault 4 of the existing tool: a test file with a matching stem climbs back",
    }

    // Stages `path_stem_boost`, `definition_boost` and `coherence_boost`.
    BoostOfBest boost_of_best: bool {
        doc: "1: boosts of the published pipeline are shares of the best score before each of them; 0: of the best possible base score, 1.",
        off: None, default: 0.0, classic: 1.0, range: (0.0, 1.0), grid: &[0.0, 1.0], source: "ColGREP, pull request 99",
    }

    // Stage `path_stem_boost`.
    StemBoost stem_boost: f32 {
        doc: "Added when a word of the query is a part of the file's stem.",
        off: Some(0.0), default: 0.133, classic: 0.4, range: (0.0, 5.0), grid: &[0.0, 0.07, 0.133, 0.2, 0.4],
        source: STEM_BOOST,
    }
    StemPrefixBoost stem_prefix_boost: f32 {
        doc: "Added instead when a word of the query shares a prefix of three letters or more with a part of the stem.",
        off: Some(0.0), default: 0.067, classic: 0.2, range: (0.0, 5.0), grid: &[0.0, 0.033, 0.067, 0.133, 0.2],
        source: STEM_BOOST,
    }
    StemStopwords stem_stopwords: bool {
        doc: "1: stop words of the query never match a stem.",
        off: None, default: 1.0, classic: 1.0, range: (0.0, 1.0), grid: &[0.0, 1.0], source: STEM_BOOST,
    }
    StemPluralSnake stem_plural_snake: bool {
        doc: "1: stems are compared by their parts in word-stem form (requests.py for request); 0: whole and as written.",
        off: None, default: 1.0, classic: 1.0, range: (0.0, 1.0), grid: &[0.0, 1.0], source: STEM_BOOST,
    }

    // Stage `definition_boost`.
    DefBoost def_boost: f32 {
        doc: "Added to a definition whose name contains a word of the query, stop words apart.",
        off: Some(0.0), default: 0.0, classic: 0.25, range: (0.0, 5.0), grid: &[0.0, 0.1, 0.25],
        source: "ColGREP, pull request 99; off by default: −.0025",
    }

    // Stage `coherence_boost`.
    CoherenceBoost coherence_boost: f32 {
        doc: "Added to a file's best unit, times the file's share of the largest sum of scores.",
        off: Some(0.0), default: 0.0, classic: 0.2, range: (0.0, 5.0), grid: &[0.0, 0.1, 0.2, 0.3],
        source: "semble, as in ColGREP pull request 99; off by default: multi_unit does it better",
    }

    // Stage `stem_share`.
    StemShareBoost stem_share_boost: f32 {
        doc: "Times the idf-weighted share of the stem's terms in the query.",
        off: Some(0.0), default: 0.267, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.1, 0.133, 0.2, 0.267, 0.333],
        source: STEMS,
    }
    StemFullBoost stem_full_boost: f32 {
        doc: "Added when the query contains every part of the stem.",
        off: Some(0.0), default: 0.067, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.1, 0.133, 0.2, 0.267, 0.333],
        source: STEMS,
    }
    StemAgreementBoost stem_agreement_boost: f32 {
        doc: "Times the product of the stem's share in the query and the query's share in the stem.",
        off: Some(0.0), default: 0.1, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.1, 0.133, 0.2, 0.267, 0.333],
        source: STEMS,
    }
    StemPrefixShareBoost stem_prefix_share_boost: f32 {
        doc: "Times the length ratio of the best shared prefix, over the number of the stem's terms.",
        off: Some(0.0), default: 0.267, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.1, 0.133, 0.2, 0.267, 0.333],
        source: STEMS,
    }
    StemJoinedBoost stem_joined_boost: f32 {
        doc: "Added when neighbouring words of the query, written as one, are the stem.",
        off: Some(0.0), default: 0.267, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.1, 0.133, 0.2, 0.267, 0.333],
        source: STEMS,
    }

    // Stage `exact_definition`.
    SymbolTypeBoost symbol_type_boost: f32 {
        doc: "Query is one name: added where a type of that name is defined.",
        off: Some(0.0), default: 0.667, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }
    SymbolFunctionBoost symbol_function_boost: f32 {
        doc: "Query is one name: added where a function of that name is defined.",
        off: Some(0.0), default: 0.667, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }
    SymbolConstantBoost symbol_constant_boost: f32 {
        doc: "Query is one name: added where a constant or field of that name is defined.",
        off: Some(0.0), default: 0.0, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }
    SymbolStemBoost symbol_stem_boost: f32 {
        doc: "Query is one name: added to the file named so.",
        off: Some(0.0), default: 0.333, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }
    NameTypeBoost name_type_boost: f32 {
        doc: "A name inside a sentence: added where a type of that name is defined.",
        off: Some(0.0), default: 0.2, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }
    NameFunctionBoost name_function_boost: f32 {
        doc: "A name inside a sentence: added where a function or constant of that name is defined.",
        off: Some(0.0), default: 0.2, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }
    NameStemBoost name_stem_boost: f32 {
        doc: "A name inside a sentence: added to the file named so.",
        off: Some(0.0), default: 0.2, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }
    TextualTypeBoost textual_type_boost: f32 {
        doc: "Added where the text defines a type of that name, whatever the grammar made of it.",
        off: Some(0.0), default: 0.133, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }
    WordDefinitionBoost word_definition_boost: f32 {
        doc: "A plain word that names one of n ≤ 6 definitions: added times 1/√n.",
        off: Some(0.0), default: 0.267, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
        source: DEFINITIONS,
    }

    // Stage `proximity`.
    NearBoost near_boost: f32 {
        doc: "Times the file's evidence (relative to the pool) for neighbouring query words within 8 tokens.",
        off: Some(0.0), default: 0.2, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.1, 0.2, 0.3], source: PROXIMITY,
    }
    AdjacentBoost adjacent_boost: f32 {
        doc: "Times the file's evidence (relative to the pool) for neighbouring query words side by side and in order.",
        off: Some(0.0), default: 0.133, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.133, 0.2],
        source: PROXIMITY,
    }

    // Stage `folder`.
    FolderShareBoost folder_share_boost: f32 {
        doc: "Times the share of the file's folders that contain a word of the query.",
        off: Some(0.0), default: 0.133, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.133, 0.2],
        source: FOLDERS,
    }
    LastFolderBoost last_folder_boost: f32 {
        doc: "Added when the file's own folder contains a word of the query.",
        off: Some(0.0), default: 0.067, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.033, 0.067, 0.133],
        source: FOLDERS,
    }

    // Stage `depth`.
    DepthBoost depth_boost: f32 {
        doc: "Added to the pool's shallowest files, falling to 0 at its deepest.",
        off: Some(0.0), default: 0.2, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.133, 0.2, 0.267],
        source: "prototype: +.005",
    }

    // Stage `sibling`.
    SiblingBoost sibling_boost: f32 {
        doc: "Times the best base score among other files of the same stem.",
        off: Some(0.0), default: 0.133, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.067, 0.133, 0.2],
        source: "prototype: about +.001",
    }

    // Stage `history`.
    HistoryBoost history_boost: f32 {
        doc: "Added to files that similar past commits changed, in shares of the best score; 0 opens no history.",
        off: Some(0.0), default: 0.0, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.05, 0.1, 0.2, 0.4],
        source: "docs/research/history.md",
    }

    // Stage `variant`.
    VariantBoost variant_boost: f32 {
        doc: "Added to files of a platform or language that the query asks for, subtracted from those of others.",
        off: Some(0.0), default: 0.2, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.1, 0.2, 0.4],
        source: "own: docs/ranking.md, stages",
    }

    // Stage `order`.
    OrderShare order_share: f32 {
        doc: "Share of the learned order in a file's score where the query's words are wholly doubted.",
        off: Some(0.0), default: 0.2, classic: 0.0, range: (0.0, 1.0), grid: &[0.0, 0.2, 0.35, 0.5, 1.0],
        source: "benchmarks/places: docs/research/order.md",
    }

    // Stages `long_path` and `long_title`.
    LongPath long_path: f32 {
        doc: "Added to files that a long query names by path, in shares of the best score.",
        off: Some(0.0), default: 0.5, classic: 0.0, range: (0.0, 100.0), grid: &[0.0, 0.25, 0.5, 1.0], source: LONG,
    }
    LongTitle long_title: f32 {
        doc: "Weight of a long query's title, scored on its own; the whole text weighs 1.",
        off: Some(0.0), default: 1.0, classic: 0.0, range: (0.0, 100.0), grid: &[0.0, 0.5, 1.0, 2.0], source: LONG,
    }

    // Stage `context`.
    HereBoost here_boost: f32 {
        doc: "With --near: added to the open file, in shares of the best score.",
        off: Some(0.0), default: 0.0, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.1, 0.2, 0.4], source: NEAR,
    }
    PartnerBoost partner_boost: f32 {
        doc: "With --near: added to the file that the open test tests, or to tests of the open file if the query asks for tests.",
        off: Some(0.0), default: 0.4, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.2, 0.4, 0.6], source: NEAR,
    }
    ImportBoost import_boost: f32 {
        doc: "With --near: added to files that the open file imports.",
        off: Some(0.0), default: 0.1, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.05, 0.1, 0.2], source: NEAR,
    }
    ImporterBoost importer_boost: f32 {
        doc: "With --near: added to files that import the open file.",
        off: Some(0.0), default: 0.05, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.05, 0.1, 0.2], source: NEAR,
    }
    TogetherBoost together_boost: f32 {
        doc: "With --near: times the share of past commits in which a file changed together with the open one.",
        off: Some(0.0), default: 0.4, classic: 0.0, range: (0.0, 5.0), grid: &[0.0, 0.1, 0.2, 0.4, 0.6], source: NEAR,
    }

    // Stage `pointed`.
    PointedBoost pointed_boost: f32 {
        doc: "Added for each step of certainty to a unit that the query points at; 0 looks for no literal text.",
        off: Some(0.0), default: 10.0, classic: 0.0, range: (0.0, 100.0), grid: &[0.0, 10.0], source: POINTED,
    }

    // Stage `mention`.
    MentionBoost mention_boost: f32 {
        doc: "Added to a file that the query names, beyond the best other file; divided by √n for n files of that name.",
        off: Some(0.0), default: 0.6, classic: 0.0, range: (0.0, 100.0), grid: &[0.0, 0.3, 0.6, 1.2], source: POINTED,
    }

    // Stage `copies`.
    CopyStep copy_step: f32 {
        doc: "How far a unit of a copied file stays below the same unit of its original; 0: copies rank by their paths.",
        off: Some(0.0), default: 0.0001, classic: 0.0, range: (0.0, 1.0), grid: &[0.0, 0.0001, 0.1],
        source: "field reports",
    }

    // Stage `mention` of a history.
    MentionDistance mention_distance: f32 {
        doc: "How far below the best entry of the history one may be that mentions a file of the query.",
        off: None, default: 0.4, classic: 0.4, range: (0.0, 1.0), grid: &[0.2, 0.4, 0.6],
        source: "file-aware recall over history: FILE_MATCH_DISTANCE",
    }

    // Fusion of a history.
    HistoryAlpha history_alpha: f32 {
        doc: "Weight of meaning among the entries of a history. An alpha of 0 counts here too.",
        off: None, default: 0.2, classic: 0.2, range: (0.0, 1.0), grid: &[0.0, 0.1, 0.2, 0.3, 0.4, 0.6],
        source: "docs/research/history.md",
    }
}
