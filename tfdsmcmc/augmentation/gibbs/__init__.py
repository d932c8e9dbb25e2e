"""Gibbs sampling by Pólya-Gamma augmentation."""
