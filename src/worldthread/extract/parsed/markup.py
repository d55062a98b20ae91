"""Takes the markup out of the sentences of documents, so that links and emphasis do not hide what they say."""

from __future__ import annotations

import re
from typing import Final

_IMAGE: Final = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)")
_LINK: Final = re.compile(r"\[([^\[\]\n]{1,120})\](?:\([^()\s]{1,300}\)|\[[^\[\]\n]{0,60}\])")
_REFERENCE: Final = re.compile(r"(?<![`\w])`([^`<>\n]{1,120}?)\s*<[^<>\s]{1,300}>`_{1,2}")
_QUOTED_REFERENCE: Final = re.compile(r"(?<![`\w])`([^`<>\n]{1,120}?)`_{1,2}(?!\w)")
_WORD_REFERENCE: Final = re.compile(r"(?<![\w`_])([A-Za-z][\w.-]*[A-Za-z0-9])_{1,2}(?=[\s.,;:)]|$)")
_ROLE: Final = re.compile(r":[a-z:]{2,20}:`~?([^`<>\n]{1,120})`")
_ADDRESS: Final = re.compile(r"\s*<(?:https?|ftp|mailto):[^<>\s]+>|\s*\((?:see )?https?://[^()\s]+\)")
_STRONG: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]{1,200}?)(?<=\S)\1(?![\w*])")
_TAG: Final = re.compile(r"</?(?:a|b|i|em|strong|code|br|p|span|h[1-6])(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)
_PICTURES: Final = re.compile(r"[\d#*]?[\u2190-\u2bff\ufe0f\u20e3\U0001f000-\U0001faff]+ ?")
_ASIDE: Final = re.compile(r"\s\(([^()]{2,120})\)")
_LIMITING: Final = re.compile(
    r"\b(?:if|unless|when|not|no|only|except|excluding|without|optional(?:ly)?|default|or|but|until|since|from|before|after|"
    r"previously|formerly|planned|experimental|deprecated|maybe|probably)\b|[?\d]|^(?-i:[A-Z]{2,8})$",
    re.IGNORECASE,
)


def without_markup(text: str) -> str:
    """Return a sentence of Markdown or reStructuredText as its readers see it.

    >>> without_markup("It uses *two* [locks](https://x.org/locks) of `Anna <https://x.org>`_.")
    'It uses two locks of Anna.'

    Args:
        text: a sentence.
    """
    text = _PICTURES.sub("", _IMAGE.sub("", text))
    for pattern in (_LINK, _REFERENCE, _QUOTED_REFERENCE, _WORD_REFERENCE):
        text = pattern.sub(r"\1", text)
    text = _STRONG.sub(r"\2", _ROLE.sub(r"`\1`", text))
    return _TAG.sub("", _ADDRESS.sub("", text)).strip()


def without_asides(text: str) -> str:
    """Return a sentence without brackets that only explain: "the TLS (Transport Layer Security) protocol".

    Brackets that limit what is said, that have numbers, and short forms of names stay.

    Args:
        text: a sentence.
    """
    return _ASIDE.sub(lambda match: match[0] if _LIMITING.search(match[1]) else "", text)
