"""What pages say of a row on record and of published figures."""

from experiments.common.published import of_model

_PAPERS_NAMES = {  # of our methods, in the order of preference
    "dsgnht_nais": ("DSGNHT-NAIS", "DSGHMC-AIS"),
    "dsghmc_nais": ("DSGHMC-AIS",),
    "dsgnht_gibbs": ("DSGNHT-Gibbs", "DSGHMC-Gibbs"),
    "dsghmc_gibbs": ("DSGHMC-Gibbs",),
    "rws": ("RWS",),
    "rws_sleep": ("RWS, sleep updates alone",),
    "rws_wake": ("RWS, wake updates alone",),
    "rws_untaught": ("RWS, φ not learnt",),
    "rws_published": ("RWS",),
    "nvil": ("NVIL",),
    "wake_sleep": ("wake-sleep",),
}


def architecture_of(row):
    """That of a NADE with the hidden units of its layers, which its name does not have."""
    name, hidden = row["architecture"], row["settings"].get("hidden_units")
    return f"{name}, {hidden[0]} hidden units" if "NADE" in name and hidden else name


def kind_of(row):
    """What distinguishes it from others of the same method: the papers' settings, or their prior alone, and latents
    that were learnt first."""
    kinds = {
        "as_published": ", as published",
        "published_prior": ", papers' prior",
        "latents_first": ", latents first",
    }
    return "".join(text for name, text in kinds.items() if row["settings"].get(name))


def papers_of(row):
    """The published figures (of the same method, the best of any other) on the same architecture, None for none."""
    known = of_model(row["dataset"], row["architecture"], row["settings"].get("hidden_units", [None])[0])
    names = _PAPERS_NAMES.get(row["method"], ())
    own = next((f for name in names for f in known if f.method == name), None)
    other = next((f for f in known if f.method not in names), None)
    return own, other


def minutes_of(row):
    """The minutes that a row has learnt, as text; "" for one that has not."""
    return f"{row['wall_time_seconds'] / 60:.1f}" if "wall_time_seconds" in row else ""
