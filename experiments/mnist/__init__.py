"""The papers' long runs on fixed binarized MNIST."""
