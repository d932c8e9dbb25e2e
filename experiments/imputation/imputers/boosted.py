"""miceforest: gradient boosting in turn, with predictive mean matching."""

import numpy as np
import pandas

from experiments.imputation.coded import coded
from experiments.imputation.completion import of_draws

ROUNDS = 3


def boosted(frame, m, seed):
    """`ImputationKernel` of m data sets, three rounds of `mice`, with defaults but for states.

    Ordered ones are numbers. Others are drawn from their probabilities, "fast", as log-odds, else matched, are infinite
    for rare ones. Splits by them need five rows: LightGBM's hundred leave no tree where rows are few.

    Raises:
      ImportError: without miceforest.
    """
    import miceforest

    table = coded(frame)
    classes = [states > 0 and not dtype.ordered for states, dtype in zip(table.states, frame.dtypes)]
    # plain types, and names without signs that LightGBM refuses
    plain = pandas.DataFrame(
        {
            f"c{j}": pandas.Categorical.from_codes(_codes(column), range(states)) if each else column
            for j, (column, states, each) in enumerate(zip(table.values.T, table.states, classes))
        }
    )
    matching = {name: "fast" if each else "normal" for name, each in zip(plain, classes)}
    kernel = miceforest.ImputationKernel(
        plain, num_datasets=m, mean_match_strategy=matching, save_all_iterations_data=False, random_state=seed
    )
    kernel.mice(ROUNDS, num_threads=1, verbose=False, min_data_per_group=5)
    completed = [kernel.complete_data(i) for i in range(m)]
    draws = [coded(each).values for each in completed]
    return of_draws(np.stack(draws), table)


def _codes(column):
    return np.where(np.isnan(column), -1, column).astype(int)
