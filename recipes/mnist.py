"""An autoregressive network on fixed binarized MNIST, by a sampler of the weights with its defaults.

    python recipes/mnist.py --epochs 100

An epoch is 500 updates. A run that is interrupted while it learns goes on where it was, if it is started again with
the same arguments. It prints the test log-likelihood of the average that validation rows chose, by importance samples
and by annealing, and leaves in runs/mnist the model, its posterior samples, a learning curve and pictures of samples.
"""

import argparse

import keras
import numpy as np

import tfdsmcmc as ds


def learn(model, data, folder, epochs, samples):
    model.compile(**ds.methods.dsgnht_nais(), steps_per_execution=100)
    return model.fit(
        data.train,
        batch_size=100,
        epochs=epochs,
        validation_data=data.valid[::10],
        callbacks=[
            ds.posterior.Collector(f"{folder}/posterior", samples, overwrite=True),
            keras.callbacks.BackupAndRestore(f"{folder}/backup"),
            ds.diagnostics.Progress(),
        ],
        verbose=0,
    )


def report(model, posterior, data, rows, draws, steps):
    """Prints the estimates on random test rows; a tenth of them is annealed."""
    x = np.random.default_rng(0).permutation(data.test)[:rows]  # the test split is sorted by digit
    importance = posterior.log_likelihood(model, x, draws).mean()
    annealed = posterior.annealed_log_likelihood(
        model, x[: rows // 10], num_steps=steps, num_runs=5, path="recognition"
    ).mean()
    print(f"\nTest log-likelihood of the average over {posterior.average}, nats a row (± error over rows):")
    for name, found, count in (("importance sampling", importance, rows), ("annealing", annealed, rows // 10)):
        print(f"  {name:<20}{found:8.2f} ± {found.row_standard_error:.2f}, {count:,} rows")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--architecture", default="DARN/DARN 200", help="as in models.from_name")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="two epochs and few draws, to see that it runs")
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error(f"--epochs must be 1 or more. Received: {args.epochs}")
    epochs, samples, rows, draws, steps = (2, 1, 20, 10, 5) if args.quick else (args.epochs, 20, 1000, 1000, 1000)
    folder = f"runs/mnist{'_quick' * args.quick}"

    data = ds.datasets.load("binarized_mnist")
    rate = np.clip(data.train.mean(0), 1e-3, 1 - 1e-3)
    keras.utils.set_random_seed(0)
    model = ds.models.from_name(args.architecture, units=784, data_logits=np.log(rate / (1 - rate)), seed=0)
    history = learn(model, data, folder, epochs, samples)
    posterior = ds.posterior.load(f"{folder}/posterior")
    report(model, posterior, data, rows, draws, steps)
    posterior.chain(0).apply_mean(model)
    model.save(f"{folder}/model.keras")
    drawn = model.sample(100, seed=0, probabilities=True)
    for name, figure in (
        ("samples", ds.plots.samples(drawn, data.shape, title="samples (probabilities)")),
        ("learning_curve", ds.plots.learning_curves(history, title=args.architecture)),
    ):
        print("wrote", ds.plots.save(figure, f"{folder}/{name}.png"))


if __name__ == "__main__":
    main()
