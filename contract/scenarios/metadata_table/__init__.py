"""Checks of metadata tables: scenarios on a filesystem that counts, and may die at any write."""
