"""Mean-field and online variational Bayes by Pólya-Gamma augmentation."""
