"""What Gibbs sampling and variational Bayes share."""
