"""Public tables that packages carry, complete, as DataFrames: numbers as floats or integers, states as categories.

At most `ROWS` rows, the same for whoever asks. Sources: scikit-learn (iris, wine, breast_cancer, diabetes, digits),
statsmodels (anes96, ccard, fair, modechoice, randhie, star98), and `datasets.load` (adult, whose ones and zeros are
groups of one column each).
"""

import numpy as np
import pandas

import tfdsmcmc as ds
from experiments.common.packages import has

ROWS = 300
_ADULT = {
    "age": 5,
    "workclass": 8,
    "weight": 5,
    "education": 16,
    "years": 5,
    "marital": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "gain": 2,
    "loss": 2,
    "hours": 5,
    "country": 41,
}


def names():
    """The tables whose packages are there."""
    there = has("statsmodels")
    return [name for name, make in TABLES.items() if there or not make.__name__.startswith("_statsmodels")]


def load(name):
    """The table of this name, a complete DataFrame of numbers and categories.

    Raises:
      ValueError: for a name that is not known.
    """
    if name not in TABLES:
        raise ValueError(f"The tables are {sorted(TABLES)}. Received: {name!r}")
    frame = TABLES[name](name)
    places = np.sort(np.random.default_rng(0).permutation(len(frame))[:ROWS])
    frame = frame.iloc[places].reset_index(drop=True)
    states = frame.select_dtypes("category").columns
    return frame.assign(**{column: frame[column].cat.remove_unused_categories() for column in states})


def with_states(frame, unordered=(), ordered=()):
    """A frame of numbers in which these columns are categories."""
    made = {}
    for column in (*unordered, *ordered):
        made[column] = pandas.Categorical(frame[column].astype(int), ordered=column in ordered)
    return frame.assign(**made)


def integers(frame):
    """The frame with integers where all numbers of a column are such."""
    whole = [c for c in frame.select_dtypes("number") if (frame[c] % 1 == 0).all()]
    return frame.astype({column: "Int64" for column in whole})


def _sklearn(name):
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
    if name == "iris":
        return with_states(bunch.frame, ["target"])
    if name == "diabetes":  # scaled columns; sex has two values
        return with_states(bunch.frame.assign(sex=bunch.frame["sex"] > 0), ["sex"])
    return bunch.data.iloc[:, :10] if name == "breast_cancer" else bunch.data.iloc[:, :12]


def _sklearn_digits(name):
    """Twelve pixels of the middle, ink or not."""
    import sklearn.datasets

    pixels = sklearn.datasets.load_digits(as_frame=True).data
    chosen = pixels[[f"pixel_{row}_{column}" for row in (1, 3, 4, 6) for column in (2, 3, 5)]] > 8
    return with_states(chosen, list(chosen))


def _statsmodels(name):
    import statsmodels.api

    frame = getattr(statsmodels.api.datasets, name).load_pandas().data
    frame = frame.drop(columns=[column for column in _DROPPED.get(name, ()) if column in frame])
    return integers(with_states(frame, **_STATES.get(name, {})).iloc[:, : _FIRST.get(name)])


def _statsmodels_randhie(name):
    frame = _statsmodels(name)
    health = frame[["hlthg", "hlthf", "hlthp"]].to_numpy(int)  # ones of a column of four states
    frame["health"] = pandas.Categorical(np.where(health.any(1), 1 + health.argmax(1), 0), ordered=True)
    return frame.drop(columns=["hlthg", "hlthf", "hlthp"])


def _statsmodels_modechoice(name):
    """A row for each traveller: what was chosen, and times and costs of two ways."""
    frame = _statsmodels(name)
    wide = frame.pivot(index="individual", columns="mode", values=["ttme", "invc", "invt"])
    chosen = frame[frame["choice"] == 1].set_index("individual")
    made = {f"{what}_{mode}": wide[what, mode].astype(float) for what, mode in (*_AIR, *_CAR)}
    made |= {"hinc": chosen["hinc"].astype(float), "psize": chosen["psize"].astype(int), "mode": chosen["mode"]}
    return integers(with_states(pandas.DataFrame(made), ["mode"]))


def _packed_adult(name):
    """Twelve columns: the country, nearly always the same, and the weight of the survey are left out."""
    ones, ends = ds.datasets.load(name).train, np.cumsum(list(_ADULT.values()))
    groups = {column: ones[:, end - _ADULT[column] : end] for column, end in zip(_ADULT, ends)}
    kept = {column: group for column, group in groups.items() if column not in ("country", "weight")}
    known = np.all([group.sum(1) == 1 for group in kept.values()], 0)
    codes = pandas.DataFrame({column: group[known].argmax(1) for column, group in kept.items()})
    return with_states(codes, [c for c in codes if c not in ("age", "hours", "years")], ["age", "hours", "years"])


_AIR = [("ttme", 1), ("invc", 1), ("invt", 1)]
_CAR = [("invc", 4), ("invt", 4), ("ttme", 2)]
_DROPPED = {"anes96": ["popul"], "fair": ["affairs"], "ccard": ["INCOMESQ"], "randhie": ["fmde"]}
_STATES = {
    "anes96": {"unordered": ["vote"], "ordered": ["TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "educ"]},
    "ccard": {"unordered": ["OWNRENT"]},
    "fair": {
        "unordered": ["occupation", "occupation_husb"],
        "ordered": ["rate_marriage", "age", "yrs_married", "children", "religious", "educ"],
    },
    "randhie": {"unordered": ["idp"]},
}
_FIRST = {"star98": 12}
TABLES = {
    "iris": _sklearn,
    "wine": _sklearn,
    "breast_cancer": _sklearn,
    "diabetes": _sklearn,
    "digits": _sklearn_digits,
    "anes96": _statsmodels,
    "ccard": _statsmodels,
    "fair": _statsmodels,
    "star98": _statsmodels,
    "randhie": _statsmodels_randhie,
    "modechoice": _statsmodels_modechoice,
    "adult": _packed_adult,
}
