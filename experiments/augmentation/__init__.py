"""The papers' tables of sigmoid belief networks by Pólya-Gamma augmentation."""
