"""Tiny releases, made on the spot."""

import hashlib
import io
import json
import zipfile

import numpy as np

import tfdsmcmc as ds
from tfdsmcmc.posterior import store
from tfdsmcmc.pretrained import contents


def zipped(files):
    """A ZIP archive of pairs (name or `zipfile.ZipInfo`, bytes)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


def files_of(folder):
    """The files below a folder, pairs for `zipped`."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]


def posterior(folder, units=6, chains=2, draws=3):
    """Writes a network and samples of its weights, as they are released; the samples, one list a draw."""
    generator = np.random.default_rng(0)
    model = ds.models.from_name("SBN/SBN 3", units, seed=0)
    shapes = [[variable.shape for variable in group] for group in (model.theta_variables, model.phi_variables)]
    drawn = []
    for step in range(1, draws + 1):
        drawn.append([
            store.Sample(*([generator.normal(size=s).astype(np.float32) for s in group] for group in shapes), step, c)
            for c in range(chains)
        ])  # fmt: skip
        store.write_draw(folder.with_name("samples"), drawn[-1])
    ds.posterior.load(folder.with_name("samples")).chain(0).apply_mean(model)
    contents.write(folder, model, folder.with_name("samples"))
    return drawn


def machine(folder, units=6):
    """Writes a Boltzmann machine, as it is released, and returns it."""
    kernel = np.random.default_rng(1).normal(size=(units, 3))
    rbm = ds.boltzmann.rbm_from_arrays(kernel, np.arange(units) / units, [0.5, -0.5, 1.0])
    contents.write(folder, rbm)
    return rbm


def put(name, archive, unpacked, folder, catalogue):
    """Puts an archive into a folder of releases, and into a catalogue, a folder; what is known of it."""
    digest = hashlib.sha256(archive).hexdigest()
    about = {"file": f"{name}-{digest[:8]}.zip", "sha256": digest, "size": len(archive), "unpacked": unpacked}
    for path in (folder, catalogue / "cards"):
        path.mkdir(parents=True, exist_ok=True)
    (folder / about["file"]).write_bytes(archive)
    listing = catalogue / "released.json"
    known = json.loads(listing.read_text()) if listing.exists() else {}
    listing.write_text(json.dumps({**known, name: about}))
    (catalogue / "cards" / f"{name}.md").write_text(f"# {name}\n")
    return about
