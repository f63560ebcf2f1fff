"""The binding to real Hadoop streams: a Java virtual machine in this process, through JPype."""
