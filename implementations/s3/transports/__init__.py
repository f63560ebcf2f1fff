"""Requests to S3 through libraries: obstore and boto3."""
