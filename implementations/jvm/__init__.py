"""Java virtual machine in this process: discovery of Java and its libraries, and startup."""
