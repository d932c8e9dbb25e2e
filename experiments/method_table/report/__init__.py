"""What pages say of the rows of a table: which row stands for a method, its estimates, published figures beside it."""
