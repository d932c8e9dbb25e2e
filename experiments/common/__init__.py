"""What several rooms of experiments share."""
