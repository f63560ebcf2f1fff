"""Checks of block readers: scenarios, and a model that judges every record that is delivered."""
