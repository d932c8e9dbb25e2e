"""The curve of a row of a table: looks at its weights along the way, and the best of them kept."""

import math

import keras

from experiments.common import files, kept


class Looks(keras.callbacks.Callback):
    """Writes down what the weights are worth along the way, and may keep those that are worth most.

    Args:
      path: file of the curve, .json: a list of points, dicts of `updates`, `rows`, `seconds`, and what is looked at.
      budget: `Budget` that tells when to look.
      look: function of the model that returns a dict of plain numbers, `valid` among them.
      batch_size: rows of an update.
      seconds: spent before this budget.
      updates: made by the model whose weights this one began with.
      best: file of the weights with the highest `valid`, .npz, or None to keep none.
    """

    def __init__(self, path, budget, look, batch_size, seconds=0.0, updates=0, best=None):
        super().__init__()
        self.path, self.budget, self.look = path, budget, look
        self.batch_size, self.before, self.updates, self.best = batch_size, seconds, updates, best
        self.points = files.read_json(path) if path.exists() else []
        self.value = -math.inf
        if best is not None and best.exists():
            self.value = float(files.read_arrays(best)["value"])

    def on_epoch_end(self, epoch, logs=None):
        if not self.budget.validate:
            return
        updates = self.updates + int(self.model.run.steps)
        seconds = round(self.before + self.budget.seconds, 2)
        point = {"updates": updates, "rows": updates * self.batch_size, "seconds": seconds, **self.look(self.model)}
        # a round that is made again after an interruption is looked at again
        self.points = [known for known in self.points if known["updates"] < updates] + [point]
        if self.best is not None and (point["valid"] or -math.inf) > self.value:
            self.value = point["valid"]
            kept.write_weights(self.model, self.best, value=self.value)
        files.write_json(self.path, self.points)
