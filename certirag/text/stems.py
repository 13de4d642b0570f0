"""What a word is counted by: its stem, and the words that carry no meaning of their own."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

# Not `snowballstemmer.stemmer`: where PyStemmer is installed that is another program, of any version.
from snowballstemmer.english_stemmer import EnglishStemmer

from certirag.text.word_classes import word_set

# Negations, quantifiers and what limits a statement are not among them: they tell texts apart.
FUNCTION_WORDS: Final = word_set(
    "a an the of to in on at by for from with as is are was were be been being and or but this that these "
    "those it its they them their he she his her him we our us you your i my me has have had do does did will would can "
    "could may might must shall should than then so such there here also which who whom whose what when where "
    "how into out up over under about after before during between because if while"
)


_LONGEST: Final = 64  # letters; no English word is longer, and what is kept stays small


def stem(word: str) -> str:
    """Return the stem of *word* by the English stemmer of Snowball (Porter 2001), in lower case."""
    plain = word.casefold().replace("’", "'")
    return _stemmed(plain) if len(plain) <= _LONGEST else plain


@lru_cache(maxsize=65_536)
def _stemmed(word: str) -> str:
    # One for each word: a stemmer holds the word it is at, and threads share this function.
    return str(EnglishStemmer().stemWord(word))
