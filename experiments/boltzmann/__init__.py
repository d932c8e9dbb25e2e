"""The papers' tables of Boltzmann machines and deep belief networks."""
