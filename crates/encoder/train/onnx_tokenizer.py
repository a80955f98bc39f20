"""The tokenizer of `text.py` in the format of Hugging Face's `tokenizers`.

The split is by Unicode's categories before lower-casing, so it is done by normalisers that put spaces where words
end. Where it differs from `text.py`: a word of more than six pieces keeps all of them; a capital sigma at a word's
end becomes σ instead of ς; words are measured after lower-casing.
"""

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from text import UNKNOWN, WORD_CHARS_MAX, WordPiece

# Where a word ends between two letters or digits.
BOUNDARY = (
    r"(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})"
    r"|(?<=\p{Nd})(?=[\p{Lu}\p{Ll}\p{Lo}])|(?<=[\p{Lu}\p{Ll}\p{Lo}])(?=\p{Nd})"
    r"|(?<=\p{Lo})(?=[\p{Lu}\p{Ll}\p{Lo}])|(?<=[\p{Lu}\p{Ll}])(?=\p{Lo})"
)


def tokenizer(pieces: WordPiece) -> Tokenizer:
    """Without added tokens: the prefixes [Q] and [D] are put in front of the ids, never read from a text."""
    built = Tokenizer(
        models.WordPiece(pieces.ids, unk_token=pieces.vocabulary[UNKNOWN], max_input_chars_per_word=4 * WORD_CHARS_MAX)
    )
    built.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"[^\p{Lu}\p{Ll}\p{Nd}\p{Lo}]"), " "),
            normalizers.Replace(Regex(BOUNDARY), " "),
            normalizers.Lowercase(),
        ]
    )
    built.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(" ", "removed"),
            pre_tokenizers.Split(Regex(rf"^.{{{WORD_CHARS_MAX + 1},}}$"), "removed"),
        ]
    )
    return built
