"""S3 filesystem: configuration, transports, and input stream."""
