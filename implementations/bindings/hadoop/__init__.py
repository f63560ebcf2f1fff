"""Binding to Hadoop streams in a JVM of this process, through JPype."""
