"""The Java virtual machine: where Java and its libraries are, and one that runs in this process."""
