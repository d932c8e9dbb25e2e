"""What every transition kernel must honour: `run_kernel_test` checks it in one call."""

from __future__ import annotations

from tests.conformance import kernel_interface, kernel_steps


def run_kernel_test(cls, init_kwargs=None, heavy_ball=None, rate_kwargs=None, draws=True, climbs=False):
    """Checks a stochastic-gradient kernel against the contract of `tfp.mcmc` and of this package.

    Args:
      cls: the kernel class.
      init_kwargs: its arguments besides gradient_fn, temperature and that which holds the learning rate.
      heavy_ball: None, or a function of ℓ that gives the (learning rate, momentum) of the `keras.optimizers.SGD`
        which the kernel equals at T = 0.
      rate_kwargs: None, where learning_rate takes a number or a schedule; or a function of either that gives the
        arguments which hold it.
      draws: whether the kernel draws noise; one that does not is at T = 0 always.
      climbs: whether it climbs without a draw for longer than the checks last, and draws later.

    The one statistical check, `kernel_steps.check_noise_is_fresh`, fails by chance with probability 9·10⁻⁸.
    """
    has_schedules = rate_kwargs is None
    rate_kwargs = rate_kwargs or (lambda rate: {"learning_rate": rate})

    def make(gradient_fn=None, rate=0.05, **overrides):
        temperature = {"temperature": 1.0 if draws else 0.0}
        return cls(gradient_fn, **{**rate_kwargs(rate), **temperature, **(init_kwargs or {}), **overrides})

    kernel_interface.check_tfp_contract(make, rate_kwargs)
    kernel_interface.check_sample_chain(make)
    kernel_interface.check_state_structures(make)
    kernel_steps.check_seeds(make, draws and not climbs)
    kernel_interface.check_jit(make)
    kernel_steps.check_gradient_call(make)
    kernel_steps.check_zero_temperature(make, heavy_ball)
    kernel_steps.check_gradients_that_are_not_finite(make)
    kernel_steps.check_overflow(make)
    kernel_steps.check_empty_parts(make)
    kernel_interface.check_config(make)
    kernel_interface.check_errors(make, draws)
    if draws and not climbs:
        kernel_steps.check_noise_is_fresh(make)
    if has_schedules:
        kernel_steps.check_schedules(make)
        kernel_steps.check_whole_rates(make)
