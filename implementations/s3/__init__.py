"""A store on S3: configuration, transports, and the stream that reads it."""
