"""Models that have learnt already, from files of a release: `load("digits")`.

    posterior = ds.pretrained.load("digits")          a Posterior; posterior.model is of its architecture
    rbm = ds.pretrained.load("rbm")                   a Boltzmann machine, an RBM

What is promised:

- `names()` are the releases that this version of the package knows. `released.json` has the file of each, its SHA-256,
  its bytes and the bytes that it unpacks to; `card(name)` says what the model is, and needs no file.
- A release is one ZIP archive. It is sought in a folder or below an address, `source`, else in what the environment
  says in TFDSMCMC_PRETRAINED. What comes from there is bytes, no more of them than the release has, and they are
  nothing but bytes until their SHA-256 is the one that the package knows.
- An archive then has regular files alone, of relative names below its own folder, no two alike, and as many bytes in
  all as the package says. What it has are weights in HDF5 and JSON; nothing is unpickled.
- It is unpacked once into `cache`, to a folder named by the digest, which is there whole or not at all; of processes
  that load at once one unpacks, the others wait. Later loads need no source. They look whether all files are there,
  with the contents that they had.
- Whatever is wrong is a ValueError that says what to do and ends with what was received.
"""

from tfdsmcmc.pretrained.catalogue import card, names
from tfdsmcmc.pretrained.loading import load
from tfdsmcmc.pretrained.pretrained_posterior import PretrainedPosterior

__all__ = ["PretrainedPosterior", "card", "load", "names"]
