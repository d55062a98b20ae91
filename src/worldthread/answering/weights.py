"""The weights of :mod:`worldthread.answering.decision`; ``python benchmarks/asking/fit.py --write`` writes them."""

from typing import Final

BIAS: Final = -8.098
WEIGHTS: Final[dict[str, float]] = {
    "similarity": 0.909,
    "lead": 1.122,
    "covered": 0.127,
    "soft": 2.858,
    "weakest": -0.612,
    "same_subject": 0.493,
    "owner_subject": 0.144,
    "other_subject": -0.182,
    "same_owner": 0.021,
    "fact": -0.369,
    "stated": 0.683,
    "kind": 2.219,
    "noun": -0.210,
    "noun_new": 3.134,
    "attribute": 0.464,
    "hedged": -0.037,
    "phase": 0.161,
    "phase_now": 0.297,
    "rival": -1.133,
    "rival_past": -1.036,
    "newer_topic": -0.396,
    "planned": -0.071,
    "exact": 0.167,
    "exact_fact": -0.413,
    "later": 0.187,
    "later_end": -2.760,
    "length": -0.558,
    "new": 0.093,
    "new_names": 0.149,
    "whole": -1.001,
    "missing": -0.382,
    "no_words": 0.129,
    "score": 3.176,
    "is_yes_no": 1.669,
    "yes_share": -1.217,
    "yes_same": 0.044,
    "yes_hedged": 0.000,
    "is_time": 0.111,
    "is_place": 0.371,
    "is_person": 0.417,
    "is_number": -0.017,
    "is_thing": -0.401,
    "asks_name": -0.399,
    "past": 0.328,
}
"""The weight of each measure of a candidate."""

DECISION_BIAS: Final = -1.917
DECISION_WEIGHTS: Final[dict[str, float]] = {
    "score": 0.633,
    "lead": 0.025,
    "newer_lead": 0.100,
    "agreeing": -0.557,
    "fact": 1.064,
    "surely": -0.723,
    "asks_yes-no": -0.200,
    "asks_time": 0.652,
    "asks_place": -0.429,
    "asks_person": -0.047,
    "asks_number": 0.159,
    "asks_thing": -0.537,
    "covered": 0.370,
    "weakest": 0.656,
    "hedged": -0.822,
    "same_subject": -0.221,
    "kind": 0.083,
    "stated": -0.011,
    "exact": 0.725,
    "exact_fact": -0.953,
    "newer_topic": -1.970,
    "planned": 0.784,
    "rival": -0.234,
    "attribute": 1.495,
}
"""The weight of each measure of the best candidate."""

THRESHOLD: Final = 0.75
"""A question with a lower probability is not answered."""
