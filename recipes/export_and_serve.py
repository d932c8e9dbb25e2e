"""A learnt model exported, served on this machine, and asked by the client.

    make demo
    python recipes/export_and_serve.py --posterior runs/digits/posterior
    python recipes/export_and_serve.py --stay

The SavedModel needs TensorFlow alone: TensorFlow Serving runs it, and `tf.saved_model.load` opens it. With --stay the
server goes on, with a page at which parts of a picture are erased and completed.
"""

import argparse
import pathlib
import threading

import keras
import numpy as np
import tensorflow as tf

import tfdsmcmc as ds


def ask(url, name, x):
    """What a client on any machine asks; the same seed gives the same answer."""
    with ds.serving.Client(url, model=name) as client:
        mean = client.log_likelihood(x, num_samples=500, seed=1).mean()
        print(f"log-likelihood of {len(x)} test rows by the server: {mean:.2f} ± {mean.standard_error:.2f}")
        print(f"samples: {client.sample(4, seed=1).shape}")
        seen = np.where(np.arange(x.shape[1]) < x.shape[1] // 2, x, np.nan)
        print(f"completions: {client.impute(seen, num_imputations=3, seed=1).shape}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="runs/digits/model.keras", help="a .keras file (default that of the demo)")
    parser.add_argument("--posterior", help="folder of posterior samples, whose average is exported")
    parser.add_argument("--dataset", default="digits", help="that the model has learnt (default digits)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("saved_models/exported"))
    parser.add_argument("--stay", action="store_true", help="go on serving")
    parser.add_argument("--quick", action="store_true", help="only the signatures that are asked")
    args = parser.parse_args()

    model, data = keras.saving.load_model(args.model), ds.datasets.load(args.dataset)
    posterior = ds.posterior.load(args.posterior) if args.posterior else None
    only = ["log_likelihood", "sample", "impute"] if args.quick else None
    path = ds.serving.export(
        model, args.output, posterior=posterior, data_shape=data.shape, only=only, overwrite=True, verbose=False
    )
    served = tf.saved_model.load(path)  # without this package
    print(f"{path}: {', '.join(sorted(served.signatures))}")

    server = ds.serving.make_server(args.output, port=8501 if args.stay else 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    ask(server.url, args.output.name, data.test[:5].astype(np.float32))
    if args.stay:
        print(f"serving at {server.url}, until you interrupt")
        thread.join()
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
