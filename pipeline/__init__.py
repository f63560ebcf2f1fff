"""What is built on a stream."""
