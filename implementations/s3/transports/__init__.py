"""S3 transports: obstore and boto3."""
