"""Packaging of tfdsmcmc; tool settings live in pyproject.toml."""

import pathlib
import re

from setuptools import find_packages, setup

ROOT = pathlib.Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "tfdsmcmc" / "__init__.py").read_text()).group(1)

SERVING = ["werkzeug>=3", "urllib3>=2", "protobuf>=5.26", "grpcio", "tensorflow-serving-api>=2.18"]
DIAGNOSTICS = ["tensorboard"]
CLUSTER = ["distributed>=2024.2"]
TABLES = ["narwhals>=1.30", "pandas>=2"]
COMPARE = ["statsmodels>=0.14", "miceforest==6.0.5", "lightgbm<4.7"]  # a later one has not what miceforest calls
TEST = ["pytest>=8", "pytest-xdist>=3.6", "ruff>=0.6", "basedpyright>=1.40", *SERVING, *DIAGNOSTICS, *CLUSTER, *TABLES]

setup(
    name="tfdsmcmc",
    version=VERSION,
    description="Bayesian learning of deep generative models by doubly stochastic MCMC, in TensorFlow and Keras",
    long_description=(ROOT / "README.md").read_text(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10,<3.14",
    packages=find_packages(include=["tfdsmcmc", "tfdsmcmc.*"]),
    package_data={
        "tfdsmcmc": ["py.typed"],
        "tfdsmcmc.serving.saved_model": ["configuration/*.config"],
        "tfdsmcmc.serving.server": ["page/index.html"],
    },
    install_requires=[
        "tensorflow>=2.18",
        "tf-keras>=2.18",  # TensorFlow Probability imports it; its release follows TensorFlow's
        "tensorflow-probability>=0.25",
        "keras>=3.8",
        "numpy",
        "h5py",
        "scikit-learn",
        "joblib>=1.4",
        "scipy",
        "matplotlib",
        "arviz>=0.18,<1",
    ],
    extras_require={
        "serving": SERVING,
        "diagnostics": DIAGNOSTICS,
        "cluster": CLUSTER,
        "tables": TABLES,
        "compare": COMPARE,  # of experiments.imputation; in no other extra
        "test": TEST,
        "all": SERVING + DIAGNOSTICS + CLUSTER + TABLES + TEST,
    },
    classifiers=[
        "License :: OSI Approved :: Apache Software License",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
