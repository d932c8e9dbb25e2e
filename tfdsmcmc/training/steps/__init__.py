"""What one minibatch does to a state: the contract, and the steps that there are."""
