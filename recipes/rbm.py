"""A Boltzmann machine, its log Z from below and from above, and its test log-likelihood.

    python recipes/rbm.py
    python recipes/rbm.py --dataset binarized_mnist --hidden-units 500 --epochs 100

It learns by contrastive divergence. Where a layer has at most 25 units log Z is known exactly, and stands beside its
estimates. It leaves in runs/rbm the machine, pictures of its samples and of its features.
"""

import argparse

import keras

import tfdsmcmc as ds


def learn(rows, hidden_units, epochs):
    keras.utils.set_random_seed(0)
    rbm = ds.boltzmann.RBM(rows.shape[1], hidden_units=hidden_units, seed=0)
    rbm.compile(
        kernel=ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.05, momentum=0.9)),
        estimator=ds.boltzmann.ContrastiveDivergence(
            steps=ds.boltzmann.GrowingSteps(every=max(1, epochs // 5), most=5)
        ),
        steps_per_execution=10,
    )
    rbm.fit(rows, batch_size=100, epochs=epochs, callbacks=[ds.diagnostics.Progress()], verbose=0)
    return rbm


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--hidden-units", type=int, default=25)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="two epochs and short annealing, to see that it runs")
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error(f"--epochs must be 1 or more. Received: {args.epochs}")
    epochs, runs, steps = (2, 20, 50) if args.quick else (args.epochs, 100, 10_000)
    folder = f"runs/rbm{'_quick' * args.quick}"

    data = ds.datasets.load(args.dataset)
    rows = data.train_and_valid
    rbm = learn(rows, args.hidden_units, epochs)
    both = ds.boltzmann.sandwich(rbm, runs, steps, base=rows)  # the path begins at the rates of these rows
    low, high = both.lower.interval
    print(f"log Z from below {both.lower.value:.3f} ({low:.3f} to {high:.3f}), from above {both.upper.value:.3f}")
    if min(rbm.units, rbm.hidden_units) <= 25:
        print(f"log Z by enumeration {ds.boltzmann.exact_log_partition(rbm):.3f}")
    mean = rbm.log_likelihood(data.test, both.lower).mean()
    print(
        f"test log-likelihood {mean:.2f} ± {mean.standard_error:.2f} of log Z ± {mean.row_standard_error:.2f} over rows"
    )

    rbm.save(f"{folder}/rbm.keras")
    if len(data.shape) != 2:  # rows that are no pictures
        return
    drawn = rbm.sample(100, seed=0, steps=1000, probabilities=True)
    for name, figure in (
        ("samples", ds.plots.samples(drawn, data.shape, title="p(v given h)")),
        ("features", ds.plots.features(rbm.kernel.numpy().T, data.shape, limit=100)),
    ):
        print("wrote", ds.plots.save(figure, f"{folder}/{name}.png"))


if __name__ == "__main__":
    main()
